// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { cell } from "../assets/lib/csv.js";
import { asCSV, asJSON } from "../assets/lib/watch-files.js";

/** @typedef {import("../assets/lib/watch-record.js").Entry} Entry */

for (const [content, want] of /** @type {[string | number | null, string][]} */ ([
  ["plain", "plain"],
  [null, ""],
  [-3, "-3"],
  [1.25, "1.25"],
  ["", ""],
  ["=1+1", "'=1+1"],
  ["+1", "'+1"],
  ["-1", "'-1"],
  ["@SUM(1)", "'@SUM(1)"],
  ["\t=1", "'\t=1"],
  [" =1", "' =1"],
  ["＝1", "'＝1"],
  ["\r=1", '"\'\r=1"'],
  ["a,b", '"a,b"'],
  ['say "no"', '"say ""no"""'],
  ["two\nlines", '"two\nlines"'],
  ['=HYPERLINK("x","y")', `"'=HYPERLINK(""x"",""y"")"`],
  ["a=b", "a=b"],
])) {
  test(`a cell of ${JSON.stringify(content)}`, () => assert.equal(cell(content), want));
}

const base = {
  at: Date.UTC(2026, 10, 22, 14, 3, 10),
  until: Date.UTC(2026, 10, 22, 14, 3, 12, 500),
  why: "",
  turned: false,
};

/** @type {Entry[]} */
const rounds = [
  {
    ...base,
    n: 1,
    kind: "answer",
    got: {
      state: "loss",
      tone: "warn",
      works: true,
      code: "PACKET_LOSS",
      address: "1.2.3.4",
      times: [3, 1, 2.00049],
      sent: 4,
      lost: 1,
      note: "",
    },
  },
  { ...base, n: 2, kind: "failed", got: null, why: "=cmd, no" },
  { ...base, n: 0, kind: "pause", got: null, why: "away" },
];

test("a strip is a row a round", () =>
  assert.equal(
    asCSV(rounds, false),
    [
      "round,began,ended,outcome,state,code,address,median_ms,p95_ms,probes,unanswered,note",
      "1,2026-11-22T14:03:10.000Z,2026-11-22T14:03:12.500Z,answer,loss,PACKET_LOSS,1.2.3.4,2,3,4,1,",
      '2,2026-11-22T14:03:10.000Z,2026-11-22T14:03:12.500Z,failed,,,,,,,,"\'=cmd, no"',
      ",2026-11-22T14:03:10.000Z,2026-11-22T14:03:12.500Z,pause,,,,,,,,away",
      "",
    ].join("\r\n"),
  ));

/** @type {Entry[]} */
const path = [
  {
    ...base,
    n: 1,
    kind: "answer",
    got: {
      state: "reached",
      tone: "good",
      works: true,
      address: "9.9.9.9",
      times: [5],
      sent: 1,
      lost: 0,
      hops: [
        { who: ["1.1.1.1", "=2"], hidden: false, times: [1, 2, 3], sent: 3 },
        { who: [], hidden: true, times: [4], sent: 3 },
        { who: [], hidden: false, times: [], sent: 3 },
      ],
    },
  },
  rounds[2],
];

test("a path is a row a hop", () =>
  assert.equal(
    asCSV(path, true),
    [
      "round,began,ended,outcome,state,code,hop,address,median_ms,p95_ms,probes,unanswered,note",
      "1,2026-11-22T14:03:10.000Z,2026-11-22T14:03:12.500Z,answer,reached,,1,1.1.1.1 =2,2,3,3,0,",
      "1,2026-11-22T14:03:10.000Z,2026-11-22T14:03:12.500Z,answer,reached,,2,private address (not shown),4,4,3,2,",
      "1,2026-11-22T14:03:10.000Z,2026-11-22T14:03:12.500Z,answer,reached,,3,,,,3,3,",
      ",2026-11-22T14:03:10.000Z,2026-11-22T14:03:12.500Z,pause,,,,,,,,,away",
      "",
    ].join("\r\n"),
  ));

test("JSON has the watch, its rounds and its changes", () => {
  const asked = { slug: "traceroute", input: "example.com", options: { family: "ipv4" } };
  const data = JSON.parse(
    asJSON({ asked, apart: 30, forgotten: 2 }, [...path, rounds[1]], [{ at: base.at, n: 1, text: "hop 1 changed" }]),
  );
  assert.deepEqual(
    [data.tool, data.input, data.options, data.secondsBetweenRounds, data.noLongerKept],
    ["traceroute", "example.com", { family: "ipv4" }, 30, 2],
  );
  assert.deepEqual(
    data.rounds.map((/** @type {any} */ r) => [r.round, r.outcome, r.note, r.hops?.length]),
    [
      [1, "answer", undefined, 3],
      [undefined, "pause", "away", undefined],
      [2, "failed", "=cmd, no", undefined],
    ],
  );
  assert.deepEqual(data.rounds[0].hops[1], {
    hop: 2,
    addresses: [],
    hidden: true,
    timesMs: [4],
    probes: 3,
    unanswered: 2,
  });
  assert.deepEqual(data.changes, [{ at: "2026-11-22T14:03:10.000Z", round: 1, text: "hop 1 changed" }]);
});

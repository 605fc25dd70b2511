// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import ofEcho from "../assets/lib/watch-echo.js";
import { boundsOf, cellAt, heardHops, planOf, shapeOf, tickWords } from "../assets/lib/watch-draw.js";
import { cellWords, clock, hopRows, roundRows, span, stageWords } from "../assets/lib/watch-words.js";
import { rowsOf, stateNow, stateOf, tally, verdictOf } from "../assets/lib/watch-words.js";
import ofPath from "../assets/tools/traceroute/watch.js";
import ofSite from "../assets/tools/uptime/watch.js";

/** @typedef {import("../assets/lib/watch-record.js").Entry} Entry */
/** @typedef {import("../assets/lib/watch-record.js").Digest} Digest */

const measure = (/** @type {string} */ text) => text.length * 7;
const at = Date.UTC(2026, 10, 22, 14, 3, 10);
const base = { at, until: at + 60_000, why: "", turned: false };

/** @param {number} n @param {Partial<Digest>} got @returns {Entry} */
const round = (n, got) => ({
  ...base,
  n,
  kind: "answer",
  got: {
    state: "no loss",
    tone: "good",
    works: true,
    address: "1.2.3.4",
    times: [10, 20, 30],
    sent: 4,
    lost: 1,
    note: "",
    ...got,
  },
});
/** @type {Entry} */
const failed = { ...base, n: 2, kind: "failed", got: null, why: "The worker cannot be reached." };
/** @type {Entry} */
const pause = { ...base, n: 0, kind: "pause", got: null, why: "The page was loaded again." };
/** @type {Entry} */
const limited = { ...base, n: 3, kind: "limited", got: null, why: "Too many requests." };
/** @param {number[][]} times of each hop @returns {Entry} */
const path = (...times) =>
  round(1, {
    hops: times.map((list, i) => ({ who: list.length ? [`1.1.1.${i}`] : [], hidden: false, times: list, sent: 3 })),
  });

test("the time of a day", () => assert.equal(clock(at), "14:03:10"));

/** @type {[string, any, string][]} */
const stages = [
  ["running", { state: "running", apart: 10_000 }, "Checked every 10 seconds. Round 4 is running."],
  [
    "waiting",
    { state: "waiting", until: 8000.5, apart: 30_000, limited: false },
    "Checked every 30 seconds, next in 7 seconds.",
  ],
  [
    "at its end",
    { state: "waiting", until: 10, apart: 30_000, limited: false },
    "Checked every 30 seconds, next in 1 second.",
  ],
  [
    "limited",
    { state: "waiting", until: 41_001, apart: 20_000, limited: true },
    "The service is limiting requests. Next round in 40 seconds, then every 20 seconds.",
  ],
  [
    "hidden",
    { state: "waiting", until: 41_001, apart: 60_000, spaced: 61_000, limited: false, hidden: true },
    "Checked every minute while this tab is in the background.",
  ],
  [
    "hidden and slowed by the browser",
    { state: "waiting", until: 41_001, apart: 60_000, spaced: 95_000, limited: false, hidden: true },
    "Checked every minute while this tab is in the background; the latest came after 1 minute 35 seconds.",
  ],
  [
    "limited while hidden",
    { state: "waiting", until: 41_001, apart: 80_000, spaced: 0, limited: true, hidden: true },
    "The service is limiting requests. Next round in 40 seconds, then every 1 minute 20 seconds.",
  ],
  ["stopped", { state: "ended", why: "stopped" }, "Stopped after 3 rounds."],
  [
    "at the end of its time",
    { state: "ended", why: "time" },
    "After 3 rounds the watch ended by itself: nobody has looked for long enough.",
  ],
  ["refused", { state: "ended", why: "refused", reply: {} }, "The watch ended: the service refuses this check."],
];
for (const [name, stage, want] of stages)
  test(`a watch that is ${name}`, () => assert.equal(stageWords(stage, 3, 1001), want));

test("a tally counts what was answered", () => {
  assert.deepEqual(tally([round(1, {}), failed, limited, pause, round(3, { times: [40], sent: 1, lost: 0 })]), {
    answered: 2,
    troubled: 0,
    missed: 1,
    limited: 1,
    median: 25,
    p95: 40,
    sent: 5,
    lost: 1,
  });
});

/** @param {string} state @param {number} times how often */
const site = (state, times = 1) =>
  Array.from({ length: times }, (_, i) =>
    round(i + 1, {
      state,
      sent: 0,
      lost: 0,
      times: state === "down" ? [] : [87],
      tone: state === "up" ? "good" : state === "down" ? "bad" : "warn",
      works: state !== "down",
    }),
  );
const echo = (/** @type {Partial<Digest>} */ got = {}) => round(1, { times: [62.7], sent: 10, lost: 0, ...got });
const silent = echo({ state: "no answer", tone: "bad", times: [], lost: 10 });
const trace = (/** @type {Partial<Digest>} */ got = {}) =>
  round(1, { state: "reached", times: [62.3], sent: 3, lost: 0, hops: [], ...got });
const astray = trace({ state: "not reached", tone: "warn", times: [], sent: 0 });

/** @type {[string, string, string, Entry[], number, string][]} name, target, tone, rounds, changes, text */
const verdicts = [
  ["no site yet", "https://example.com/", "info", [], 0, "Watching https://example.com/."],
  ["a site of failures alone", "https://example.com/", "info", [failed], 0, "No result for https://example.com/ yet."],
  [
    "a site that is up",
    "https://example.com/a?b",
    "good",
    site("up"),
    0,
    "example.com was up in 1 round and answered after 87.0 ms (median).",
  ],
  [
    "a site that stays up",
    "example.com",
    "good",
    site("up", 3),
    0,
    "example.com was up in all 3 rounds and answered after 87.0 ms (median).",
  ],
  [
    "a site up but for gaps",
    "example.com",
    "good",
    [...site("up", 3), failed],
    0,
    "example.com was up in 3 of 4 rounds and answered after 87.0 ms (median). No result in 1 round.",
  ],
  [
    "a site that was down",
    "https://example.com/",
    "warn",
    [...site("up", 12), ...site("down", 3), ...site("up", 5)],
    2,
    "example.com is up; it was down in 3 of 20 rounds.",
  ],
  [
    "a site with all kinds of trouble",
    "https://example.com/",
    "warn",
    [...site("up", 3), failed, failed, ...site("degraded"), ...site("down", 3), ...site("up", 11)],
    4,
    "example.com is up; it was down in 3 of 20 rounds and degraded in 1. No result in 2 rounds.",
  ],
  [
    "a site that went down",
    "http://example.com:8080/",
    "bad",
    [...site("up", 2), ...site("down")],
    1,
    "example.com:8080 is down; it was down in 1 of 3 rounds.",
  ],
  [
    "a site that was up when last seen",
    "example.com",
    "warn",
    [...site("down"), ...site("up"), failed, pause],
    1,
    "example.com was up at the last result; it was down in 1 of 3 rounds. No result in 1 round.",
  ],
  [
    "a site whose last round was refused",
    "example.com",
    "good",
    [...site("up", 2), limited, limited],
    0,
    "example.com was up in all 2 rounds and answered after 87.0 ms (median). 2 rounds were not measured: the service " +
      "limits requests.",
  ],
  ["a site that never was up", "example.com", "bad", site("down", 2), 0, "example.com was down in all 2 rounds."],
  [
    "a degraded site",
    "example.com",
    "warn",
    site("degraded", 2),
    0,
    "example.com was degraded in all 2 rounds and answered after 87.0 ms (median).",
  ],
  [
    "a host that answers",
    "11.90.0.9",
    "good",
    [echo(), echo(), echo()],
    0,
    "11.90.0.9 answered in all 3 rounds, after 62.7 ms (median).",
  ],
  ["a host of one round", "fe80::1", "good", [echo()], 0, "fe80::1 answered in 1 round, after 62.7 ms (median)."],
  [
    "a host with gaps",
    "11.90.0.9",
    "good",
    [echo(), failed, echo(), failed],
    0,
    "11.90.0.9 answered in 2 of 4 rounds, after 62.7 ms (median). No result in 2 rounds.",
  ],
  [
    "a host with loss",
    "11.93.0.9",
    "bad",
    [echo({ tone: "bad", lost: 1 }), echo({ tone: "bad", lost: 1 }), echo({ tone: "bad", lost: 1 })],
    0,
    "11.93.0.9 left 10 % of probes unanswered in 3 rounds; it answers after 62.7 ms (median).",
  ],
  [
    "a host with loss before",
    "11.93.0.9",
    "warn",
    [echo({ tone: "bad", lost: 1 }), echo()],
    1,
    "11.93.0.9 left 5 % of probes unanswered in 2 rounds; it answers after 62.7 ms (median).",
  ],
  [
    "a host that limits",
    "11.93.0.9",
    "good",
    [echo({ lost: 4, note: "The host probably limits its answers." })],
    0,
    "11.93.0.9 left 40 % of probes unanswered in 1 round; it answers after 62.7 ms (median). The host probably " +
      "limits its answers.",
  ],
  [
    "a host that stopped",
    "11.90.0.9",
    "bad",
    [echo(), echo(), silent],
    1,
    "11.90.0.9 does not answer now; it did in 2 of 3 rounds, after 62.7 ms (median).",
  ],
  [
    "a host that came back",
    "11.90.0.9",
    "warn",
    [silent, echo()],
    1,
    "11.90.0.9 answers again, after 62.7 ms (median); it did not in 1 of 2 rounds.",
  ],
  ["a silent host", "11.90.0.9", "bad", [silent], 0, "11.90.0.9 did not answer in 1 round."],
  [
    "a host silent for long",
    "11.90.0.9",
    "bad",
    [silent, silent, failed],
    0,
    "11.90.0.9 answered in none of 3 rounds. No result in 1 round.",
  ],
  [
    "a path",
    "11.91.0.77",
    "good",
    [trace(), trace(), trace()],
    2,
    "11.91.0.77 is reached after 62.3 ms (median); 2 changes in 3 rounds.",
  ],
  [
    "a path of one round",
    "11.91.0.77",
    "good",
    [trace()],
    0,
    "11.91.0.77 is reached after 62.3 ms (median); nothing changed in 1 round.",
  ],
  [
    "a path with loss",
    "11.91.0.77",
    "good",
    [trace({ lost: 1 }), trace()],
    1,
    "11.91.0.77 is reached after 62.3 ms (median); 16.7 % of probes unanswered, 1 change in 2 rounds.",
  ],
  [
    "a path that ends early now",
    "11.91.0.77",
    "warn",
    [trace(), trace(), astray],
    1,
    "11.91.0.77 is not reached now; it was in 2 of 3 rounds, after 62.3 ms (median).",
  ],
  [
    "a path that ended early",
    "11.91.0.77",
    "warn",
    [astray, trace()],
    1,
    "11.91.0.77 is reached again after 62.3 ms (median); it was not in 1 of 2 rounds.",
  ],
  [
    "a path that never reached",
    "11.91.0.77",
    "warn",
    [astray, astray],
    0,
    "11.91.0.77 was reached in none of 2 rounds.",
  ],
  ["a path that did not reach", "11.91.0.77", "warn", [astray], 0, "11.91.0.77 was not reached in 1 round."],
];
for (const [name, target, tone, entries, changes, text] of verdicts) {
  const watcher = name.includes("site") ? ofSite : name.includes("path") ? ofPath : ofEcho;
  test(`the verdict on ${name}`, () => assert.deepEqual(verdictOf(target, watcher, entries, changes), { tone, text }));
}

test("times of a scale have one unit", () => {
  assert.deepEqual(
    [0, 0.5, 2.5, 250].map((t) => tickWords(t, 250)),
    ["0 ms", "0.5 ms", "2.5 ms", "250 ms"],
  );
  assert.deepEqual(
    [0, 2500, 5000].map((t) => tickWords(t, 5000)),
    ["0 ms", "2,500 ms", "5,000 ms"],
  );
  assert.deepEqual(
    [0, 5000, 15_000].map((t) => tickWords(t, 15_000)),
    ["0 s", "5 s", "15 s"],
  );
});

test("a strip has room for its longest label", () =>
  assert.ok(planOf([echo()], { path: false, probes: true }, 1190, measure).left - 8 >= measure("7,500 ms")));

/** @type {[string, Entry, number, boolean, string][]} */
const cells = [
  [
    "a round",
    round(1, {}),
    0,
    true,
    "14:03:10, round 1: no loss, median 20.0 ms, 95th percentile 30.0 ms, 3 of 4 probes answered.",
  ],
  [
    "a site",
    round(1, { state: "degraded", times: [120], sent: 0, note: "Not over IPv6." }),
    0,
    true,
    "14:03:10, round 1: degraded, 120 ms. Not over IPv6.",
  ],
  ["a failure", failed, 3, true, "14:03:10, round 2: no result. The worker cannot be reached."],
  ["a refusal for the rate", limited, 0, true, "14:03:10, round 3: not measured. Too many requests."],
  ["a pause", pause, 3, true, "14:03:10 to 14:04:10: not measured. The page was loaded again."],
  [
    "a hop",
    path([1], [2, 4, 6]),
    1,
    true,
    "14:03:10, round 1, hop 2 (1.1.1.1): 3 of 3 probes answered, median 4.00 ms, 95th percentile 6.00 ms.",
  ],
  ["a hop that leaves out a round", path([1], []), 1, true, "14:03:10, round 1, hop 2: none answered."],
  ["a silent hop", path([1], []), 1, false, "14:03:10, round 1, hop 2: never answers."],
  ["what is past the end", path([1]), 4, false, "14:03:10, round 1: the path had ended before hop 5."],
];
for (const [name, entry, row, heard, want] of cells)
  test(`a cell of ${name}`, () => assert.equal(cellWords(entry, row, heard), want));

test("the table of hops has all rounds", () => {
  const rows = hopRows([path([1, 2, 3], [], [9]), failed, path([5], [], [])], 3);
  assert.deepEqual(rows, [
    ["1", "1.1.1.0", "5.00 ms", "2.50 ms", "5.00 ms", "33.3 %"],
    ["2", "no answer", "—", "—", "—", "100 %"],
    ["3", "1.1.1.2", "—", "9.00 ms", "9.00 ms", "83.3 %"],
  ]);
});

test("the table of rounds has the latest first", () => {
  assert.deepEqual(roundRows([round(1, {}), failed, pause], 2), [
    ["14:03:10", "not measured", "—", "—", "—", pause.why],
    ["14:03:10", "no result", "—", "—", "—", failed.why],
  ]);
  assert.deepEqual(roundRows([round(1, {})], 2), [["14:03:10", "no loss", "20.0 ms", "30.0 ms", "1 of 4", ""]]);
});

test("from when to when", () =>
  assert.equal(span([round(1, {}), pause]), "22 November 2026, 14:03:10 UTC to 14:04:10 UTC"));

for (const [high, want] of /** @type {[number, number[]][]} */ ([
  [0, [0.1, 0.2, 0.5, 1, 2]],
  [2, [0.1, 0.2, 0.5, 1, 2]],
  [8, [0.2, 0.5, 1, 2, 5]],
  [62, [2, 5, 10, 20, 50]],
  [240, [10, 20, 50, 100, 200]],
  [90_000, [200, 500, 1000, 2000, 5000]],
])) {
  test(`the bounds of colours up to ${high} ms`, () => assert.deepEqual(boundsOf(Array(40).fill(high)), want));
}

test("one slow answer in many moves no bound", () =>
  assert.deepEqual(boundsOf([...Array(40).fill(62), 4000]), [2, 5, 10, 20, 50]));

test("hops are drawn until the last that ever answered, and one more", () => {
  assert.equal(rowsOf([]), 0);
  assert.equal(rowsOf([path([1], [2])]), 2);
  assert.equal(rowsOf([path([1], [], [], []), failed]), 2);
  assert.equal(rowsOf([path([1], [], [], []), path([1], [], [3], [])]), 4);
  assert.deepEqual([...heardHops([path([1], [], [3]), failed])], [0, 2]);
});

for (const [entries, width, shown, each] of [
  [1, 1190, 1, 1000 / 24],
  [24, 1190, 24, 1000 / 24],
  [25, 1190, 25, 1000 / 48],
  [240, 1190, 240, 1000 / 250],
  [240, 326, 75, 4],
]) {
  test(`${entries} rounds in ${width} pixels are ${shown} columns`, () => {
    const list = Array.from({ length: entries }, () => path([1], [2]));
    const plan = planOf(list, { path: true, probes: true }, width, measure);
    assert.deepEqual([plan.shown.length, plan.each, plan.shown.at(-1)], [shown, each, list.at(-1)]);
    assert.ok(
      plan.legend.every(({ x, item }) => x + item.wide + 6 + measure(item.text) <= width),
      "the legend is too wide",
    );
    assert.deepEqual(cellAt(plan, plan.left + 1, plan.top + plan.tall + 1), { column: 0, row: 1 });
    for (const [x, y] of [
      [plan.left - 1, plan.top + 1],
      [plan.left + each * shown + 1, plan.top + 1],
      [plan.left + 1, plan.top - 1],
      [plan.left + 1, plan.bottom],
    ])
      assert.equal(cellAt(plan, x, y), null);
  });
}

test("only silence is drawn as silence, however heavy a loss is", () => {
  const shape = (/** @type {string} */ tone, /** @type {number[]} */ times, sent = 50) =>
    shapeOf({ tone, sent, times });
  assert.equal(shape("bad", [10]), "warn");
  assert.equal(shape("bad", []), "bad");
  assert.equal(shape("bad", [], 0), "bad", "a site that is down has no probes");
  assert.equal(shape("good", [10]), "good");
});

test("what each round says of the target", () => {
  /** @type {[Entry, string][]} */
  const cases = [
    [round(1, {}), "works"],
    [round(1, { tone: "bad", lost: 3 }), "works"],
    [round(1, { works: false }), "fails"],
    [round(1, { works: null }), "unknown"],
    [failed, "unknown"],
    [limited, "unmeasured"],
    [pause, "unmeasured"],
  ];
  for (const [entry, want] of cases) assert.equal(stateOf(entry), want);
});

for (const [name, entries, want] of /** @type {[string, Entry[], string | null][]} */ ([
  ["nothing", [], null],
  ["refusals alone", [limited, pause], null],
  ["what works, and then a refusal for the rate", [round(1, {}), limited, pause], "works"],
  ["what works, and then no result", [round(1, {}), failed], "unknown"],
  ["what fails, and then works", [round(1, { works: false }), round(2, {})], "works"],
])) {
  test(`the state after ${name}`, () => assert.equal(stateNow(entries), want));
}

test("only a site that has an address is down", () => {
  const state = (/** @type {string} */ code) =>
    ofSite.digest(/** @type {any} */ ({ verdict: "down", conclusion: { code }, responseTimeMs: null })).state;
  assert.deepEqual(["DOWN", "NO_ADDRESS", "NAME_NOT_FOUND"].map(state), [
    "down",
    "without an address",
    "without an address",
  ]);
});

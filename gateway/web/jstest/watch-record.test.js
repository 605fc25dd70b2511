// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  longestText,
  makeRecord,
  mostAddresses,
  mostChanges,
  mostEntries,
  mostHops,
  mostTimes,
  short,
} from "../assets/lib/watch-record.js";

Object.assign(globalThis, { document: { addEventListener() {} } });
const trace = (await import("../assets/tools/traceroute/watch.js")).default;
const echo = (await import("../assets/tools/ping/watch.js")).default;
const uptime = (await import("../assets/tools/uptime/watch.js")).default;

/** @typedef {string | string[] | null} Who null is silent, "hidden" is not public */

/** @param {string} code @param {import("../assets/lib/view.js").Conclusion["state"]} [state] */
const concluded = (code, state = "ok") => ({
  conclusion: { code, state, message: `It is ${code}.`, brief: code, meaning: null, args: {} },
  findings: [],
});

/** A trace whose last hop is the destination. @param {Who[]} path @param {boolean} [reached] */
const traced = (path, reached = true) => ({
  ...concluded("CODE"),
  address: "9.9.9.9",
  reached,
  stopReason: reached ? "reached" : "gapLimit",
  hops: [...path, ...(reached ? ["9.9.9.9"] : [])].map((who, i) => ({
    ttl: i + 1,
    addresses: who === null || who === "hidden" ? [] : [who].flat(),
    hidden: who === "hidden",
    sent: 3,
    received: who === null ? 0 : 3,
    rttsMs: who === null ? [null, null, null] : [1.5, 2.5, null],
  })),
});

/** @param {{slow?: number[], lost?: number, undecided?: number, limited?: boolean, address?: string}} how */
const pinged = ({ slow = [10, 11, 12], lost = 0, undecided = 0, limited = false, address = "1.2.3.4" }) => ({
  ...concluded(
    slow.length === 0 ? "NO_REPLY" : lost === 0 ? "ANSWERED" : limited ? "REPLIES_LIMITED" : "PACKET_LOSS",
    slow.length === 0 || (lost > 0 && !limited) ? "warn" : "ok",
  ),
  address,
  sent: slow.length + lost + undecided,
  received: slow.length,
  undecided,
  damaged: 0,
  replies: [...slow.map((rttMs) => ({ rttMs })), ...Array(lost + undecided).fill({ rttMs: null })],
});

/** @param {string} verdict @param {string | null} [reason] */
const site = (verdict, reason = null) => ({
  ...concluded(verdict.toUpperCase()),
  verdict,
  reason,
  responseTimeMs: verdict === "down" ? null : 80,
});

/** @type {[string, any, any[], string[]][]} */
const stories = [
  ["the same path", trace, [traced(["1.1.1.1"]), traced(["1.1.1.1"])], []],
  [
    "another router",
    trace,
    [traced(["1.1.1.1", "2.2.2.2"]), traced(["1.1.1.1", "3.3.3.3"])],
    ["hop 2 changed from 2.2.2.2 to 3.3.3.3"],
  ],
  [
    "there and back",
    trace,
    [traced(["1.1.1.1"]), traced(["2.2.2.2"]), traced(["1.1.1.1"])],
    ["hop 1 changed from 1.1.1.1 to 2.2.2.2", "hop 1 changed from 2.2.2.2 to 1.1.1.1"],
  ],
  ["a router that is silent for a round", trace, [traced(["1.1.1.1"]), traced([null]), traced(["1.1.1.1"])], []],
  [
    "another router after silence",
    trace,
    [traced(["1.1.1.1"]), traced([null]), traced(["2.2.2.2"])],
    ["hop 1 changed from 1.1.1.1 to 2.2.2.2"],
  ],
  [
    "one that becomes not public",
    trace,
    [traced(["1.1.1.1"]), traced(["hidden"])],
    ["hop 1 changed from 1.1.1.1 to private address (not shown)"],
  ],
  [
    "two that share the load",
    trace,
    [traced([["1.1.1.1", "2.2.2.2"]]), traced(["2.2.2.2"]), traced(["1.1.1.1"]), traced(["2.2.2.2"])],
    [],
  ],
  [
    "a third beside two that share the load",
    trace,
    [traced([["1.1.1.1", "2.2.2.2"]]), traced(["3.3.3.3"])],
    ["hop 1 changed from 1.1.1.1 to 3.3.3.3"],
  ],
  [
    "a longer path",
    trace,
    [traced(["1.1.1.1"]), traced(["1.1.1.1", "2.2.2.2"])],
    ["hop 2 changed from 9.9.9.9 to 2.2.2.2"],
  ],
  [
    "a destination that falls silent",
    trace,
    [traced(["1.1.1.1"]), traced(["1.1.1.1"], false), traced(["1.1.1.1"])],
    ["the destination does not answer", "the destination answers again"],
  ],
  [
    "loss that begins and ends",
    echo,
    [pinged({}), pinged({ lost: 2 }), pinged({ lost: 1 }), pinged({})],
    ["loss began", "loss ended"],
  ],
  [
    "a host that stops",
    echo,
    [pinged({}), pinged({ slow: [], lost: 10 }), pinged({ lost: 1 }), pinged({ slow: [], lost: 10 }), pinged({})],
    ["it stopped answering", "it answers again, with loss", "it stopped answering", "it answers again"],
  ],
  ["a host that limits its answers", echo, [pinged({}), pinged({ lost: 2, limited: true })], []],
  ["probes without time to be answered", echo, [pinged({}), pinged({ undecided: 2 })], []],
  [
    "another address of a name",
    echo,
    [pinged({}), pinged({ address: "5.6.7.8" })],
    ["the address changed from 1.2.3.4 to 5.6.7.8"],
  ],
  [
    "a site that goes down and comes back",
    uptime,
    [site("up"), site("down", "No answer."), site("degraded", "Not over IPv6."), site("up")],
    ["it went from up to down", "it went from down to degraded", "it went from degraded to up"],
  ],
];

for (const [name, watcher, data, want] of stories) {
  test(`${name}: ${want.join("; ") || "no change"}`, () => {
    const record = makeRecord(watcher);
    const news = data.flatMap((d, i) => record.answered(i * 1000, i * 1000 + 100, d));
    assert.deepEqual(news, want);
    assert.deepEqual(
      record.changes.map((c) => c.text),
      want,
    );
    assert.equal(record.rounds, data.length);
  });
}

test("a round without an answer is no change, and what follows is held against the answer before", () => {
  const record = makeRecord(uptime);
  record.answered(0, 1, site("up"));
  record.failed(10, 11, "The service could not be reached.", false);
  record.paused(20, 30, "away");
  assert.deepEqual(record.answered(40, 41, site("down", "No one.")), ["it went from up to down"]);
  assert.deepEqual(
    record.entries.map((e) => [e.n, e.kind, e.turned]),
    [
      [1, "answer", false],
      [2, "failed", false],
      [0, "pause", false],
      [3, "answer", true],
    ],
  );
});

test("what is kept of a trace", () => {
  const record = makeRecord(trace);
  record.answered(0, 1, traced(["1.1.1.1", null]));
  assert.deepEqual(record.entries[0].got, {
    state: "reached",
    tone: "good",
    works: true,
    code: "CODE",
    address: "9.9.9.9",
    times: [1.5, 2.5],
    sent: 3,
    lost: 0,
    note: "",
    hops: [
      { who: ["1.1.1.1"], hidden: false, times: [1.5, 2.5], sent: 3 },
      { who: [], hidden: false, times: [], sent: 3 },
      { who: ["9.9.9.9"], hidden: false, times: [1.5, 2.5], sent: 3 },
    ],
  });
});

test("an address that stays is kept once", () => {
  const record = makeRecord(trace);
  for (let n = 0; n < 3; n++) record.answered(n, n + 1, traced(["1.1.1.1"]));
  const [first, , last] = record.entries.map((e) => e.got?.hops?.[0].who);
  assert.equal(first, last);
});

test("a hop that the answer leaves out has its place", () => {
  const d = traced(["1.1.1.1", "2.2.2.2"]);
  d.hops.splice(1, 1);
  const record = makeRecord(trace);
  record.answered(0, 1, d);
  assert.deepEqual(
    record.entries[0].got?.hops?.map((h) => h.who),
    [["1.1.1.1"], [], ["9.9.9.9"]],
  );
});

/**
 * A trace as bad as it comes, so many times as large as is sensible. @param {number} size @param {number} n the round
 */
const endless = (size, n) => ({
  ...traced([]),
  address: `${n}`.repeat(size),
  hops: Array.from({ length: 64 * size }, (_, i) => ({
    ttl: i + 1,
    addresses: Array(4 * size).fill(`${n}${"x".repeat(64 * size)}`),
    hidden: false,
    sent: 1e12,
    received: 1,
    rttsMs: Array(64 * size).fill(1),
  })),
});

test("what is kept does not grow with the answers", () => {
  const weigh = (/** @type {number} */ size) => {
    const record = makeRecord(trace);
    for (let n = 0; n < 3; n++) record.answered(n, n + 1, endless(size, n));
    record.failed(4, 5, "y".repeat(1000 * size), false);
    return JSON.stringify([record.entries, record.changes]).length;
  };
  assert.ok(weigh(20) <= weigh(1) * 1.2, `${weigh(1)} grows to ${weigh(20)}`);
});

test("what is kept of a round is bounded", () => {
  const record = makeRecord(trace);
  record.answered(0, 1, endless(20, 1));
  record.failed(2, 3, "y".repeat(5000), false);
  const { got } = record.entries[0];
  assert.deepEqual(
    [got?.hops?.length, got?.hops?.[0].who.length, got?.hops?.[0].times.length, got?.hops?.[0].sent],
    [mostHops, mostAddresses, mostTimes, 0],
  );
  assert.equal(record.entries[1].why.length, longestText);
});

test("the oldest entries and changes go", () => {
  const record = makeRecord(uptime);
  for (let n = 0; n < 1000; n++) record.answered(n, n + 1, site(n % 2 ? "up" : "down", "It."));
  assert.deepEqual(
    [record.entries.length, record.changes.length, record.rounds, record.forgotten],
    [mostEntries, mostChanges, 1000, 1000 - mostEntries],
  );
  assert.equal(record.entries.at(-1)?.n, 1000);
});

for (const [text, want] of [
  ["short", "short"],
  [null, ""],
  ["x".repeat(11), `${"x".repeat(9)}…`],
  ["😀".repeat(11), `${"😀".repeat(9)}…`],
  [7, "7"],
]) {
  test(`${String(text).slice(0, 12)} is cut between characters`, () => assert.equal(short(text, 10), want));
}

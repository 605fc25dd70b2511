// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { boundsOf, cellAt, heardHops, planOf, rowsOf } from "../assets/lib/watch-draw.js";
import { cellWords, clock, hopRows, roundRows, span, stageWords, tally, verdictOf } from "../assets/lib/watch-words.js";

/** @typedef {import("../assets/lib/watch-record.js").Entry} Entry */
/** @typedef {import("../assets/lib/watch-record.js").Digest} Digest */

const at = Date.UTC(2026, 10, 22, 14, 3, 10);
const base = { at, until: at + 60_000, why: "", turned: false };

/** @param {number} n @param {Partial<Digest>} got @returns {Entry} */
const round = (n, got) => ({ ...base, n, kind: "answer", got: { state: "no loss", tone: "good", address: "1.2.3.4", times: [10, 20, 30], sent: 4, lost: 1, note: "", ...got } });
/** @type {Entry} */
const failed = { ...base, n: 2, kind: "failed", got: null, why: "The worker cannot be reached." };
/** @type {Entry} */
const pause = { ...base, n: 0, kind: "pause", got: null, why: "This tab was in the background." };
/** @param {number[][]} times of each hop @returns {Entry} */
const path = (...times) => round(1, { hops: times.map((list, i) => ({ who: list.length ? [`1.1.1.${i}`] : [], hidden: false, times: list, sent: 3 })) });

test("the time of a day", () => assert.equal(clock(at), "14:03:10"));

/** @type {[string, any, string][]} */
const stages = [
  ["running", { state: "running", apart: 10_000 }, "A round every 10 seconds. Round 4 is running."],
  ["waiting", { state: "waiting", until: 8000.5, apart: 30_000, limited: false }, "A round every 30 seconds; the next in 7 seconds."],
  ["at its end", { state: "waiting", until: 10, apart: 30_000, limited: false }, "A round every 30 seconds; the next in 1 second."],
  ["limited", { state: "waiting", until: 41_001, apart: 20_000, limited: true }, "The service is limiting requests; next round in 40 seconds. From then on a round every 20 seconds."],
  ["hidden", { state: "hidden", apart: 10_000 }, "Paused while this tab is in the background."],
  ["stopped", { state: "ended", why: "stopped" }, "Stopped after 3 rounds."],
  ["at the end of its time", { state: "ended", why: "time" }, "Half an hour has passed, so the watch ended by itself."],
  ["refused", { state: "ended", why: "refused", reply: {} }, "The watch ended: the service refuses this check."],
];
for (const [name, stage, want] of stages) test(`a watch that is ${name}`, () => assert.equal(stageWords(stage, 3, 1001), want));

test("a tally counts what was answered", () => {
  assert.deepEqual(tally([round(1, {}), failed, pause, round(3, { times: [40], sent: 1, lost: 0 })]), { answered: 2, troubled: 0, missed: 1, median: 25, p95: 40, sent: 5, lost: 1 });
});

/** @type {[string, Entry[], number, string, string][]} */
const verdicts = [
  ["nothing yet", [], 0, "info", "Watching example.com."],
  ["failures alone", [failed], 0, "info", "No result for example.com yet."],
  ["one round", [round(1, {})], 0, "good", "Median 20.0 ms, 25 % unanswered, nothing changed in 1 round."],
  ["a site", [round(1, { sent: 0, lost: 0, times: [120] })], 1, "good", "Median 120 ms, 1 change in 1 round."],
  ["a path", [path([1], [3])], 0, "good", "Destination after 20.0 ms (median), 25 % unanswered, nothing changed in 1 round."],
  ["what is down", [round(1, {}), round(2, { tone: "bad", times: [], sent: 0, lost: 0 })], 1, "bad", "Median 20.0 ms, 25 % unanswered, 1 change in 2 rounds."],
  ["what was down", [round(1, { tone: "bad" }), round(2, {})], 2, "warn", "Median 20.0 ms, 25 % unanswered, 2 changes in 2 rounds."],
  ["what never answered", [round(1, { tone: "bad", times: [], sent: 4, lost: 4 })], 0, "bad", "No answer in time, 100 % unanswered, nothing changed in 1 round."],
];
for (const [name, entries, changes, tone, text] of verdicts) test(`the verdict on ${name}`, () => assert.deepEqual(verdictOf("example.com", entries, changes), { tone, text }));

/** @type {[string, Entry, number, boolean, string][]} */
const cells = [
  ["a round", round(1, {}), 0, true, "14:03:10, round 1: no loss, median 20.0 ms, 95th percentile 30.0 ms, 3 of 4 probes answered."],
  ["a site", round(1, { state: "degraded", times: [120], sent: 0, note: "Not over IPv6." }), 0, true, "14:03:10, round 1: degraded, 120 ms. Not over IPv6."],
  ["a failure", failed, 3, true, "14:03:10, round 2: no result. The worker cannot be reached."],
  ["a pause", pause, 3, true, "14:03:10 to 14:04:10: paused. This tab was in the background."],
  ["a hop", path([1], [2, 4, 6]), 1, true, "14:03:10, round 1, hop 2 (1.1.1.1): 3 of 3 probes answered, median 4.00 ms, 95th percentile 6.00 ms."],
  ["a hop that leaves out a round", path([1], []), 1, true, "14:03:10, round 1, hop 2: none answered."],
  ["a silent hop", path([1], []), 1, false, "14:03:10, round 1, hop 2: never answers."],
  ["what is past the end", path([1]), 4, false, "14:03:10, round 1: the path had ended before hop 5."],
];
for (const [name, entry, row, heard, want] of cells) test(`a cell of ${name}`, () => assert.equal(cellWords(entry, row, heard), want));

test("the table of hops has all rounds", () => {
  const rows = hopRows([path([1, 2, 3], [], [9]), failed, path([5], [], [])], 3);
  assert.deepEqual(rows, [["1", "1.1.1.0", "5.00 ms", "2.50 ms", "5.00 ms", "33.3 %"], ["2", "no answer", "—", "—", "—", "100 %"], ["3", "1.1.1.2", "—", "9.00 ms", "9.00 ms", "83.3 %"]]);
});

test("the table of rounds has the latest first", () => {
  assert.deepEqual(roundRows([round(1, {}), failed, pause], 2), [["14:03:10", "paused", "—", "—", "—", pause.why], ["14:03:10", "no result", "—", "—", "—", failed.why]]);
  assert.deepEqual(roundRows([round(1, {})], 2), [["14:03:10", "no loss", "20.0 ms", "30.0 ms", "1 of 4", ""]]);
});

test("from when to when", () => assert.equal(span([round(1, {}), pause]), "22 November 2026, 14:03:10 UTC to 14:04:10 UTC"));

for (const [high, want] of /** @type {[number, number[]][]} */ ([[0, [0.1, 0.2, 0.5, 1, 2]], [2, [0.1, 0.2, 0.5, 1, 2]], [8, [0.2, 0.5, 1, 2, 5]], [62, [2, 5, 10, 20, 50]], [240, [10, 20, 50, 100, 200]], [90_000, [200, 500, 1000, 2000, 5000]]])) {
  test(`the bounds of colours up to ${high} ms`, () => assert.deepEqual(boundsOf(Array(40).fill(high)), want));
}

test("one slow answer in many moves no bound", () => assert.deepEqual(boundsOf([...Array(40).fill(62), 4000]), [2, 5, 10, 20, 50]));

test("hops are drawn until the last that ever answered, and one more", () => {
  assert.equal(rowsOf([]), 0);
  assert.equal(rowsOf([path([1], [2])]), 2);
  assert.equal(rowsOf([path([1], [], [], []), failed]), 2);
  assert.equal(rowsOf([path([1], [], [], []), path([1], [], [3], [])]), 4);
  assert.deepEqual([...heardHops([path([1], [], [3]), failed])], [0, 2]);
});

const measure = (/** @type {string} */ text) => text.length * 7;

for (const [entries, width, shown, each] of [[1, 1190, 1, 1000 / 24], [24, 1190, 24, 1000 / 24], [25, 1190, 25, 1000 / 48], [240, 1190, 240, 1000 / 250], [240, 326, 75, 4]]) {
  test(`${entries} rounds in ${width} pixels are ${shown} columns`, () => {
    const list = Array.from({ length: entries }, () => path([1], [2]));
    const plan = planOf(list, { path: true, probes: true }, width, measure);
    assert.deepEqual([plan.shown.length, plan.each, plan.shown.at(-1)], [shown, each, list.at(-1)]);
    assert.ok(plan.legend.every(({ x, item }) => x + item.wide + 6 + measure(item.text) <= width), "the legend is too wide");
    assert.deepEqual(cellAt(plan, plan.left + 1, plan.top + plan.tall + 1), { column: 0, row: 1 });
    for (const [x, y] of [[plan.left - 1, plan.top + 1], [plan.left + each * shown + 1, plan.top + 1], [plan.left + 1, plan.top - 1], [plan.left + 1, plan.bottom]]) assert.equal(cellAt(plan, x, y), null);
  });
}

// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

// The parts of a page listen to it from the start.
Object.assign(globalThis, { document: { addEventListener() {} } });

const ping = (await import("../assets/tools/ping/facts.js")).default;
const pingView = (await import("../assets/tools/ping/view.js")).default;

/** All of ten probes answered, but for what is given. @param {object} fields @returns {any} */
const answer = (fields) => ({
  target: "example.com",
  address: "192.0.2.1",
  family: 4,
  sent: 10,
  received: 10,
  late: 0,
  duplicates: 0,
  undecided: 0,
  damaged: 0,
  lossPercent: 0,
  minMs: 20,
  averageMs: 20,
  medianMs: 20,
  maxMs: 20,
  stddevMs: 0,
  jitterMs: 0,
  replies: [],
  stopReason: "completed",
  bursts: [],
  confirmation: null,
  measuredAt: "2026-05-01T12:00:00Z",
  shared: false,
  ...fields,
});

const slow = { received: 8, late: 8, undecided: 2, medianMs: 2400 };

test("what is compared with an earlier answer leaves out probes without time", () => {
  assert.equal(ping.facts(answer(slow))["Probes answered"], "all");
  assert.equal(ping.facts(answer({ ...slow, received: 7 }))["Probes answered"], "some");
});

test("when it was measured, and for whom", () => {
  const [source] = pingView.sources(answer({ shared: true }));
  assert.deepEqual([source.fetchedAt, source.shared, source.measured], ["2026-05-01T12:00:00Z", true, true]);
});

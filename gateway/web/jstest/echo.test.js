// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

// The parts of a page listen to it from the start.
Object.assign(globalThis, { document: { addEventListener() {} } });

const ping = (await import("../assets/tools/ping/facts.js")).default;
const lossView = (await import("../assets/tools/packet-loss/view.js")).default;
const pingView = (await import("../assets/tools/ping/view.js")).default;

/** @param {string} slug @returns {import("../assets/lib/view.js").Asked} */
const asked = (slug) => ({ slug, input: "example.com", options: {} });

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

const confirmed = { intervalMs: 1000, sent: 6, received: 6, lossPercent: 0 };
const slow = { received: 8, late: 8, undecided: 2, medianMs: 2400 };
const fifty = { sent: 50, received: 29, lossPercent: 42, bursts: [{ startSeq: 10, length: 1 }] };

test("what loss means depends on whether it is a limit", () => {
  const means = (/** @type {object} */ fields) => lossView.meaning(answer(fields), asked("packet-loss")).join(" ");
  assert.match(means({ ...fifty, confirmation: confirmed }), /only so many probes a second/);
  const findings = [{ code: "REPLIES_LIMITED" }];
  assert.doesNotMatch(means({ ...fifty, confirmation: confirmed, findings }), /losses are spread out/);
  assert.match(means(fifty), /losses are spread out/);
  assert.doesNotMatch(means({ sent: 50, received: 46, late: 46, undecided: 4 }), /lost in|losses/);
});

test("what is compared with an earlier answer leaves out probes without time", () => {
  assert.equal(ping.facts(answer(slow))["Probes answered"], "all");
  assert.equal(ping.facts(answer({ ...slow, received: 7 }))["Probes answered"], "some");
});

test("when it was measured, and for whom", () => {
  const [source] = pingView.sources(answer({ shared: true }));
  assert.deepEqual([source.fetchedAt, source.shared, source.measured], ["2026-05-01T12:00:00Z", true, true]);
});

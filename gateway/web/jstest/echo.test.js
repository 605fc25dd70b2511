// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

// The parts of a page listen to it from the start.
Object.assign(globalThis, { document: { addEventListener() {} } });

const ping = (await import("../assets/tools/ping/verdict.js")).default;
const loss = (await import("../assets/tools/packet-loss/verdict.js")).default;
const lossView = (await import("../assets/tools/packet-loss/view.js")).default;
const pingView = (await import("../assets/tools/ping/view.js")).default;

/** @param {string} slug @returns {import("../assets/lib/view.js").Asked} */
const asked = (slug) => ({ slug, input: "example.com", options: {} });

/** All of ten probes answered, but for what is given. @param {object} fields */
const answer = (fields) => ({
  target: "example.com", address: "192.0.2.1", family: 4, sent: 10, received: 10, late: 0, duplicates: 0, undecided: 0, lossPercent: 0,
  minMs: 20, averageMs: 20, medianMs: 20, maxMs: 20, stddevMs: 0, jitterMs: 0, replies: [], stopReason: "completed", bursts: [], confirmation: null,
  measuredAt: "2026-05-01T12:00:00Z", shared: false, ...fields,
});

const confirmed = { intervalMs: 1000, sent: 6, received: 6, lossPercent: 0 };
const slow = { received: 8, late: 8, undecided: 2, medianMs: 2400 };
const fifty = { sent: 50, received: 29, lossPercent: 42, bursts: [{ startSeq: 10, length: 1 }] };

/** @type {[string, object, string, string, number][]} name, fields, tone, text, concerns */
const pings = [
  ["all answered", {}, "good", "example.com answers in 20.0 ms (median of 10 probes), none lost.", 0],
  ["silence", { received: 0, lossPercent: 100, medianMs: null }, "warn", "example.com did not answer any of 10 probes within 2 s; many hosts ignore them.", 1],
  ["each answer late", slow, "warn",
    "example.com answers in 2,400 ms (median of 8 probes), none lost. Each answer took longer than 2 s. The last 2 probes were sent too late to be answered and are not counted.", 1],
  ["one answer late", { late: 1 }, "warn", "example.com answers in 20.0 ms (median of 10 probes), none lost. 1 answer took longer than 2 s.", 1],
  ["one without time", { received: 9, undecided: 1 }, "good",
    "example.com answers in 20.0 ms (median of 9 probes), none lost. The last probe was sent too late to be answered and is not counted.", 0],
  ["one lost", { received: 9, lossPercent: 10 }, "warn", "example.com answers in 20.0 ms (median), but 10 % of 10 probes were lost.", 1],
  ["four lost", { received: 6, lossPercent: 40 }, "bad", "example.com answers in 20.0 ms (median), but 40 % of 10 probes were lost.", 1],
  ["a limit", { received: 6, lossPercent: 40, confirmation: confirmed }, "info",
    "40 % of 10 probes got no answer, but all 6 sent one second apart afterwards were answered: the host probably limits its answers.", 1],
  ["no limit", { received: 6, lossPercent: 40, confirmation: { ...confirmed, received: 4, lossPercent: 33.33 } }, "bad",
    "example.com answers in 20.0 ms (median), but 40 % of 10 probes were lost. Of 6 more probes sent one second apart, 2 got no answer either.", 1],
  ["lost and late", { received: 5, late: 2, undecided: 1, lossPercent: 44.44 }, "bad",
    "example.com answers in 20.0 ms (median), but 44.4 % of 9 probes were lost. 2 answers took longer than 2 s. The last probe was sent too late to be answered and is not counted.", 2],
];

for (const [name, fields, tone, text, concerns] of pings) {
  test(`the verdict on a ping: ${name}`, () => {
    assert.deepEqual(ping.verdict(answer(fields), asked("ping")), { tone, text });
    const list = ping.concerns(answer(fields), asked("ping"));
    assert.equal(list.length, concerns, JSON.stringify(list));
    assert.ok(!list.some((c) => c.tone === "bad") || tone === "bad");
  });
}

test("the verdict on packet loss", () => {
  assert.deepEqual(loss.verdict(answer({ ...fifty, confirmation: confirmed }), asked("packet-loss")), { tone: "info",
    text: "42 % of 50 probes got no answer, but all 6 sent one second apart afterwards were answered: the host probably limits its answers." });
  assert.deepEqual(loss.verdict(answer(fifty), asked("packet-loss")), { tone: "bad", text: "42 % lost: example.com answered 29 of 50 probes, median 20.0 ms." });
  assert.deepEqual(loss.verdict(answer({ sent: 50, received: 46, late: 46, undecided: 4, medianMs: 2400 }), asked("packet-loss")), { tone: "warn",
    text: "Nothing lost: example.com answered all 46 probes, median 2,400 ms. Each answer took longer than 2 s. The last 4 probes were sent too late to be answered and are not counted." });
});

test("what loss means depends on whether it is a limit", () => {
  const means = (/** @type {object} */ fields) => lossView.meaning(answer(fields), asked("packet-loss")).join(" ");
  assert.match(means({ ...fifty, confirmation: confirmed }), /only so many probes a second/);
  assert.doesNotMatch(means({ ...fifty, confirmation: confirmed }), /losses are spread out/);
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

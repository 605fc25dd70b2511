// @ts-check
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { setImmediate } from "node:timers";
import { breath, calm, hiddenGap, longest, longestHidden, makePace, slowest } from "../assets/lib/watch-pace.js";
import { releaseClock, stopClock, tick } from "./clock.js";

/** @typedef {import("../assets/lib/watch-pace.js").Reply} Reply */

beforeEach(() => stopClock(1_000_000));
afterEach(releaseClock);

/** Lets what was promised happen. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** @param {number} seconds */
async function pass(seconds) {
  tick(seconds * 1000);
  await settled();
}

/** A watch with a gap of ten seconds, whose rounds the test answers. */
function bench() {
  /** @type {any[]} */
  const stages = [];
  /** @type {number[]} */
  const begun = [];
  /** @type {((reply: Reply) => void) | null} */
  let open = null;
  let most = 0;
  let hidden = false;
  const pace = makePace({
    gap: 10_000,
    run: (signal) =>
      new Promise((resolve, reject) => {
        most = Math.max(most, open ? 2 : 1);
        begun.push((performance.now() - 1_000_000) / 1000);
        open = resolve;
        signal.addEventListener("abort", () => {
          open = null;
          reject(signal.reason);
        });
      }),
    hidden: () => hidden,
    tell: (stage) => stages.push(stage),
  });
  /** @param {number} [status] @param {number} [retryAfter] */
  const answer = async (status = 200, retryAfter) => {
    const resolve = open ?? assert.fail("no round is running");
    open = null;
    resolve({ status, retryAfter });
    await settled();
  };
  return {
    pace,
    answer,
    begun,
    stages,
    last: () => stages.at(-1),
    most: () => most,
    running: () => open !== null,
    show: (/** @type {boolean} */ on) => {
      hidden = !on;
      pace.look();
    },
  };
}

for (const [took, next] of [
  [0, 10],
  [3, 10],
  [9, 10],
  [9.5, 10.5],
  [10, 11],
  [25, 26],
]) {
  test(`after a round of ${took} s the next begins at ${next} s`, async () => {
    const b = bench();
    b.pace.start();
    await pass(took);
    await b.answer();
    assert.equal(b.last().state, "waiting");
    assert.equal((b.last().until - 1_000_000) / 1000, next);
    await pass(next - took - 0.001);
    assert.equal(b.running(), false);
    await pass(0.001);
    assert.deepEqual(b.begun, [0, next]);
  });
}

test("rounds never overlap, however slow one is", async () => {
  const b = bench();
  b.pace.start();
  await pass(600);
  assert.deepEqual(b.begun, [0]);
  b.pace.start();
  b.pace.look();
  assert.equal(b.most(), 1);
});

for (const status of [0, 500, 502, 504, 503]) {
  test(`after status ${status} without a pause asked for it goes on at its pace`, async () => {
    const b = bench();
    b.pace.start();
    await b.answer(status);
    await pass(10);
    assert.deepEqual(b.begun, [0, 10]);
  });
}

for (const status of [400, 413, 501]) {
  test(`status ${status} ends it`, async () => {
    const b = bench();
    b.pace.start();
    await b.answer(status);
    await pass(100);
    assert.deepEqual(b.begun, [0]);
    assert.deepEqual(b.last(), { state: "ended", why: "refused", reply: { status, retryAfter: undefined } });
  });
}

for (const [status, after, next] of [
  [429, 40, 40],
  [503, 40, 40],
  [429, 1, 20],
  [429, 0, 20],
]) {
  test(`status ${status} that asks for ${after} s lets it wait until ${next} s, and slower from then on`, async () => {
    const b = bench();
    b.pace.start();
    await b.answer(status, after);
    assert.deepEqual([b.last().limited, b.last().apart], [true, 20_000]);
    await pass(next);
    await b.answer();
    assert.deepEqual([b.last().limited, b.last().apart], [false, 20_000]);
    await pass(20);
    assert.deepEqual(b.begun, [0, next, next + 20]);
  });
}

test("refusals slow it to a bound, and calm makes it as fast again as it was", async () => {
  const b = bench();
  b.pace.start();
  for (let i = 0; i < 6; i++) {
    await b.answer(429, 1);
    await pass(80);
  }
  await b.answer();
  assert.equal(b.last().apart, slowest * 10_000);
  for (let i = 1; i < 3 * calm; i++) {
    b.pace.stop();
    b.pace.start();
    await pass(80);
    await b.answer();
  }
  assert.equal(b.last().apart, 10_000);
});

test("a hidden page goes on with a round a minute", async () => {
  const b = bench();
  b.pace.start();
  await b.answer();
  b.show(false);
  assert.deepEqual([b.last().state, b.last().hidden, b.last().apart], ["waiting", true, hiddenGap]);
  await pass(59.999);
  assert.deepEqual(b.begun, [0]);
  await pass(0.001);
  await b.answer();
  await pass(60);
  assert.deepEqual(b.begun, [0, 60, 120]);
  await b.answer();
  assert.deepEqual([b.last().apart, b.last().spaced], [60_000, 60_000]);
});

test("a gap of more than a minute, as refusals make it, holds for a hidden page too", async () => {
  const b = bench();
  b.pace.start();
  for (const wait of [20, 40, 80]) {
    await b.answer(429, 1);
    await pass(wait);
  }
  b.show(false);
  await b.answer();
  assert.equal(b.last().apart, 80_000);
});

for (const [away, begun] of /** @type {[number, number[]][]} */ ([
  [4, [0, 10]],
  [30, [0, 30]],
])) {
  test(`shown again after ${away} s it makes up for what was due, with one round`, async () => {
    const b = bench();
    b.pace.start();
    await b.answer();
    b.show(false);
    await pass(away);
    b.show(true);
    for (let i = 0; i < 5; i++) {
      b.show(false);
      b.show(true);
    }
    await pass(begun[1] - away);
    assert.deepEqual(b.begun, begun);
    await b.answer();
    await pass(9.999);
    assert.equal(b.begun.length, 2);
    assert.deepEqual([b.last().apart, b.last().hidden], [10_000, false]);
  });
}

test("timers that a browser holds back bring one round, and the true interval", async () => {
  const b = bench();
  b.pace.start();
  await b.answer();
  b.show(false);
  const due = b.last().until;
  // The timer of a minute comes after five.
  const late = globalThis.performance.now;
  globalThis.performance.now = () => late() + 240_000;
  await pass(60);
  globalThis.performance.now = late;
  assert.equal(due, 1_060_000);
  assert.equal(b.begun.length, 2);
  tick(240_000);
  assert.equal(b.begun.length, 2, "no round is made up for while one runs");
  await b.answer();
  assert.equal(b.last().spaced, 300_000);
});

test("a page that is hidden while a round runs, or when it starts, waits for a minute", async () => {
  const b = bench();
  b.show(false);
  b.pace.start();
  assert.equal(b.last().apart, hiddenGap);
  await b.answer();
  await pass(59.9);
  assert.deepEqual(b.begun, [0]);
  await pass(0.1);
  b.show(true);
  b.show(false);
  assert.equal(b.last().state, "running");
  await b.answer();
  assert.deepEqual([b.last().state, b.last().hidden], ["waiting", true]);
});

test("after half an hour it ends, and can go on for another", async () => {
  const b = bench();
  b.pace.start();
  for (let i = 0; b.last().state !== "ended"; i++) {
    assert.ok(i < 200, "it does not end");
    await b.answer();
    await pass(10);
  }
  assert.deepEqual(b.last(), { state: "ended", why: "time" });
  assert.equal(b.begun.length, longest / 10_000);
  const before = b.begun.length;
  await pass(1000);
  b.pace.start();
  await b.answer();
  await pass(10);
  assert.equal(b.begun.length, before + 2);
  assert.equal(b.last().state, "running");
});

test("a hidden watch ends after hours, and one that was looked at meanwhile goes on", async () => {
  const b = bench();
  b.pace.start();
  await b.answer();
  b.show(false);
  for (let n = 0; n < 45; n++) {
    await pass(60);
    await b.answer();
  }
  assert.equal(b.last().state, "waiting");
  b.show(true);
  b.show(false);
  for (let n = 1; b.last().state !== "ended"; n++) {
    assert.ok(n < 300, "it does not end");
    await pass(60);
    if (b.running()) await b.answer();
  }
  assert.deepEqual(b.last(), { state: "ended", why: "time" });
  assert.equal(b.begun.length, 46 + longestHidden / hiddenGap - 1);
  b.show(true);
  assert.deepEqual(b.last(), { state: "ended", why: "time" });
});

test("stopping aborts the round, and anyone who goes on at once does not go faster", async () => {
  const b = bench();
  b.pace.start();
  await b.answer();
  await pass(10);
  b.pace.stop();
  await settled();
  assert.equal(b.running(), false);
  assert.deepEqual(b.last(), { state: "ended", why: "stopped" });
  for (let i = 0; i < 5; i++) {
    b.pace.start();
    b.pace.stop();
  }
  b.pace.start();
  await settled();
  assert.equal(b.running(), false);
  assert.equal(b.last().until - performance.now(), 10_000);
});

test("a second is a breath", () => assert.equal(breath, 1000));

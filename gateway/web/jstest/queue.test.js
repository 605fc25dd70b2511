// @ts-check
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { setImmediate } from "node:timers";
import { atOnce, makeQueue, mostTries, patience } from "../assets/lib/queue.js";
import { releaseClock, setClock, stopClock, tick } from "./clock.js";

/** @typedef {import("../assets/lib/queue.js").Reply} Reply */

beforeEach(() => stopClock(1_000_000));
afterEach(releaseClock);

/** Lets what was promised happen. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** @param {number} seconds */
async function pass(seconds) {
  tick(seconds * 1000);
  await settled();
}

/** A service of a test: jobs are names, and the test answers them. */
function bench() {
  /** @type {Map<string, (reply: Reply) => void>} */
  const open = new Map();
  /** @type {string[]} */
  const log = [];
  /** @type {string[]} */
  const sent = [];
  let idle = 0;
  let most = 0;
  const queue = makeQueue({
    run: (/** @type {string} */ job, signal) =>
      new Promise((resolve, reject) => {
        sent.push(job);
        open.set(job, resolve);
        most = Math.max(most, open.size);
        signal.addEventListener("abort", () => {
          open.delete(job);
          reject(signal.reason);
        });
      }),
    tell: (job, stage) => log.push(`${job} ${words(stage)}`),
    idle: () => {
      idle += 1;
    },
  });
  /** @param {string} job @param {number} status @param {number} [retryAfter] */
  const answer = async (job, status, retryAfter) => {
    const resolve = open.get(job) ?? assert.fail(`${job} is not running`);
    open.delete(job);
    resolve({ status, retryAfter });
    await settled();
  };
  return { queue, answer, log, sent, running: () => [...open.keys()], idle: () => idle, most: () => most };
}

/** @param {any} stage */
function words(stage) {
  const left = stage.until === undefined ? "" : ` ${(stage.until - performance.now()) / 1000} s`;
  const status = stage.state === "answered" ? ` ${stage.reply.status}` : "";
  return `${stage.state}${status}${left}${stage.final ? " given up" : ""}`;
}

const names = (/** @type {number} */ n) => Array.from({ length: n }, (_, i) => `j${i + 1}`);

for (const n of [1, atOnce - 1, atOnce, atOnce + 1, 3 * atOnce]) {
  test(`${n} jobs run at most ${atOnce} at once, in order, and all end`, async () => {
    const b = bench();
    b.queue.add(...names(n));
    assert.deepEqual(b.running(), names(Math.min(n, atOnce)));
    for (let i = 0; i < n; i++) await b.answer(b.running()[0], 200);
    assert.deepEqual(b.sent, names(n));
    assert.equal(b.most(), Math.min(n, atOnce));
    assert.equal(b.idle(), 1);
  });
}

test("four is what the pages promise", () => assert.equal(atOnce, 4));

for (const status of [0, 400, 500, 501, 502, 504]) {
  test(`status ${status} ends its job and no other`, async () => {
    const b = bench();
    b.queue.add("a", "b");
    await b.answer("a", status);
    assert.deepEqual(b.running(), ["b"]);
    assert.equal(b.log.at(-1), `a answered ${status}`);
    await b.answer("b", 200);
    assert.equal(b.idle(), 1);
  });
}

for (const status of [429, 503]) {
  test(`${status} without Retry-After ends its job`, async () => {
    const b = bench();
    b.queue.add("a");
    await b.answer("a", status);
    assert.equal(b.log.at(-1), `a answered ${status}`);
    assert.equal(b.idle(), 1);
  });
}

test("429 holds everything back for as long as it says and no longer", async () => {
  const b = bench();
  b.queue.add(...names(6));
  await b.answer("j1", 429, 10);
  await b.answer("j2", 200);
  assert.deepEqual(b.running(), ["j3", "j4"]);
  assert.ok(b.log.includes("j1 limited 10 s"));
  assert.ok(b.log.includes("j5 waiting 10 s"), "one that was not refused only waits");
  await pass(9.999);
  assert.deepEqual(b.running(), ["j3", "j4"]);
  await pass(0.001);
  assert.deepEqual(b.running(), ["j3", "j4", "j1"]);
});

test(`after a pause jobs go one by one until ${atOnce} have passed`, async () => {
  const b = bench();
  b.queue.add(...names(12));
  await b.answer("j1", 429, 10);
  await pass(10);
  assert.deepEqual(b.running(), ["j2", "j3", "j4", "j1"]);
  for (const job of ["j2", "j3", "j4"]) await b.answer(job, 200);
  assert.deepEqual(b.running(), ["j1"], "what was sent before the pause tells nothing of the time after it");
  for (const job of ["j1", "j5", "j6"]) await b.answer(job, 200);
  assert.deepEqual(b.running(), ["j7"]);
  await b.answer("j7", 200);
  assert.deepEqual(b.running(), ["j8", "j9", "j10", "j11"]);
});

for (const [refill, bucket] of [
  [1, 0],
  [1, 1],
  [2, 3],
  [5, 0],
  [0.5, 6],
]) {
  test(`where a token comes back every ${refill} s and ${bucket} are left, all jobs get their answer`, async () => {
    const b = bench();
    let tokens = bucket;
    b.queue.add(...names(14));
    for (let seconds = 0; b.idle() === 0; seconds += 0.25) {
      assert.ok(seconds < 120, "the jobs never end");
      for (const job of b.running()) {
        if (tokens < 1) {
          await b.answer(job, 429, Math.ceil((1 - tokens) * refill));
          continue;
        }
        tokens -= 1;
        await b.answer(job, 200);
      }
      await pass(0.25);
      tokens += 0.25 / refill;
    }
    assert.deepEqual(
      b.log.filter((line) => line.endsWith("given up")),
      [],
    );
    assert.equal(b.log.filter((line) => line.endsWith("answered 200")).length, 14);
  });
}

test("503 holds back its own job alone", async () => {
  const b = bench();
  b.queue.add(...names(5));
  await b.answer("j1", 503, 10);
  assert.deepEqual(b.running(), ["j2", "j3", "j4", "j5"]);
  await b.answer("j2", 200);
  await pass(9.999);
  assert.deepEqual(b.running(), ["j3", "j4", "j5"]);
  await pass(0.001);
  assert.deepEqual(b.running(), ["j3", "j4", "j5", "j1"]);
});

for (const hours of [-1, 1]) {
  test(`a visitor's clock that is set by ${hours} h neither stalls nor hurries a report`, async () => {
    for (const status of [429, 503]) {
      const b = bench();
      b.queue.add("a");
      await b.answer("a", status, 10);
      setClock(hours * 3_600_000);
      await pass(9.999);
      assert.deepEqual(b.sent, ["a"]);
      await pass(0.001);
      assert.deepEqual(b.sent, ["a", "a"]);
      setClock(hours * 3_600_000);
      await b.answer("a", status, 10);
      assert.equal(b.log.at(-1), "a limited 10 s");
    }
  });
}

test("a held job waits for a place when its time has come", async () => {
  const b = bench();
  b.queue.add(...names(5));
  await b.answer("j1", 503, 10);
  await pass(11);
  assert.equal(b.running().length, atOnce);
  await b.answer("j2", 200);
  assert.ok(b.running().includes("j1"));
});

test("the longer of two pauses counts", async () => {
  const b = bench();
  b.queue.add("a", "b");
  await b.answer("a", 429, 10);
  await b.answer("b", 429, 3);
  await pass(9.999);
  assert.deepEqual(b.running(), []);
  await pass(0.001);
  assert.deepEqual(b.running(), ["a"]);
});

test("a pause of nothing is one second, so that a service is never asked in a loop", async () => {
  const b = bench();
  b.queue.add("a");
  await b.answer("a", 503, 0);
  assert.deepEqual(b.sent, ["a"]);
  await pass(1);
  assert.deepEqual(b.sent, ["a", "a"]);
});

test(`a job is sent ${mostTries} times and then given up`, async () => {
  const b = bench();
  b.queue.add("a");
  for (let i = 1; i < mostTries; i++) {
    await b.answer("a", 503, 5);
    assert.equal(b.log.at(-1), "a limited 5 s");
    await pass(5);
  }
  await b.answer("a", 503, 5);
  assert.equal(b.log.at(-1), "a limited 5 s given up");
  assert.equal(b.sent.length, mostTries);
  assert.equal(b.idle(), 1);
});

test("a pause as long as the patience is waited for, a longer one is not", async () => {
  for (const [seconds, given] of /** @type {[number, string][]} */ ([
    [patience / 1000, ""],
    [patience / 1000 + 1, " given up"],
  ])) {
    const b = bench();
    b.queue.add("a");
    await b.answer("a", 503, seconds);
    assert.equal(b.log.at(-1), `a limited ${seconds} s${given}`);
    assert.equal(b.idle(), given ? 1 : 0);
  }
});

test("the patience is for all pauses of a job together", async () => {
  const b = bench();
  b.queue.add("a");
  await b.answer("a", 503, 60);
  await pass(60);
  await b.answer("a", 503, 31);
  assert.equal(b.log.at(-1), "a limited 31 s given up");
});

test("jobs that were never sent are given up too where the service asks for a long pause", async () => {
  const b = bench();
  b.queue.add(...names(6));
  await b.answer("j1", 429, 300);
  assert.ok(b.log.includes("j1 limited 300 s given up"));
  assert.ok(b.log.includes("j5 limited 300 s given up"));
  assert.ok(b.log.includes("j6 limited 300 s given up"));
  assert.equal(b.idle(), 0);
  for (const job of ["j2", "j3", "j4"]) await b.answer(job, 200);
  assert.equal(b.idle(), 1);
  assert.deepEqual(b.sent, names(4));
});

test("trying again keeps to a pause that still lasts", async () => {
  const b = bench();
  b.queue.add("a");
  await b.answer("a", 429, 100);
  await pass(20);
  b.queue.add("a");
  assert.equal(b.log.at(-1), "a waiting 80 s");
  await pass(80);
  assert.deepEqual(b.running(), ["a"]);
  await b.answer("a", 200);
  assert.equal(b.idle(), 2);
});

test("cancelling ends what runs, waits and is held back, and lets later jobs run", async () => {
  const b = bench();
  b.queue.add(...names(6));
  await b.answer("j1", 503, 10);
  b.queue.cancel();
  await settled();
  assert.deepEqual(
    b.log.filter((line) => line.endsWith("cancelled")).sort(),
    names(6).map((job) => `${job} cancelled`),
  );
  assert.deepEqual(b.running(), []);
  assert.equal(b.idle(), 1);
  await pass(600);
  assert.equal(b.sent.length, 5);
  b.queue.add("again");
  await b.answer("again", 200);
  assert.equal(b.log.at(-1), "again answered 200");
  assert.equal(b.idle(), 2);
});

test("what answers while it is being cancelled is cancelled", async () => {
  const b = bench();
  b.queue.add("a");
  const late = b.answer("a", 200);
  b.queue.cancel();
  await late;
  assert.deepEqual(b.log, ["a waiting", "a running", "a cancelled"]);
});

test("cancelling nothing is nothing", () => {
  const b = bench();
  b.queue.cancel();
  assert.equal(b.idle(), 0);
});

// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers";
import { lateAfter, measured, startSampling } from "../assets/lib/sampling.js";

/** @typedef {import("../assets/lib/sampling.js").Run} Run */
/** @typedef {import("../assets/lib/sampling.js").Taken} Taken */

/** A clock that moves when a test says so, and requests that are answered when it says so. */
class Lab {
  time = 1000;
  hidden = false;
  /** @type {{at: number, then: () => void}[]} */
  timers = [];
  /** @type {{n: number, at: number, signal: AbortSignal, answer: (taken?: Partial<Taken>) => void}[]} */
  requests = [];
  /** @type {Run | null} */
  run = null;
  endings = 0;
  stop = () => {};

  /**
   * @param {Partial<import("../assets/lib/sampling.js").Plan>} plan @param {((n: number) => number | null)} [delay]
   *   null is never
   */
  constructor(plan, delay = () => 20) {
    this.stop = startSampling(
      { interval: 100, count: 10, warmup: 3, ...plan },
      {
        now: () => this.time,
        after: (ms, then) => this.after(ms, then),
        hidden: () => this.hidden,
        take: (n, signal) =>
          new Promise((resolve, reject) => {
            const at = this.time;
            const answer = (/** @type {Partial<Taken>} */ taken = {}) =>
              resolve({
                answer: { ok: true, status: 200 },
                ms: this.time - at,
                waited: this.time - at,
                reused: true,
                protocol: "h2",
                ...taken,
              });
            signal.addEventListener("abort", () => reject(signal.reason));
            this.requests.push({ n, at, signal, answer });
            const wait = delay(n);
            if (wait !== null) this.after(wait, answer);
          }),
      },
      (run) => {
        this.run = run;
        if (run.ending) this.endings += 1;
      },
    );
  }

  /** @param {number} ms @param {() => void} then */
  after(ms, then) {
    const timer = { at: this.time + ms, then };
    this.timers.push(timer);
    return () => {
      this.timers = this.timers.filter((t) => t !== timer);
    };
  }

  /** Lets time pass; what is due happens in its order. @param {number} ms */
  async pass(ms) {
    const until = this.time + ms;
    for (;;) {
      await settled();
      const next = this.timers.filter((t) => t.at <= until).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      this.timers = this.timers.filter((t) => t !== next);
      this.time = Math.max(this.time, next.at);
      next.then();
    }
    this.time = until;
    await settled();
  }

  get known() {
    if (!this.run) throw new Error("nothing was told yet");
    return this.run;
  }

  get outcomes() {
    return this.known.samples.map((s) => s.outcome);
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test("samples are sent at fixed times, whatever the answers do", async () => {
  const lab = new Lab({ interval: 200, count: 5 }, (n) => [150, 20, 190, 60, 10][n]);
  await lab.pass(2000);
  assert.deepEqual(
    lab.requests.map((r) => r.at - 1000),
    [0, 200, 400, 600, 800],
  );
  assert.deepEqual(
    lab.known.samples.map((s) => s.ms),
    [150, 20, 190, 60, 10],
  );
  assert.equal(lab.known.ending, "completed");
});

test("the first samples are warm-up and do not count", async () => {
  const lab = new Lab({ count: 5, warmup: 3 });
  await lab.pass(1000);
  assert.deepEqual(
    lab.known.samples.map((s) => s.excluded),
    ["warm-up", "warm-up", "warm-up", null, null],
  );
  assert.deepEqual(
    lab.known.samples.map((s) => s.at),
    [-300, -200, -100, 0, 100],
    "time starts with the first that counts",
  );
});

test("numbers go on from where the caller says", async () => {
  /** @type {number[]} */
  const asked = [];
  startSampling(
    { interval: 100, count: 1, warmup: 0 },
    {
      now: () => 0,
      after: () => () => {},
      hidden: () => false,
      take: (n) => {
        asked.push(n);
        return new Promise(() => {});
      },
    },
    () => {},
    70,
  );
  assert.deepEqual(asked, [70]);
});

test("a slow sample does not hold up the next ones", async () => {
  const lab = new Lab({ count: 6, warmup: 0 }, (n) => (n === 1 ? 1500 : 20));
  await lab.pass(700);
  assert.deepEqual(lab.outcomes, ["answered", "open", "answered", "answered", "answered", "answered"]);
  assert.equal(lab.known.ending, null, "the slow one may still answer");
  await lab.pass(1000);
  assert.equal(lab.known.samples[1].ms, 1500);
  assert.equal(lab.known.ending, "completed");
});

test("without an answer for two seconds a sample is late, and stays late with its time when it answers", async () => {
  const lab = new Lab({ interval: 1000, count: 4, warmup: 0 }, (n) => (n === 0 ? 2500 : 20));
  await lab.pass(1999);
  assert.equal(lab.known.samples[0].outcome, "open");
  await lab.pass(1);
  assert.equal(lab.known.samples[0].outcome, "late");
  assert.equal(lab.known.samples[0].ms, null);
  await lab.pass(3000);
  assert.deepEqual([lab.known.samples[0].outcome, lab.known.samples[0].ms], ["late", 2500]);
});

test("an answer after exactly two seconds is not late", async () => {
  const lab = new Lab({ interval: 1000, count: 2, warmup: 0 }, () => null);
  await lab.pass(10);
  lab.requests[0].answer({ ms: lateAfter, waited: lateAfter });
  lab.requests[1]?.answer();
  await settled();
  assert.equal(lab.known.samples[0].outcome, "answered");
});

test("the browser's own record corrects what this page saw too late", async () => {
  const lab = new Lab({ interval: 5000, count: 2, warmup: 0 }, () => null);
  await lab.pass(2100);
  assert.equal(lab.known.samples[0].outcome, "late");
  lab.requests[0].answer({ ms: 30, waited: 31 });
  await settled();
  assert.deepEqual([lab.known.samples[0].outcome, lab.known.samples[0].ms], ["answered", 30]);
});

test("a sample that had to wait for a new connection is late by its whole wait", async () => {
  const lab = new Lab({ interval: 5000, count: 2, warmup: 0 }, () => null);
  lab.requests[0].answer({ ms: 30, waited: 3030, reused: false });
  await settled();
  assert.deepEqual(
    [lab.known.samples[0].outcome, lab.known.samples[0].ms, lab.known.samples[0].reused],
    ["late", 3030, false],
  );
});

test("what answers with an error or not at all has failed, with the words of it", async () => {
  const lab = new Lab({ interval: 500, count: 3, warmup: 0 }, () => null);
  lab.requests[0].answer({ answer: { ok: false, status: 0, error: "Not reached." } });
  await lab.pass(500);
  lab.requests[1].answer({ answer: { ok: false, status: 503, error: "Busy." } });
  await lab.pass(500);
  lab.requests[2].answer();
  await settled();
  assert.deepEqual(
    lab.known.samples.map((s) => [s.outcome, s.why]),
    [
      ["failed", "Not reached."],
      ["failed", "Busy."],
      ["answered", ""],
    ],
  );
  assert.equal(lab.known.samples[0].ms, null);
  assert.equal(lab.known.ending, "completed");
});

test("the run ends when the last samples are late, and gives them up", async () => {
  const lab = new Lab({ count: 3, warmup: 0 }, () => null);
  await lab.pass(2200);
  assert.deepEqual(lab.outcomes, ["late", "late", "late"]);
  assert.equal(lab.known.ending, "completed");
  assert.ok(lab.requests.every((r) => r.signal.aborted));
  assert.equal(lab.endings, 1);
});

test("open requests have a bound, and the one that is given up was late", async () => {
  const lab = new Lab({ count: 40, warmup: 0 }, () => null);
  await lab.pass(3900);
  assert.equal(lab.requests.filter((r) => !r.signal.aborted).length, 24);
  const given = lab.requests.filter((r) => r.signal.aborted).length;
  assert.equal(given, 16);
  assert.ok(lab.known.samples.slice(0, given).every((s) => s.outcome === "late"));
});

test("stopping ends the run at once; what was open does not count", async () => {
  const lab = new Lab({ count: 10, warmup: 0 }, (n) => (n < 2 ? 20 : null));
  await lab.pass(350);
  lab.stop();
  assert.equal(lab.known.ending, "stopped");
  assert.deepEqual(lab.outcomes, ["answered", "answered"]);
  assert.equal(lab.known.unfinished, 2);
  assert.ok(lab.requests.slice(2).every((r) => r.signal.aborted));
  await lab.pass(5000);
  assert.equal(lab.requests.length, 4, "nothing is sent any more");
  lab.stop();
  assert.equal(lab.endings, 1);
});

test("a limit ends the run with the API's words, and is no failed sample", async () => {
  const lab = new Lab({ count: 10, warmup: 0 }, (n) => (n < 2 ? 20 : null));
  await lab.pass(250);
  lab.requests[2].answer({ answer: { ok: false, status: 429, error: "Too many.", retryAfter: 12 } });
  await settled();
  assert.equal(lab.known.ending, "limited");
  assert.deepEqual(lab.known.refusal, { ok: false, status: 429, error: "Too many.", retryAfter: 12 });
  assert.deepEqual(lab.outcomes, ["answered", "answered"]);
  await lab.pass(5000);
  assert.equal(lab.requests.length, 3);
});

test("a timer that the browser held back marks its sample and skips what it missed", async () => {
  const lab = new Lab({ count: 20, warmup: 0 });
  await lab.pass(350);
  lab.time += 1000;
  await lab.pass(100);
  const [held] = lab.known.samples.slice(4);
  assert.equal(held.at, 1350);
  assert.equal(held.excluded, "background");
  assert.equal(lab.known.skipped, 9);
  await lab.pass(2000);
  assert.equal(lab.known.samples.length + lab.known.skipped, 20);
  assert.deepEqual(lab.known.samples.map((s) => s.excluded).filter(Boolean), ["background"]);
  assert.equal(lab.requests[5].at, 2400, "back in the old rhythm");
});

test("a small delay is made good at once", async () => {
  const lab = new Lab({ count: 8, warmup: 0 });
  await lab.pass(150);
  lab.time += 200;
  await lab.pass(800);
  assert.equal(lab.known.skipped, 0);
  assert.equal(lab.known.samples.length, 8);
  assert.ok(lab.known.samples.every((s) => s.excluded === null));
});

test("a page held back to its end does not run past it", async () => {
  const lab = new Lab({ count: 5, warmup: 0 });
  await lab.pass(10);
  lab.time += 60_000;
  await lab.pass(100);
  assert.equal(lab.known.ending, "completed");
  assert.equal(lab.known.samples.length + lab.known.skipped, 5);
});

test("what was sent or answered in a hidden page does not count", async () => {
  const lab = new Lab({ interval: 1000, count: 4, warmup: 0 }, () => 600);
  await lab.pass(300);
  lab.hidden = true;
  await lab.pass(1000);
  lab.hidden = false;
  await lab.pass(3000);
  assert.deepEqual(
    lab.known.samples.map((s) => s.excluded),
    ["background", "background", null, null],
  );
});

test("late news that came late itself does not count: the page was asleep", async () => {
  const lab = new Lab({ interval: 10_000, count: 2, warmup: 0 }, () => null);
  await lab.pass(100);
  lab.time += 8000;
  await lab.pass(10);
  assert.deepEqual([lab.known.samples[0].outcome, lab.known.samples[0].excluded], ["late", "background"]);
});

test("the round trip is taken from the browser's record where there is one", () => {
  const answer = { ok: true, status: 200 };
  const entry = /** @type {PerformanceResourceTiming} */ ({
    fetchStart: 100,
    connectStart: 100,
    connectEnd: 100,
    requestStart: 101,
    responseStart: 121,
    nextHopProtocol: "h2",
  });
  assert.deepEqual(measured(answer, 25, entry), { answer, ms: 20, waited: 21, reused: true, protocol: "h2" });
  assert.equal(measured(answer, 25, { ...entry, connectStart: 90 }).reused, false);
  assert.deepEqual(measured(answer, 25, null), { answer, ms: 25, waited: 25, reused: null, protocol: "" });
  assert.equal(measured(answer, 25, { ...entry, requestStart: 0 }).ms, 25, "a browser that does not tell");
});

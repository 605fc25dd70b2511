// @ts-check
// The sampler: requests at fixed times, each with its own outcome. A slow one does not hold up the next. Clock, timers
// and requests come from outside (see browser below), so that the rules can be tested by themselves.

import { sampleConnection } from "./api.js";

/** A sample without an answer after this many milliseconds is late. */
export const lateAfter = 2000;

/**
 * More requests than these are not kept open: the oldest is given up. It has been late by then, at any rate up to ten a
 * second.
 */
const mostOpen = 24;

/** @typedef {import("./api.js").Answer} Answer */

/**
 * @typedef {object} Sample
 * @property {number} n its number in the request
 * @property {number} at when it was sent, in milliseconds from the time of the first sample that counts; negative in
 *   the warm-up
 * @property {"open" | "answered" | "late" | "failed"} outcome open is not known yet; late stays so where an answer
 *   comes after all
 * @property {number | null} ms the round trip; of a late one the time until its answer, null where none came
 * @property {"warm-up" | "background" | null} excluded why it does not count
 * @property {boolean | null} reused whether it went over a connection that was open already; null is not known
 * @property {string} protocol ALPN name, empty where it is not known
 * @property {string} why what went wrong, in words
 */

/**
 * @typedef {{interval: number, count: number, warmup: number}} Plan count is of all samples, the first warmup ones do
 *   not count
 */
/**
 * @typedef {{answer: Answer, ms: number, waited: number, reused: boolean | null, protocol: string}} Taken ms is the
 *   round trip alone, waited also the time for a connection
 */
/** @typedef {"completed" | "stopped" | "limited"} Ending */

/**
 * @typedef {object} Run what is known so far
 * @property {Sample[]} samples in the order of sending
 * @property {number} skipped samples that were never sent, since the browser held the page back
 * @property {number} unfinished samples that were open when the run was ended; they are not among samples
 * @property {Ending | null} ending null while it runs
 * @property {Answer | null} refusal the answer that ended a limited run
 */

/**
 * @typedef {object} Surroundings
 * @property {() => number} now milliseconds of a clock that never jumps
 * @property {(ms: number, then: () => void) => () => void} after a timer; gives what cancels it
 * @property {() => boolean} hidden whether the page is in the background
 * @property {(n: number, signal: AbortSignal) => Promise<Taken>} take sends one request; rejects only when the signal
 *   aborts
 */

/**
 * Starts a run.
 * @param {Plan} plan
 * @param {Surroundings} around
 * @param {(run: Run) => void} changed called after each change, the last time with an ending
 * @param {number} [first] the number of the first sample
 * @returns {() => void} stops the run
 */
export function startSampling(plan, around, changed, first = 0) {
  const began = around.now();
  const tolerance = Math.max(250, plan.interval / 2);
  /** @type {Run} */
  const run = { samples: [], skipped: 0, unfinished: 0, ending: null, refusal: null };
  /** @type {Map<Sample, () => void>} gives up a sample that has no answer yet */
  const open = new Map();
  let slot = 0;
  let cancelNext = () => {};

  const due = () => began + slot * plan.interval;

  function tick() {
    const heldBack = around.now() - due() > tolerance;
    // Samples whose time has gone by are not made good by a burst: it would measure itself.
    if (heldBack) skip(Math.min(Math.floor((around.now() - due()) / plan.interval), plan.count - 1 - slot));
    send(heldBack);
    slot += 1;
    if (slot < plan.count) cancelNext = around.after(Math.max(0, due() - around.now()), tick);
    changed(run);
  }

  /** @param {number} slots */
  function skip(slots) {
    run.skipped += slots;
    slot += slots;
  }

  /** @param {boolean} heldBack */
  function send(heldBack) {
    const sent = around.now();
    const warm = run.samples.length < plan.warmup;
    /** @type {Sample} */
    const sample = {
      n: first + slot,
      at: sent - began - plan.warmup * plan.interval,
      outcome: "open",
      ms: null,
      reused: null,
      protocol: "",
      why: "",
      excluded: warm ? "warm-up" : heldBack || around.hidden() ? "background" : null,
    };
    run.samples.push(sample);
    if (open.size >= mostOpen) [...open.values()][0]();
    const aborter = new AbortController();
    const cancelLate = around.after(lateAfter, () => overdue(sample, around.now() - sent - lateAfter));
    const giveUp = () => {
      cancelLate();
      open.delete(sample);
      aborter.abort();
    };
    open.set(sample, giveUp);
    around.take(sample.n, aborter.signal).then(
      (taken) => {
        if (!open.has(sample)) return;
        cancelLate();
        open.delete(sample);
        settle(sample, taken);
      },
      (failure) => {
        if (!aborter.signal.aborted) throw failure;
      },
    );
  }

  /**
   * @param {Sample} sample
   * @param {number} behind how late this very news is
   */
  function overdue(sample, behind) {
    sample.outcome = "late";
    if (behind > tolerance || around.hidden()) sample.excluded ??= "background";
    told();
  }

  /**
   * @param {Sample} sample
   * @param {Taken} taken
   */
  function settle(sample, taken) {
    if (taken.answer.status === 429) {
      run.refusal = taken.answer;
      run.samples.splice(run.samples.indexOf(sample), 1);
      end("limited");
      return;
    }
    if (around.hidden()) sample.excluded ??= "background";
    sample.reused = taken.reused;
    sample.protocol = taken.protocol;
    if (!taken.answer.ok) {
      sample.outcome = "failed";
      sample.why = taken.answer.error ?? "";
    } else {
      sample.outcome = taken.waited > lateAfter ? "late" : "answered";
      sample.ms = sample.outcome === "late" ? taken.waited : taken.ms;
    }
    told();
  }

  function told() {
    const done = slot >= plan.count && run.samples.every((s) => s.outcome !== "open");
    if (done) end("completed");
    else changed(run);
  }

  /** @param {Ending} ending */
  function end(ending) {
    if (run.ending) return;
    run.ending = ending;
    cancelNext();
    for (const giveUp of [...open.values()]) giveUp();
    const settled = run.samples.filter((s) => s.outcome !== "open");
    run.unfinished = run.samples.length - settled.length;
    run.samples = settled;
    changed(run);
  }

  tick();
  return () => end("stopped");
}

/**
 * The browser's own clock and requests.
 * @param {string} probe
 * @returns {Surroundings & {close: () => void}}
 */
export function browser(probe) {
  /** @type {Map<string, PerformanceResourceTiming>} */
  const timings = new Map();
  const keep = (/** @type {PerformanceEntry[]} */ list) => {
    for (const entry of list) timings.set(entry.name, /** @type {PerformanceResourceTiming} */ (entry));
  };
  const observer = new PerformanceObserver((list) => keep(list.getEntries()));
  observer.observe({ type: "resource" });

  /** @param {number} n */
  async function timing(n) {
    const url = new URL(`/api/connection/${probe}?n=${n}`, location.href).href;
    for (const wait of [false, true]) {
      // The entry may come a moment after the answer.
      if (wait) await new Promise((resolve) => setTimeout(resolve, 0));
      keep(observer.takeRecords());
      const entry = timings.get(url);
      timings.delete(url);
      if (entry) return entry;
    }
    return null;
  }

  return {
    now: () => performance.now(),
    after: (ms, then) => {
      const timer = setTimeout(then, ms);
      return () => clearTimeout(timer);
    },
    hidden: () => document.visibilityState === "hidden",
    take: async (n, signal) => {
      const sent = performance.now();
      const answer = await sampleConnection(probe, n, signal);
      const waited = performance.now() - sent;
      return measured(answer, waited, await timing(n));
    },
    close: () => {
      observer.disconnect();
      performance.clearResourceTimings();
    },
  };
}

/**
 * The browser's record of a request is more exact than our clock, which also counts the time until this page gets its
 * turn.
 * @param {Answer} answer
 * @param {number} waited
 * @param {PerformanceResourceTiming | null} entry
 * @returns {Taken}
 */
export function measured(answer, waited, entry) {
  if (!entry || !(entry.requestStart > 0) || !(entry.responseStart >= entry.requestStart)) {
    return { answer, ms: waited, waited, reused: null, protocol: "" };
  }
  return {
    answer,
    ms: entry.responseStart - entry.requestStart,
    waited: entry.responseStart - entry.fetchStart,
    reused: entry.connectStart === entry.connectEnd,
    protocol: entry.nextHopProtocol,
  };
}

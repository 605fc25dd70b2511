// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

// The parts of a page listen to it when they are loaded.
Object.assign(globalThis, { document: { addEventListener() {} } });
const { csv, tally, verdictOf } = await import("../assets/lib/samples.js");

/** @typedef {import("../assets/lib/sampling.js").Sample} Sample */

let n = 0;
/** @param {Sample["outcome"]} outcome @param {number | null} ms @param {Partial<Sample>} [more] @returns {Sample} */
const sample = (outcome, ms, more = {}) => ({
  n: n++,
  at: n * 100,
  outcome,
  ms,
  excluded: null,
  reused: true,
  protocol: "h2",
  why: "",
  ...more,
});

/** @param {Sample[]} samples @returns {import("../assets/lib/sampling.js").Run} */
const run = (...samples) => ({ samples, skipped: 0, unfinished: 0, ending: "completed", refusal: null });

/** @param {string} probe @param {Sample[]} samples */
const judged = (probe, ...samples) => verdictOf(probe, tally(run(...samples)));

test("only what counts is counted", () => {
  const t = tally(
    run(
      sample("answered", 900, { excluded: "warm-up" }),
      sample("late", null, { excluded: "background" }),
      sample("answered", 10),
      sample("late", 2500),
      sample("failed", null),
      sample("answered", 30),
      sample("open", null),
    ),
  );
  assert.equal(t.counted.length, 4);
  assert.deepEqual(
    [t.times.count, t.times.median, t.late.length, t.failed.length, t.missed, t.background],
    [2, 20, 1, 1, 2, 1],
  );
  assert.deepEqual(t.bursts, [{ start: 1, length: 2 }]);
});

test("the sentence says what the samples say", () => {
  assert.deepEqual(judged("ping"), { tone: "info", text: "No samples counted yet." });
  assert.deepEqual(judged("ping", sample("answered", 20), sample("answered", 30)), {
    tone: "good",
    text: "Median 25.0 ms over 2 samples, none late or failed.",
  });
  assert.deepEqual(judged("packet-loss", sample("answered", 20), sample("answered", 30)), {
    tone: "good",
    text: "None lost: 2 samples answered in time, median 25.0 ms.",
  });
  assert.deepEqual(judged("ping", sample("late", null), sample("failed", null)), {
    tone: "bad",
    text: "None of 2 samples was answered in time.",
  });
  assert.deepEqual(judged("ping", sample("late", 2400), sample("late", null)), {
    tone: "bad",
    text: "None of 2 samples was answered in time; 1 answer came later.",
  });
  assert.deepEqual(judged("ping", sample("failed", null)), {
    tone: "bad",
    text: "The one sample was not answered in time.",
  });
});

test("loss is a note below 10 %, a warning from there on, and a problem where nothing gets through", () => {
  const good = Array.from({ length: 18 }, () => sample("answered", 20));
  assert.deepEqual(judged("ping", ...good, sample("late", null)), {
    tone: "info",
    text: "Median 20.0 ms; 1 late of 19 samples.",
  });
  assert.deepEqual(judged("packet-loss", ...good, sample("late", null), sample("failed", null)), {
    tone: "warn",
    text: "10 % of 20 samples late or failed (1 late and 1 failed), median 20.0 ms.",
  });
  const lost = Array.from({ length: 18 }, () => sample("failed", null));
  assert.equal(judged("packet-loss", ...good, ...lost).tone, "warn");
  assert.equal(judged("packet-loss", ...good.slice(17), ...lost).tone, "warn");
  assert.equal(judged("packet-loss", ...lost).tone, "bad");
});

test("the CSV has every sample, and quotes what needs it", () => {
  const text = csv(
    run(
      sample("answered", 12.3456, { n: 0, at: -300, excluded: "warm-up", reused: false }),
      sample("failed", null, { n: 1, at: 0, reused: null, protocol: "", why: 'Busy, "really".' }),
    ),
  );
  assert.equal(
    text,
    [
      "number,sent_ms,outcome,time_ms,excluded,new_connection,protocol,error",
      "0,-300.0,answered,12.346,warm-up,yes,h2,",
      '1,0.0,failed,,,,,"Busy, ""really""."',
      "",
    ].join("\n"),
  );
});

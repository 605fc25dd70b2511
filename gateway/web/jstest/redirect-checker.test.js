// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

// The parts of a page listen to it from the start.
Object.assign(globalThis, { document: { addEventListener() {} } });

const { default: judge } = await import("../assets/tools/redirect-checker/facts.js");
const { findingOf, inFull, toneOf } = await import("../assets/lib/findings.js");

/** @type {any} */
const chain = {
  outcome: "final",
  finalUrl: "https://example.com/",
  finalStatus: 200,
  summary: "S.",
  clientRedirect: null,
  hops: [{ index: 0, url: "https://example.com/", status: 200, statusText: "", flags: [] }],
};

test("the facts of a chain have each step", () =>
  assert.deepEqual(judge.facts(chain)["Chain"], ["1. https://example.com/: 200"]));

for (const [state, tone] of Object.entries({ ok: "good", info: "info", warn: "warn", fail: "bad", unknown: "off" }))
  test(`a conclusion that is ${state} is ${tone}`, () => assert.equal(toneOf({ conclusion: { state } }), tone));

test("a finding by its code, and what to do about it", () => {
  const finding = (/** @type {string} */ code, /** @type {string | null} */ remedy) => ({
    ...{ code, severity: "warn", message: `${code}.`, remedy, subject: null },
  });
  const d = { findings: [finding("A", "Mend it."), finding("B", null), finding("A", null)] };
  assert.equal(inFull(findingOf(d, "A")), "A. Mend it.");
  assert.equal(inFull(findingOf(d, "B")), "B.");
  assert.equal(inFull(findingOf(d, "C")), "");
  assert.equal(findingOf(/** @type {any} */ ({}), "A"), undefined);
});

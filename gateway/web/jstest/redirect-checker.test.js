// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

// The parts of a page listen to it from the start.
Object.assign(globalThis, { document: { addEventListener() {} } });

const { default: judge, endTone, flagged } = await import("../assets/tools/redirect-checker/facts.js");

/** @param {string} outcome @param {number} status @param {string[]} [flags] */
const chain = (outcome, status, flags = []) => ({
  outcome,
  finalUrl: outcome === "final" ? "https://example.com/" : null,
  finalStatus: outcome === "final" ? status : null,
  summary: "S.",
  clientRedirect: null,
  hops: [{ index: 0, url: "https://example.com/", status, statusText: "", flags }],
});

/** @type {[any, string][]} */
const rows = [
  [chain("final", 200), "good"],
  [chain("final", 200, ["conflictingLocation"]), "bad"],
  [chain("final", 404), "warn"],
  [chain("final", 500), "bad"],
  [chain("loop", 302), "bad"],
  [chain("deadline", 302), "warn"],
  [chain("blocked", 302), "warn"],
];

for (const [d, tone] of rows)
  test(`the end of a chain is drawn as ${tone}: ${d.outcome}, ${d.hops[0].status}`, () =>
    assert.equal(endTone(d), tone));

test("a flag of any step", () => {
  assert.equal(flagged(chain("final", 200, ["userinfo"]), "userinfo"), true);
  assert.equal(flagged(chain("final", 200), "userinfo"), false);
});

test("the facts of a chain have each step", () =>
  assert.deepEqual(judge.facts(chain("final", 200))["Chain"], ["1. https://example.com/: 200"]));

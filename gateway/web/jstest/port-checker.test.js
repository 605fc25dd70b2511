// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

// The parts of a page listen to it from the start.
Object.assign(globalThis, { document: { addEventListener() {} } });

const { default: judge } = await import("../assets/tools/port-checker/facts.js");

/** @param {number} untried @param {...string} states @returns {any} */
const port = (untried, ...states) => ({
  host: "example.com",
  port: 443,
  service: "https",
  state: states.includes("open") ? "open" : states[0],
  untried,
  addresses: states.map((state, i) => ({
    address: `192.0.2.${i + 1}`,
    family: 4,
    state,
    responseTimeMs: null,
    reason: "Why not.",
  })),
});

test("the facts have each address", () => {
  const facts = judge.facts(port(0, "open", "skipped"));
  assert.equal(facts["192.0.2.1"], "open");
  assert.equal(facts["192.0.2.2"], "not tried");
});

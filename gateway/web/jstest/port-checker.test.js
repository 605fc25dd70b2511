// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

// The parts of a page listen to it from the start.
Object.assign(globalThis, { document: { addEventListener() {} } });

const { default: judge, others, untried } = await import("../assets/tools/port-checker/facts.js");

/** @param {number | undefined} untried @param {...string} states */
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

test("an address that was not tried is none with another state", () => {
  assert.deepEqual(
    others(port(0, "open", "closed", "skipped", "skipped")).map((a) => a.address),
    ["192.0.2.2"],
  );
  assert.deepEqual(others(port(0, "open", "skipped")), []);
});

test("addresses that are left", () => {
  assert.equal(untried(port(undefined, "open")), "");
  assert.equal(untried(port(0, "open")), "");
  assert.match(untried(port(1, "open")), /^1 more address /);
  assert.match(untried(port(2, "open")), /^2 more addresses /);
});

test("the facts have each address", () => {
  const facts = judge.facts(port(0, "open", "skipped"));
  assert.equal(facts["192.0.2.1"], "open");
  assert.equal(facts["192.0.2.2"], "not tried");
});

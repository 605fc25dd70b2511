// @ts-check
// What the report and the verdicts say of answers that were cut.

import assert from "node:assert/strict";
import { test } from "node:test";

// The parts of a page listen to it from the start.
Object.assign(globalThis, { document: { addEventListener() {} } });

const { missing } = await import("../assets/lib/overview.js");
const lookup = (await import("../assets/tools/dns-lookup/verdict.js")).default;

/** @param {string} title @param {object} data @returns {any} */
const answered = (title, data) => ({ title, slug: "x", concerns: [], stage: { state: "answered", reply: { ok: true, status: 200, data } } });

test("the report names the answers that were cut", () => {
  const checks = [answered("DNS lookup", { truncated: true }), answered("Ping", {}), answered("Port", { truncated: true })];
  assert.deepEqual(missing(checks), ["2 answers were too long and have been cut: DNS lookup and Port."]);
  assert.deepEqual(missing([answered("Ping", {})]), []);
});

test("a count of records that were cut is not told as all of them", () => {
  const types = ["A", "AAAA", "MX", "TXT", "CNAME", "NS", "SOA"];
  /** @param {boolean} truncated @returns {any} */
  const answer = (truncated) => ({
    domain: "example.com", errors: {}, records: { ...Object.fromEntries(types.map((t) => [t, []])), NS: ["a", "b"] },
    details: Object.fromEntries(types.map((t) => [t, { cnameChain: [], extendedErrors: [] }])), ...(truncated ? { truncated } : {}),
  });
  const told = (/** @type {boolean} */ truncated) => lookup.verdict(answer(truncated), { slug: "dns-lookup", input: "example.com", options: {} }).text;
  assert.equal(told(false), "example.com has 2 NS records.");
  assert.equal(told(true), "example.com has records of 1 type: NS; 2 records shown.");
});

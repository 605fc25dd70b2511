// @ts-check
// What the report says of answers that were cut.

import assert from "node:assert/strict";
import { test } from "node:test";

// The parts of a page listen to it from the start.
Object.assign(globalThis, { document: { addEventListener() {} } });

const { missing } = await import("../assets/lib/overview.js");

/** @param {string} title @param {object} data @returns {any} */
const answered = (title, data) => ({
  title,
  slug: "x",
  concerns: [],
  stage: { state: "answered", reply: { ok: true, status: 200, data } },
});

const target = /** @type {const} */ ({ text: "a.example", host: "a.example", kind: "domain" });

test("the report names the answers that were cut", () => {
  const checks = [
    answered("DNS lookup", { truncated: true }),
    answered("Ping", {}),
    answered("Port", { truncated: true }),
  ];
  assert.deepEqual(missing(checks, target), ["2 answers were too long and have been cut: DNS lookup and Port."]);
  assert.deepEqual(missing([answered("Ping", {})], target), []);
});

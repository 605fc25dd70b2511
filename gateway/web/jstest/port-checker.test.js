// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

// The parts of a page listen to it from the start.
Object.assign(globalThis, { document: { addEventListener() {} } });

const checker = (await import("../assets/tools/port-checker/verdict.js")).default;

/** @type {import("../assets/lib/view.js").Asked} */
const asked = { slug: "port-checker", input: "example.com:443", options: {} };

/** @param {number | undefined} untried @param {...string} states */
const port = (untried, ...states) => ({
  host: "example.com", port: 443, service: "https", state: states.includes("open") ? "open" : states[0], untried,
  addresses: states.map((state, i) => ({ address: `192.0.2.${i + 1}`, family: 4, state, responseTimeMs: null, reason: "Why not." })),
});

/** @type {[any, string][]} */
const rows = [
  [port(0, "open"), "Port 443 (usually https) of example.com is open."],
  [port(undefined, "open"), "Port 443 (usually https) of example.com is open."],
  [port(1, "open", "open"), "Port 443 (usually https) of example.com is open. 1 more address of example.com was not tried."],
  [port(2, "closed"), "Port 443 (usually https) of example.com is closed: the connection is refused. 2 more addresses of example.com were not tried."],
  [port(2, "open", "closed"), "Port 443 (usually https) of example.com is open, but only at 1 of 2 addresses. 2 more addresses of example.com were not tried."],
];

for (const [d, text] of rows) {
  test(`the verdict on a port: ${text}`, () => assert.equal(checker.verdict(d, asked).text, text));
}

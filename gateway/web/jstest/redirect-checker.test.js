// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

// The parts of a page listen to it from the start.
Object.assign(globalThis, { document: { addEventListener() {} } });

const checker = (await import("../assets/tools/redirect-checker/verdict.js")).default;

/** @type {import("../assets/lib/view.js").Asked} */
const asked = { slug: "redirect-checker", input: "https://example.com/", options: {} };

/** @param {number} status @param {string[]} flags */
const chain = (status, flags) => ({
  url: "https://example.com/", redirectCount: 0, totalMs: 12, clientRedirect: null, summary: "",
  outcome: status >= 300 ? "invalidLocation" : "final", finalUrl: status >= 300 ? null : "https://example.com/", finalStatus: status >= 300 ? null : status,
  hops: [{ index: 0, url: "https://example.com/", status, statusText: "", location: null, address: "192.0.2.1", responseTimeMs: 12,
    timings: { dnsMs: 1, connectMs: 2, tlsMs: null, firstByteMs: 3, totalMs: 12 }, flags }],
});

/** @type {[string, any, string, string][]} */
const rows = [
  ["a conflict", chain(302, ["temporary", "conflictingLocation"]), "bad", "example.com names conflicting destinations in one redirect. Browsers stop there and show an error."],
  ["no URL", chain(302, ["temporary"]), "bad", "example.com redirects to something that is not a valid URL."],
  ["a page with a conflict", chain(200, ["conflictingLocation"]), "bad",
    "example.com answers 200 without a redirect, but with conflicting Location headers, so browsers show an error instead."],
  ["a page", chain(200, []), "good", "example.com answers 200 without a redirect."],
];

for (const [name, d, tone, text] of rows) {
  test(`the verdict on a chain: ${name}`, () => {
    assert.deepEqual(checker.verdict(d, asked), { tone, text });
    assert.equal(checker.concerns(d, asked)[0]?.tone, tone === "bad" ? "bad" : undefined);
  });
}

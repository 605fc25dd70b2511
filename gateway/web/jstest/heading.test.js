// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { partsOf, ran } from "../assets/lib/heading.js";

/** @type {Record<string, [host: string, text: string, path: string]>} */
const targets = {
  "example.com": ["example.com", "example.com", ""],
  "EXAMPLE.com.": ["example.com", "example.com", ""],
  "bücher.example.com": ["xn--bcher-kva.example.com", "xn--bcher-kva.example.com", ""],
  "_dmarc.example.com": ["_dmarc.example.com", "_dmarc.example.com", ""],
  "192.0.2.1": ["192.0.2.1", "192.0.2.1", ""],
  "2001:DB8::1": ["2001:db8::1", "2001:db8::1", ""],
  "example.com:8443": ["example.com", "example.com:8443", ""],
  "[2001:db8::1]:443": ["2001:db8::1", "[2001:db8::1]:443", ""],
  as15169: ["AS15169", "AS15169", ""],
  15169: ["AS15169", "AS15169", ""],
  "https://example.com/": ["example.com", "https://example.com", ""],
  "https://example.com": ["example.com", "https://example.com", ""],
  "HTTP://Example.com:8080/?a=1": ["example.com", "http://example.com:8080", "/?a=1"],
  "https://[2001:db8::1]/a": ["2001:db8::1", "https://[2001:db8::1]", "/a"],
  "https://example.com/a#your-bank-was-hacked": ["example.com", "https://example.com", "/a"],
  "https://example.com/Your bank was hacked, call 1-800-555-0100": [
    "example.com",
    "https://example.com",
    "/Your%20bank%20was%20hacked,%20c…",
  ],
  "https://user:secret@example.com/a": ["example.com", "https://example.com", "/a"],
  [`https://example.com/${"a".repeat(31)}`]: ["example.com", "https://example.com", `/${"a".repeat(31)}`],
  [`https://example.com/${"a".repeat(32)}`]: ["example.com", "https://example.com", `/${"a".repeat(31)}…`],
  [`https://example.com/a?${"b".repeat(99)}`]: ["example.com", "https://example.com", `/a?${"b".repeat(29)}…`],
};

for (const [target, [host, text, path]] of Object.entries(targets))
  test(`${target} in headings and titles`, () => assert.deepEqual(partsOf(target), { host, text, path }));

test("an answer of a run shows that the target was accepted", () => {
  const answer = (/** @type {number} */ status) => ({ ok: false, status });
  for (const status of [502, 504]) assert.ok(ran(answer(status)), String(status));
  for (const status of [0, 400, 413, 429, 500, 501, 503]) assert.ok(!ran(answer(status)), String(status));
  assert.ok(ran({ ok: true, status: 200, data: /** @type {import("../assets/lib/view.js").Data} */ ({}) }));
});

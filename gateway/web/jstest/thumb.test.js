// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { all, spread } from "./paper.js";

spread();
const { thumb } = await import("../assets/lib/thumb.js");

/** The fills of a picture, each once. @param {any} picture */
const fills = (picture) => [...new Set(all(picture, (node) => node.tagName === "RECT").map((node) => node.attributes.get("class")))];

/** So many days from now. @param {number} days */
const day = (days) => new Date(Date.now() + days * 86400e3).toISOString();

/** @type {[string, boolean, number, number, string][]} */
const certificates = [
  ["trusted", true, -10, 80, "good"], ["refused for its name or its authority", false, -10, 80, "info"], ["expired", false, -90, -1, "bad"],
  ["not valid yet", false, 1, 90, "bad"], ["about to expire", true, -89, 1, "warn"],
];

for (const [name, authorized, from, to, tone] of certificates) {
  test(`the bar of a certificate that is ${name} is ${tone}`, () => {
    assert.deepEqual(fills(thumb("ssl-checker", { authorized, certificate: { validFrom: day(from), validTo: day(to) } })), [`fill-${tone}`, "fill-ink"]);
  });
}

test("a registration is green as long as it runs", () => {
  assert.deepEqual(fills(thumb("whois-lookup", { domain: { events: { registered: day(-500), expires: day(500) } } })), ["fill-good", "fill-ink"]);
});

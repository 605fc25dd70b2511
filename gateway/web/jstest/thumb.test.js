// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { all, spread } from "./paper.js";

spread();
const { thumb } = await import("../assets/lib/thumb.js");

/** The fills of a picture, each once. @param {any} picture */
const fills = (picture) => [
  ...new Set(all(picture, (node) => node.tagName === "RECT").map((node) => node.attributes.get("class"))),
];

/** So many days from now. @param {number} days */
const day = (days) => new Date(Date.now() + days * 86400e3).toISOString();

/** @type {[string, string][]} */
const tones = [
  ["ok", "good"],
  ["warn", "warn"],
  ["fail", "bad"],
  ["unknown", "off"],
];

for (const [state, tone] of tones) {
  test(`the bar of a time is ${tone} where the conclusion is ${state}`, () => {
    const conclusion = { state };
    const certificate = { validFrom: day(-10), validTo: day(80) };
    assert.deepEqual(fills(thumb("ssl-checker", { conclusion, certificate })), [`fill-${tone}`, "fill-ink"]);
    const domain = { events: { registered: day(-500), expires: day(500) } };
    assert.deepEqual(fills(thumb("whois-lookup", { conclusion, domain })), [`fill-${tone}`, "fill-ink"]);
  });
}

test("a network shows where the address is in it, and what is no IPv4 has no picture", () => {
  const network = { startAddress: "192.0.2.0", endAddress: "192.0.2.255" };
  const at = (/** @type {any} */ picture) => all(picture, (node) => node.tagName === "RECT")[1].attributes.get("x");
  assert.equal(at(thumb("ip-geolocation", { ip: "192.0.2.64", network })), String(118 / 4));
  assert.equal(
    at(thumb("asn-lookup", { query: "192.0.2.128", records: [{ prefix: "192.0.2.0/24" }] })),
    String(118 / 2),
  );
  for (const d of [
    { ip: "2001:db8::1", network: { startAddress: "2001:db8::", endAddress: "2001:db8::ffff" } },
    { ip: "192.0.2.1", network: null },
    { ip: "203.0.113.9", network },
  ])
    assert.equal(thumb("ip-geolocation", d), null);
  for (const d of [
    { query: "AS64496", records: [{ prefix: null }] },
    { query: "192.0.2.1", records: [] },
  ])
    assert.equal(thumb("asn-lookup", d), null);
});

test("types of record are there, absent or not known", () => {
  const picture = thumb("dns-lookup", {
    details: { A: {}, MX: {}, TXT: {} },
    errors: { MX: "ENODATA", TXT: "ETIMEOUT" },
  });
  assert.deepEqual(fills(picture), ["fill-1", "fill-soft", "fill-warn"]);
});

test("crawlers are welcome, kept out of a part or of all", () => {
  const crawlers = ["allowAll", "rules", "disallowAll"].map((effect) => ({ name: effect, effect }));
  assert.deepEqual(fills(thumb("robots-sitemap", { crawlers })), ["fill-good", "fill-info", "fill-warn"]);
});

test("an address that is down, and mail that does not arrive, are red", () => {
  const site = (/** @type {string} */ state) =>
    fills(thumb("uptime", { families: { ipv4: { state }, ipv6: { state } } }));
  assert.deepEqual(site("down"), ["fill-bad"]);
  assert.deepEqual(site("up"), ["fill-good"]);
  const mail = (/** @type {string} */ group, /** @type {string} */ severity) =>
    fills(
      thumb("email-dns-health", {
        findings: [{ code: "X", group, severity }],
        checks: Object.fromEntries(
          ["spf", "dmarc"].map((name) => [name, { status: "missing", issues: [{ code: "X", severity }] }]),
        ),
      }),
    );
  assert.deepEqual(mail("broken", "fail"), ["fill-bad"]);
  assert.deepEqual(mail("safer", "fail"), ["fill-warn"]);
  assert.deepEqual(mail("safer", "warn"), ["fill-warn"]);
  assert.deepEqual(mail("note", "info"), ["fill-soft"]);
});

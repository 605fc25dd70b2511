// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

// The parts of a page listen to it from the start.
Object.assign(globalThis, { document: { addEventListener() {} } });

const uptime = (await import("../assets/tools/uptime/verdict.js")).default;

/** @type {import("../assets/lib/view.js").Asked} */
const asked = { slug: "uptime", input: "http://example.com/", options: {} };

/** @param {"up" | "down" | "noAddress"} state */
const family = (state) => ({ state, address: "192.0.2.1", status: null, responseTimeMs: null, reason: null });

/** @param {...("up" | "down")} states */
const several = (...states) => ({ ...family("up"), addresses: states.map((state, i) => ({ address: `192.0.2.${i + 1}`, state, status: null, reason: null })) });

/** A site that is up, but for what is given. @param {object} fields */
const site = (fields) => ({
  url: "http://example.com/", online: true, verdict: "up", status: 200, statusText: "OK", responseTimeMs: 12, finalUrl: "http://example.com/",
  certificateValid: null, reason: null, families: { ipv4: family("up"), ipv6: family("up") }, ...fields,
});

const silent = { online: false, verdict: "down", status: null, statusText: null, responseTimeMs: null, finalUrl: null, families: { ipv4: family("down"), ipv6: family("down") } };

/** @type {[string, object, string, string][]} */
const rows = [
  ["up", {}, "good", "example.com is up: it answers 200 OK after 12.0 ms over IPv4 and IPv6."],
  ["no phrase", { status: 299, statusText: "" }, "good", "example.com is up: it answers 299 after 12.0 ms over IPv4 and IPv6."],
  ["a port", { url: "http://example.com:8080/" }, "good", "example.com:8080 is up: it answers 200 OK after 12.0 ms over IPv4 and IPv6."],
  ["server error", { online: false, verdict: "down", status: 503, statusText: "Service Unavailable", reason: "The server answered 503 Service Unavailable." }, "bad",
    "example.com is down: it answers 503 Service Unavailable."],
  ["refused", { ...silent, reason: "example.com refused the connection." }, "bad", "example.com is down. example.com refused the connection."],
  ["name servers", { ...silent, reason: "The name servers of example.com did not answer." }, "bad", "example.com is down. The name servers of example.com did not answer."],
  ["each family its own", { ...silent, reason: "Over IPv4: example.com refused the connection. Over IPv6: example.com did not accept a connection in time." }, "bad",
    "example.com is down. Over IPv4: example.com refused the connection. Over IPv6: example.com did not accept a connection in time."],
  ["no reason", silent, "bad", "example.com is down."],
  ["no address", { ...silent, reason: "example.com has no address.", families: { ipv4: family("noAddress"), ipv6: family("noAddress") } }, "bad",
    "example.com has no address. Without one there is no website."],
  ["a family and the certificate", { verdict: "degraded", certificateValid: false, families: { ipv4: family("up"), ipv6: family("down") } }, "bad",
    "example.com answers over IPv4, but not over IPv6, and its certificate is not valid."],
  ["not found", { verdict: "degraded", status: 404, statusText: "Not Found", reason: "The server answered 404 Not Found." }, "warn", "example.com answers, but with 404 Not Found."],
  ["certificate", { verdict: "degraded", certificateValid: false, reason: "The certificate of example.com is not valid: it has expired." }, "bad",
    "example.com answers, but its certificate is not valid."],
  ["one family", { verdict: "degraded", reason: "Over IPv6: example.com refused the connection.", families: { ipv4: family("up"), ipv6: family("down") } }, "warn",
    "example.com answers over IPv4, but not over IPv6."],
  ["redirects", { verdict: "degraded", status: 302, statusText: "Found", reason: "The site redirects more than 5 times." }, "warn",
    "example.com answers, but not as it should. The site redirects more than 5 times."],
  ["one family's page", { verdict: "degraded", reason: "Over IPv6: The server answered 404 Not Found." }, "warn",
    "example.com answers, but not as it should. Over IPv6: The server answered 404 Not Found."],
  ["a challenge", { verdict: "degraded", status: 403, statusText: "Forbidden", challenge: { vendor: "Cloudflare" } }, "warn",
    "example.com answers, but with 403 Forbidden. Cloudflare asks visitors to prove that they are human, which this service cannot do. The site itself may be fine."],
  ["a challenge with a server error", { online: false, verdict: "down", status: 503, statusText: "", challenge: { vendor: "Cloudflare" } }, "warn",
    "example.com answers 503. Cloudflare asks visitors to prove that they are human, which this service cannot do. The site itself may be fine."],
  ["one address", { verdict: "degraded", reason: "At 192.0.2.2: example.com refused the connection.", families: { ipv4: several("up", "down"), ipv6: family("up") } }, "warn",
    "example.com answers, but not at 192.0.2.2."],
  ["two addresses", { verdict: "degraded", families: { ipv4: several("down", "up", "down"), ipv6: family("up") } }, "warn",
    "example.com answers, but not at 192.0.2.1 and 192.0.2.3."],
  ["all addresses", { ...silent, families: { ipv4: { ...several("down", "down"), state: "down" }, ipv6: family("down") } }, "bad", "example.com is down."],
];

for (const [name, fields, tone, text] of rows) {
  test(`the verdict on a site: ${name}`, () => assert.deepEqual(uptime.verdict(site(fields), asked), { tone, text }));
}

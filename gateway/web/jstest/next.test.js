// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { failureTone, nextSteps, own } from "../assets/lib/next.js";

/** @param {string} kind @param {string} slug @param {string} input */
const steps = (kind, slug, input) =>
  nextSteps(kind, { slug, input, options: {} }).map(({ label, href }) => [label, href]);

test("where an address was wanted, the addresses of the name", () => {
  const want = [["Look up the addresses of example.com", "/tools/dns-lookup?input=example.com"]];
  assert.deepEqual(steps("address", "ip-geolocation", "example.com"), want);
  assert.deepEqual(steps("network", "asn-lookup", "example.com"), want);
  assert.deepEqual(steps("url", "uptime", "https://example.com/a"), want);
});

test("where a name was wanted, what is known of the address", () => {
  assert.deepEqual(steps("domain", "dns-lookup", "192.0.2.7"), [
    ["Look up 7.2.0.192.in-addr.arpa", "/tools/dns-lookup?input=7.2.0.192.in-addr.arpa"],
    ["Find the network of 192.0.2.7", "/tools/ip-geolocation?input=192.0.2.7"],
  ]);
  assert.deepEqual(steps("domain", "email-dns-health", "2001:db8::1"), [
    ["Find the network of 2001:db8::1", "/tools/ip-geolocation?input=2001%3Adb8%3A%3A1"],
  ]);
});

test("a missing port is one of four", () => {
  assert.deepEqual(
    steps("hostPort", "port-checker", "example.com").map(([label]) => label),
    ["Port 443", "Port 80", "Port 25", "Port 22"],
  );
  assert.equal(
    steps("hostPort", "port-checker", "2001:db8::1")[1][1],
    "/tools/port-checker?input=%5B2001%3Adb8%3A%3A1%5D%3A80",
  );
  assert.deepEqual(steps("hostPort", "port-checker", "example.com:444"), [
    ["Look up the addresses of example.com", "/tools/dns-lookup?input=example.com"],
  ]);
});

test("nothing is offered where nothing is recognised, and no page offers itself", () => {
  assert.deepEqual(steps("domain", "dns-lookup", "nothing at all"), []);
  assert.deepEqual(steps("domain", "dns-lookup", "example.com"), []);
});

test("what failed in this service is told from what failed at the target", () => {
  const failed = (/** @type {number} */ status) => own({ ok: false, status });
  for (const status of [0, 500, 503]) assert.equal(failed(status), true, String(status));
  for (const status of [400, 429, 502, 504]) assert.equal(failed(status), false, String(status));
});

/** @param {string} state */
const concluded = (state) => ({
  ok: false,
  status: 502,
  conclusion: /** @type {any} */ ({ state, code: "A", message: "A." }),
});

test("a failure with a conclusion has its colour, and says nothing of the target where it is unknown", () => {
  assert.deepEqual([failureTone(concluded("fail")), failureTone(concluded("unknown"))], ["bad", "off"]);
  assert.deepEqual([own(concluded("fail")), own(concluded("unknown"))], [false, true]);
});

test("red is the target's alone", () => {
  const tones = [400, 413, 502, 504, 0, 403, 500, 503, 429, 501].map((status) => failureTone({ ok: false, status }));
  assert.deepEqual(tones, ["bad", "bad", "bad", "bad", "warn", "warn", "warn", "warn", "info", "info"]);
});

// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { findingOfStatus, statusWords } from "../assets/tools/whois-lookup/status.js";
import { addressNumber, prefixRange, spanRange } from "../assets/lib/addresses.js";

// The parts of a page listen to it from the start.
Object.assign(globalThis, { document: { addEventListener() {} } });
const { heldBack, originName, rdapAddress } = await import("../assets/lib/network.js");

test("addresses are numbers", () => {
  for (const [text, want] of /** @type {[string, bigint][]} */ ([
    ["0.0.0.0", 0n],
    ["11.80.0.1", 0x0b500001n],
    ["255.255.255.255", 0xffffffffn],
    ["::", 0n],
    ["::1", 1n],
    ["2001:db8::", 0x20010db8n << 96n],
    ["2a10:90::1", (0x2a100090n << 96n) + 1n],
    ["1:2:3:4:5:6:7:8", 0x00010002000300040005000600070008n],
  ]))
    assert.equal(addressNumber(text), want, text);
  assert.throws(() => addressNumber("no address"));
});

test("a prefix is the range around its address", () => {
  assert.deepEqual(prefixRange("", "11.80.7.9/16"), {
    title: "",
    written: "11.80.7.9/16",
    start: addressNumber("11.80.0.0"),
    end: addressNumber("11.80.255.255"),
  });
  const wide = prefixRange("", "2001:db8::/32");
  assert.equal(wide.end - wide.start + 1n, 1n << 96n);
  const whole = prefixRange("", "0.0.0.0/0");
  assert.equal(whole.end, 0xffffffffn);
});

test("a range is written as its prefix where it is one", () => {
  assert.equal(spanRange("", "11.80.0.0", "11.80.255.255", ["11.80.0.0/16"]).written, "11.80.0.0/16");
  assert.equal(
    spanRange("", "11.80.0.0", "11.81.0.255", ["11.80.0.0/16", "11.81.0.0/24"]).written,
    "11.80.0.0 – 11.81.0.255",
  );
});

test("Team Cymru keeps an address under its octets or nibbles, last first", () => {
  assert.equal(originName("216.90.108.31"), "31.108.90.216.origin.asn.cymru.com");
  assert.equal(originName("2001:4860:b002::68"), "0.0.0.0.2.0.0.b.0.6.8.4.1.0.0.2.origin6.asn.cymru.com");
});

test("the RDAP redirector is asked over HTTPS", () => {
  assert.equal(new URL(rdapAddress("domain", "example.com")).href, rdapAddress("domain", "example.com"));
  assert.equal(new URL(rdapAddress("autnum", 15169)).pathname, "/autnum/15169");
});

test("a status is the same one in every spelling", () => {
  for (const [status, words] of [
    ["client transfer prohibited", "another registrar"],
    ["serverDeleteProhibited", "deleted"],
    ["ok", "without restrictions"],
    ["constructor", "Not a standard"],
    ["something else", "Not a standard"],
  ])
    assert.ok(statusWords(status).includes(words), status);
});

test("what is wrong with a status is what its finding says", () => {
  for (const [status, code] of [
    ["clientHold", "STATUS_HOLD"],
    ["server hold", "STATUS_HOLD"],
    ["server renew prohibited", "STATUS_RENEW_PROHIBITED"],
    ["redemption period", "STATUS_REDEMPTION"],
  ]) {
    assert.equal(findingOfStatus(/** @type {any} */ ({ findings: [{ code }] }), status)?.code, code, status);
    assert.equal(statusWords(status), "", status);
  }
  assert.equal(findingOfStatus(/** @type {any} */ ({ findings: [{ code: "EXPIRED" }] }), "constructor"), undefined);
});

test("what is held back is told reason by reason", () => {
  assert.deepEqual(heldBack([]), []);
  assert.deepEqual(
    heldBack([
      { name: "Registrant Name", reason: "Server policy" },
      { name: "Registrant Email", reason: null },
      { name: "Registrant Phone", reason: "Server policy" },
      { name: null, reason: "Personal data" },
    ]),
    ["Registrant Name, Registrant Phone (Server policy)", "Registrant Email, no reason given", "data (Personal data)"],
  );
});

// @ts-check
// What the page of email-dns-health shows beside its panels: exchanges, DKIM keys that were found, and BIMI.

import assert from "node:assert/strict";
import { test } from "node:test";

import { spread, tagged } from "./paper.js";

spread();
const { bimi, exchanges, keysFound } = await import("../assets/tools/email-dns-health/hosts.js");
const view = (await import("../assets/tools/email-dns-health/view.js")).default;

/** The part of an answer that a case needs. @param {object} d @returns {any} */
const data = (d) => d;

const host = {
  exchange: "a.example.com",
  priority: 10,
  addresses: ["192.0.2.1", "192.0.2.2"],
  tlsa: [],
  tlsaAuthenticated: null,
  addressNames: [{ address: "192.0.2.1", hostname: "mx.example.net", confirmed: true }],
};

/** @param {...object} hosts */
const rowsOf = (...hosts) =>
  tagged(exchanges(data({ checks: { mx: { hosts } } })), "tbody")[0].children.map(
    (/** @type {any} */ row) => row.children,
  );

test("an exchange leads to the check of its TLS", () => {
  const shown = exchanges(data({ checks: { mx: { hosts: [host] } } }));
  assert.match(shown.textContent ?? "", /no mail server was contacted/);
  assert.equal(tagged(shown, "a")[0].attributes.get("href"), "/tools/ssl-checker?input=a.example.com%3A25");
});

test("what has no address cannot be asked", () => {
  const [[name, , addresses, tlsa]] = rowsOf({
    exchange: "",
    priority: 0,
    addresses: [],
    addressNames: [],
    tlsa: [],
    tlsaAuthenticated: null,
  });
  assert.equal(tagged(name, "a").length, 0);
  assert.equal(addresses.textContent + tlsa.textContent, "nonenone");
});

test("names of addresses", () => {
  /** @type {[object, RegExp][]} */
  const cases = [
    [{ hostname: "mx.example.net", confirmed: true }, /mx\.example\.net confirmed/],
    [{ hostname: "mx.example.net", confirmed: false }, /mx\.example\.net not confirmed/],
    [{ hostname: "mx.example.net", confirmed: null }, /mx\.example\.net not known/],
    [{ hostname: null, confirmed: false }, /no name/],
    [{ hostname: null, confirmed: null }, /not known/],
  ];
  for (const [name, want] of cases) {
    const [[, , addresses]] = rowsOf({ ...host, addressNames: [{ address: "192.0.2.2", ...name }] });
    assert.match(addresses.textContent, want);
  }
});

test("TLSA records, signed or not", () => {
  const tlsa = [{ usage: 3, selector: 1, matching: 1, data: "ab" }];
  assert.match(rowsOf({ ...host, tlsa, tlsaAuthenticated: true })[0][3].textContent, /^signed3 1 1 ab/);
  assert.match(rowsOf({ ...host, tlsa, tlsaAuthenticated: false })[0][3].textContent, /^no DNSSEC seen3 1 1 ab/);
});

test("an answer that was kept from before is drawn as it was", () => {
  const { exchange, priority, addresses } = host;
  assert.match(rowsOf({ exchange, priority, addresses })[0][2].textContent, /192\.0\.2\.1.*192\.0\.2\.2/);
  assert.equal(keysFound(data({ domain: "example.com", checks: { dkim: { selector: null } } })), null);
  assert.equal(bimi(data({})), null);
  const before = { mx: { hosts: [{ exchange, priority, addresses }], nullMx: false }, dkim: { selector: null } };
  assert.equal(
    view.terminal(
      { slug: "email-dns-health", input: "example.com", options: {} },
      data({ domain: "example.com", checks: before }),
    ).length,
    3,
  );
});

test("the keys that were found lead to their check", () => {
  const found = [{ selector: "k1", cname: "dkim.example.net", keyType: "rsa", keyBits: 1024 }];
  const shown = keysFound(data({ domain: "example.com", checks: { dkim: { tried: ["google", "k1"], found } } }));
  assert.match(shown?.textContent ?? "", /2 common selectors.*rsa, 1024 bits.*dkim\.example\.net/);
  assert.equal(
    tagged(shown, "a")[0].attributes.get("href"),
    "/tools/email-dns-health?input=example.com&dkimSelector=k1",
  );
});

test("no key is not told as no DKIM", () => {
  const shown = keysFound(data({ domain: "example.com", checks: { dkim: { tried: ["google"], found: [] } } }));
  assert.match(shown?.textContent ?? "", /We tried 1 common selector and found no key/);
  assert.equal(keysFound(data({ domain: "example.com", checks: { dkim: { tried: [], found: [] } } })), null);
});

test("BIMI", () => {
  const record = {
    record: "v=BIMI1; l=",
    logo: null,
    evidence: null,
    foundAt: "example.com",
    summary: "No logo.",
    issues: [{ code: "X", severity: "info", message: "Why.", reference: "" }],
  };
  assert.match(bimi(data({ bimi: record, bimiReason: null }))?.textContent ?? "", /No logo\..*Why\..*v=BIMI1; l=/);
  assert.match(bimi(data({ bimi: null, bimiReason: "There are 2." }))?.textContent ?? "", /There are 2\./);
});

test("a name of a stranger's is quoted in the command", () => {
  const mx = { hosts: [{ ...host, exchange: "a$(id).example.com" }], nullMx: false };
  const asked = { slug: "email-dns-health", input: "example.com", options: {} };
  const [, , mine] = view.terminal(asked, data({ domain: "example.com", checks: { mx, dkim: { selector: null } } }));
  assert.equal(mine.command, "dig +noall +answer '_25._tcp.a$(id).example.com' TLSA -x 192.0.2.1");
});

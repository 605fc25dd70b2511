// @ts-check
// What the page of dns-lookup says of records, beyond showing them.

import assert from "node:assert/strict";
import { test } from "node:test";

// The parts of a page listen to it from the start.
Object.assign(globalThis, { document: { addEventListener() {} } });

const { label, meaningOf } = await import("../assets/tools/dns-lookup/explain.js");
const { mailbox } = await import("../assets/tools/dns-lookup/mailbox.js");
const { groups, titles, typesOf, written } = await import("../assets/tools/dns-lookup/types.js");
const view = (await import("../assets/tools/dns-lookup/view.js")).default;

const asked = { slug: "dns-lookup", input: "example.com", options: {} };

/**
 * An answer with these records and errors. @param {Record<string, any[]>} records @param {Record<string, string>}
 * [errors] @returns {any}
 */
function answer(records, errors = {}) {
  const types = [...Object.keys(records), ...Object.keys(errors)];
  return {
    domain: "example.com",
    errors,
    records: Object.fromEntries(types.map((t) => [t, records[t] ?? []])),
    details: Object.fromEntries(
      types.map((t) => [t, { cnameChain: [], extendedErrors: [], ttl: 300, authenticated: false }]),
    ),
  };
}

test("each of the twenty types has a title and is in one group", () => {
  const all = "A AAAA MX TXT CNAME NS SOA CAA SRV HTTPS SVCB DS DNSKEY TLSA NAPTR PTR SSHFP URI LOC HINFO"
    .split(" ")
    .sort();
  assert.deepEqual(Object.keys(titles).sort(), all);
  assert.deepEqual(groups.flatMap(([, types]) => types).sort(), all);
});

test("an answer's types are in one order, whatever theirs is", () => {
  assert.deepEqual(typesOf(answer({ TXT: [], CAA: [], A: [], MX: [] })), ["A", "MX", "TXT", "CAA"]);
});

test("records in a line", () => {
  const d = answer({
    MX: [{ exchange: "", priority: 0 }],
    A: ["192.0.2.1"],
    SRV: [{ text: "0 0 0 ." }],
    SOA: [{ nsname: "a", hostmaster: "b", serial: 1 }],
  });
  assert.deepEqual(
    /** @type {const} */ (["MX", "A", "SRV", "SOA"]).map((t) => written(d, t)),
    [["0 ."], ["192.0.2.1"], ["0 0 0 ."], ["a b 1"]],
  );
});

/** @type {[string, import("../assets/tools/dns-lookup/types.js").Type, any[], string][]} */
const meanings = [
  [
    "HTTP/3",
    "HTTPS",
    [{ priority: 1, target: "", params: { alpn: "h3,h2" } }],
    "HTTP/3 is offered through the HTTPS record: browsers may use it from the first connection.",
  ],
  [
    "HTTPS without it",
    "HTTPS",
    [{ priority: 1, target: "", params: { alpn: "h2", ech: "AEX", port: "8443" } }],
    "Browsers learn before they connect that the site has HTTPS, and use it at once. Browsers can hide the " +
      "site’s name from the network (Encrypted Client Hello). They connect to port 8443.",
  ],
  [
    "two ports",
    "HTTPS",
    [
      { priority: 1, target: "", params: { alpn: "h2" } },
      { priority: 2, target: "", params: { port: "8443" } },
    ],
    "Browsers learn before they connect that the site has HTTPS, and use it at once. They connect to ports 443 " +
      "and 8443.",
  ],
  [
    "an alias",
    "HTTPS",
    [{ priority: 0, target: "cdn.example.net", params: {} }],
    "An alias: browsers connect to cdn.example.net instead.",
  ],
  ["no service", "SRV", [{ target: "" }], "The service is not offered here."],
  ["no mail", "MX", [{ exchange: "", priority: 0 }], "This domain accepts no mail (null MX)."],
  ["texts", "TXT", ["v=spf1 -all"], ""],
];
for (const [name, type, records, want] of meanings) {
  test(`what it means: ${type}, ${name}`, () => assert.equal(meaningOf(answer({ [type]: records }), type), want));
}

test("labels", () => {
  for (const [type, record, want] of /** @type {[import("../assets/tools/dns-lookup/types.js").Type, any, any][]} */ ([
    ["DNSKEY", { keyTag: 2371, algorithm: 13, flags: 257 }, "key 2371, ECDSA P-256, key-signing key"],
    ["DNSKEY", { keyTag: 1, algorithm: 200, flags: 256 }, "key 1, algorithm 200"],
    ["DS", { keyTag: 1, algorithm: 8 }, "key 1, RSA/SHA-256"],
    ["TLSA", { usage: 3 }, "DANE-EE: the certificate or key itself"],
    ["TLSA", { usage: 255 }, undefined],
    ["TXT", "google-site-verification=x", "verification token (google)"],
    ["A", "192.0.2.1", undefined],
  ]))
    assert.equal(label({ [type]: [record] }, type, 0), want);
});

test("the commands ask for the types that were asked for", () => {
  const lines = (/** @type {any} */ d) => view.terminal(asked, d).map((c) => [c.label, c.command]);
  assert.deepEqual(lines(answer({ CAA: [], A: [] }))[0], [
    "All 2 types",
    "dig +noall +answer example.com A example.com CAA",
  ]);
  assert.deepEqual(lines(answer({ CAA: [] })), [
    ["Records of type CAA", "dig +noall +answer example.com CAA"],
    [
      "One type, with status code and signatures, from a resolver of your choice",
      "dig @1.1.1.1 +dnssec example.com CAA",
    ],
  ]);
  const [[, many]] = lines(answer(Object.fromEntries(Object.keys(titles).map((t) => [t, []]))));
  assert.match(
    many,
    /^for type in A AAAA CNAME MX NS TXT SOA .* HINFO; do dig \+noall \+answer example\.com "\$type"; done$/,
  );
});

test("a zone’s contact is an e-mail address", () => {
  const rows = [
    ["hostmaster.example.com", "hostmaster@example.com"],
    ["john\\.doe.dns.icann.org", "john.doe@dns.icann.org"],
    ["dns-admin+x.example", "dns-admin+x@example"],
    [".", "."],
    ["", ""],
    ["lonely", "lonely"],
    ["a\\@b.example.com", "a\\@b.example.com"],
    ["a\\046b.example.com", "a\\046b.example.com"],
    ["a b.example.com", "a b.example.com"],
    ["a\\..example.com", "a\\..example.com"],
    ["a.exam\\.ple.com", "a.exam\\.ple.com"],
    ["<img src=x>.example.com", "<img src=x>.example.com"],
  ];
  for (const [name, want] of rows) assert.equal(mailbox(name), want);
});

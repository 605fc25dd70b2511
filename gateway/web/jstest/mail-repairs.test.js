// @ts-check
import assert from "node:assert/strict";
import test from "node:test";

import { repairs } from "../assets/tools/email-dns-health/repairs.js";

const now = new Date("2026-11-21T12:00:00Z");

/** An answer in order, with what a case changes. @param {Record<string, object>} [change] @returns {any} */
function answer(change = {}) {
  const mx = {
    status: "pass",
    issues: [],
    nullMx: false,
    hosts: [
      { exchange: "a.example.com", priority: 10 },
      { exchange: "b.example.com", priority: 20 },
    ],
  };
  const spf = {
    status: "pass",
    issues: [],
    record: "v=spf1 mx -all",
    all: "-all",
    lookups: 1,
    voidLookups: 0,
    tree: {
      children: [
        { term: "mx", lookups: 1 },
        { term: "-all", lookups: 0 },
      ],
    },
  };
  const dmarc = {
    status: "pass",
    issues: [],
    record: "v=DMARC1; p=reject; rua=mailto:d@example.com",
    foundAt: "example.com",
  };
  const mtaSts = { status: "pass", issues: [], mode: "enforce", maxAge: 1209600 };
  const tlsRpt = { status: "pass", issues: [] };
  const checks = { mx, spf, dmarc, mtaSts, tlsRpt };
  return {
    domain: "example.com",
    checks: Object.fromEntries(Object.entries(checks).map(([key, check]) => [key, { ...check, ...change[key] }])),
  };
}

/** @param {Record<string, object>} change */
const texts = (change) => repairs(answer(change), now).map((r) => `${r.name} ${r.type} ${r.text}`);

const missing = { status: "missing", record: null };
const noMail = { status: "info", nullMx: true, hosts: [] };
const sendsNothing = { record: "v=spf1 -all", all: "-all", tree: { children: [{ term: "-all", lookups: 0 }] } };

test("what is in order needs nothing", () => {
  assert.deepEqual(texts({}), []);
});

test("a domain that does not exist gets no advice", () => {
  assert.deepEqual(
    texts({ mx: { status: "fail", hosts: [], issues: [{ code: "DOMAIN_NOT_FOUND" }] }, spf: missing, dmarc: missing }),
    [],
  );
});

test("a domain without MX is advised to say that it takes no mail", () => {
  const self = { status: "warn", hosts: [{ exchange: "example.com", priority: 0 }], issues: [{ code: "MX_IMPLICIT" }] };
  assert.deepEqual(texts({ mx: self, spf: missing, dmarc: missing }), [
    "example.com MX 0 .",
    "example.com TXT v=spf1 -all",
    "_dmarc.example.com TXT v=DMARC1; p=reject",
  ]);
  assert.deepEqual(texts({ mx: { status: "missing", hosts: [] } }), ["example.com MX 0 ."]);
});

test("SPF", () => {
  assert.deepEqual(texts({ spf: missing }), ["example.com TXT v=spf1 mx ~all"]);
  assert.deepEqual(texts({ spf: missing, mx: noMail }), ["example.com TXT v=spf1 -all"]);
  assert.deepEqual(texts({ spf: missing, mx: { status: "error", hosts: [] } }), [], "where mail goes is not known");
  assert.deepEqual(texts({ spf: { record: "v=spf1 ip4:192.0.2.1 +all" } }), [
    "example.com TXT v=spf1 ip4:192.0.2.1 ~all",
  ]);
  assert.deepEqual(texts({ spf: { record: "v=spf1 include:all.example.org all" } }), [
    "example.com TXT v=spf1 include:all.example.org ~all",
  ]);
  assert.deepEqual(texts({ spf: { record: "v=spf1 +all" } }), ["example.com TXT v=spf1 mx ~all"]);
  assert.deepEqual(texts({ spf: { record: "v=spf1 mx", issues: [{ code: "SPF_NO_ALL" }] } }), [
    "example.com TXT v=spf1 mx ~all",
  ]);
  assert.deepEqual(
    texts({ spf: { record: "v=spf1 redirect=example.org", all: "+all" } }),
    [],
    "the other record is at fault",
  );
});

test("what was cut is not offered as a record", () => {
  assert.deepEqual(texts({ spf: { record: "v=spf1 ip4:192.0.2.1 +all…", truncated: true } }), []);
  assert.deepEqual(
    texts({ dmarc: { status: "warn", record: "v=DMARC1; p=none; rua=mailto:d@exam…", truncated: true } }),
    [],
  );
  const more = { hosts: [{ exchange: "a.example.com", priority: 10 }], truncated: true };
  assert.deepEqual(texts({ mx: more, mtaSts: missing }), [], "the policy would shut the others out");
});

test("too many lookups are counted by term, and no record is made up", () => {
  const children = [
    { term: "a", lookups: 1 },
    { term: "include:x.example", lookups: 9 },
    { term: "a", lookups: 1 },
  ];
  const [only] = repairs(answer({ spf: { lookups: 11, tree: { children } } }), now);
  assert.match(
    only.why,
    /11 DNS lookups; at most 10 are allowed\. Most expensive: include:x\.example \(9\), a \(2\)\./,
  );
  assert.equal(only.text, undefined);
});

test("a shorter SPF record is offered with its parts before it", () => {
  const suggestion = {
    record: "v=spf1 include:_spf1.example.com -all",
    parts: [{ name: "_spf1.example.com", record: "v=spf1 ip4:192.0.2.1 -all" }],
    lookups: 1,
    notes: ["Written as addresses: a."],
  };
  const spf = {
    lookups: 12,
    tree: {
      children: [
        { term: "a", lookups: 1 },
        { term: "include:x.example", lookups: 11 },
      ],
    },
    suggestion,
  };
  assert.deepEqual(texts({ spf }), [
    "_spf1.example.com TXT v=spf1 ip4:192.0.2.1 -all",
    "example.com TXT v=spf1 include:_spf1.example.com -all",
  ]);
  const main = repairs(answer({ spf }), now)[1];
  assert.equal(main.why, "Lets the same senders pass, with 1 DNS lookup (at most 10) and 37 characters (at most 450).");
  assert.deepEqual(main.notes, [
    "Written as addresses: a.",
    "Better still, remove senders that you no longer use. Most expensive: include:x.example (11), a (1).",
  ]);
  assert.deepEqual(
    repairs(answer({ spf: { suggestion: { ...suggestion, parts: [] } } }), now)[0].notes,
    suggestion.notes,
    "a record that is long alone has no senders to blame",
  );
});

test("terms that name nothing are left out", () => {
  const children = [
    { term: "a:x", void: true },
    { term: "mx", void: false },
  ];
  assert.deepEqual(texts({ spf: { record: "v=spf1 a:x mx -all", voidLookups: 3, tree: { children } } }), [
    "example.com TXT v=spf1 mx -all",
  ]);
});

test("DMARC", () => {
  assert.deepEqual(texts({ dmarc: missing }), [
    "_dmarc.example.com TXT v=DMARC1; p=none; rua=mailto:dmarc@example.com",
  ]);
  assert.deepEqual(texts({ dmarc: missing, mx: noMail, spf: sendsNothing }), [
    "_dmarc.example.com TXT v=DMARC1; p=reject",
  ]);
  assert.deepEqual(texts({ dmarc: { record: "v=DMARC1; p=none; t=y; sp=none" } }), [
    "_dmarc.example.com TXT v=DMARC1; p=quarantine; sp=none",
  ]);
  assert.deepEqual(texts({ dmarc: { record: "v=DMARC1; p=reject;", issues: [{ code: "DMARC_NO_REPORTS" }] } }), [
    "_dmarc.example.com TXT v=DMARC1; p=reject; rua=mailto:dmarc@example.com",
  ]);
  assert.deepEqual(
    texts({ dmarc: { record: "v=DMARC1; p=none", foundAt: "com" } }),
    [],
    "a parent's record is not the domain's to change",
  );
  assert.deepEqual(
    texts({ dmarc: { ...missing, issues: [{ code: "DMARC_LEADING_BLANK" }] } }),
    [],
    "the record that is there wants correcting",
  );
  assert.deepEqual(texts({ dmarc: { ...missing, issues: [{ code: "DMARC_VERSION" }] } }), []);
});

test("MTA-STS names every exchange that has a name", () => {
  const hosts = [
    { exchange: "a.example.com" },
    { exchange: "192.0.2.1" },
    { exchange: "" },
    { exchange: "a.example.com" },
  ];
  const [only] = repairs(answer({ mx: { hosts }, mtaSts: { ...missing, mode: null, maxAge: null } }), now);
  assert.equal(only.text, "v=STSv1; id=20261121120000");
  assert.deepEqual(only.file, [
    "https://mta-sts.example.com/.well-known/mta-sts.txt",
    "version: STSv1\nmode: testing\nmx: a.example.com\nmax_age: 1209600\n",
  ]);
  assert.match(
    repairs(answer({ mtaSts: { status: "warn", mode: "testing" } }), now)[0].file?.[1] ?? "",
    /mode: enforce/,
  );
  assert.deepEqual(texts({ mtaSts: { status: "fail", mode: null, issues: [{ code: "MTASTS_CERTIFICATE" }] } }), []);
});

test("TLS reporting", () => {
  assert.deepEqual(texts({ tlsRpt: missing }), [
    "_smtp._tls.example.com TXT v=TLSRPTv1; rua=mailto:tls-reports@example.com",
  ]);
  assert.deepEqual(texts({ tlsRpt: missing, mx: noMail }), []);
});

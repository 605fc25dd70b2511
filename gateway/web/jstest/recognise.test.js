// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { clean } from "../assets/lib/clean.js";
import { asksOfDomain, recognise } from "../assets/lib/recognise.js";

/** @typedef {[entered: string, kind: string | null, text?: string]} Row */

/** @param {string} name @param {Row[]} rows */
function meanings(name, rows) {
  test(name, () => {
    const got = rows.map(([entered]) => {
      const found = recognise(entered);
      return found ? [entered, found.kind, found.text] : [entered, null];
    });
    assert.deepEqual(got, rows);
  });
}

meanings("each kind by itself", [
  ["example.com", "domain", "example.com"],
  ["EXAMPLE.Com.", "domain", "example.com"],
  ["  www.example.co.uk\n", "domain", "www.example.co.uk"],
  ["münchen.de", "domain", "münchen.de"],
  ["xn--mnchen-3ya.de", "domain", "xn--mnchen-3ya.de"],
  ["例え.テスト", "domain", "例え.テスト"],
  ["example。com", "domain", "example.com"],
  ["_dmarc.example.com", "domain", "_dmarc.example.com"],
  ["*.example.com", "domain", "example.com"],
  ["localhost", "domain", "localhost"],
  ["https://example.com", "url", "https://example.com/"],
  ["HTTPS://Example.COM/Path?Q=1#top", "url", "https://example.com/Path?Q=1"],
  ["http://example.com:8080/x", "url", "http://example.com:8080/x"],
  ["https://example.com?x=1", "url", "https://example.com/?x=1"],
  ["https://example.com:/x", "url", "https://example.com/x"],
  ["https://[2001:DB8::1]:8443/x", "url", "https://[2001:db8::1]:8443/x"],
  ["http://localhost:3000/", "url", "http://localhost:3000/"],
  ["example.com/path", "url", "https://example.com/path"],
  ["example.com:8443/path", "url", "https://example.com:8443/path"],
  ["example.com:8080/path", "url", "http://example.com:8080/path"],
  ["//example.com/x", "url", "https://example.com/x"],
  ["//example.com", "url", "https://example.com/"],
  ["bob@example.com", "email", "bob@example.com"],
  ["Bob.O'Brien+x@EXAMPLE.com", "email", "Bob.O'Brien+x@example.com"],
  ["mailto:bob@example.com?subject=hello", "email", "bob@example.com"],
  ["@example.com", "domain", "example.com"],
  ["bob@[192.0.2.1]", "address", "192.0.2.1"],
  ["192.0.2.1", "address", "192.0.2.1"],
  ["127.0.0.1", "address", "127.0.0.1"],
  ["192.0.2.1/24", "address", "192.0.2.1"],
  ["[192.0.2.1]", "address", "192.0.2.1"],
  ["2001:DB8::1", "address", "2001:db8::1"],
  ["[2001:db8::1]", "address", "2001:db8::1"],
  ["2001:db8::/32", "address", "2001:db8::"],
  ["fe80::1%eth0", "address", "fe80::1"],
  ["[fe80::1%25eth0]", "address", "fe80::1"],
  ["::1", "address", "::1"],
  ["::ffff:192.0.2.1", "address", "::ffff:192.0.2.1"],
  ["example.com:443", "hostPort", "example.com:443"],
  ["example.com:99999", "hostPort", "example.com:99999"],
  ["192.0.2.1:53", "hostPort", "192.0.2.1:53"],
  ["[2001:db8::1]:443", "hostPort", "[2001:db8::1]:443"],
  ["example.com 25", "hostPort", "example.com:25"],
  ["AS15169", "asn", "AS15169"],
  ["as15169", "asn", "AS15169"],
  ["as 15169", "asn", "AS15169"],
  ["ASN 15169", "asn", "AS15169"],
  ["15169", "asn", "AS15169"],
]);

meanings("what is none of them", [
  ["", null],
  [" \n", null],
  ["example", null],
  ["example.", null],
  [".com", null],
  ["example.c", null],
  ["exam ple", null],
  ["-example.com", null],
  ["example-.com", null],
  ["example..com", null],
  ["1.2.3", null],
  ["v1.2.3", null],
  ["1.2.3-beta", null],
  ["1.2.3.4.5", null],
  ["256.1.1.1", null],
  ["e.g.", null],
  ["12:30:45", null],
  ["00:1a:2b:3c:4d:5e", null],
  ["std::cout", null],
  ["::", null],
  ["1::2::3", null],
  ["1:2:3:4:5:6:7:8:9", null],
  ["AS", null],
  ["AS4294967296", null],
  ["file:///etc/hosts", null],
  ["https://", null],
  ["and/or", null],
  ["@someone", null],
  ["we saw as 5 people left", null],
  ["open report.pdf and main.go:12, please", null],
  ["it was down.Please look", null],
]);

meanings("both sides of each boundary", [
  ["255.255.255.255", "address", "255.255.255.255"],
  ["255.255.255.256", null],
  ["1:2:3:4:5:6:7:8", "address", "1:2:3:4:5:6:7:8"],
  ["1:2:3:4:5:6:7", null],
  ["1:2:3:4:5:6:7::", "address", "1:2:3:4:5:6:7::"],
  ["1:2:3:4:5:6:7::8", null],
  ["4294967295", "asn", "4294967295"],
  ["4294967296", null],
  ["16777215", "asn", "AS16777215"],
  // Digits that may be an address in decimal stay what they are: the API asks which.
  ["16777216", "asn", "16777216"],
  ["AS16777216", "asn", "AS16777216"],
  [`${"a".repeat(63)}.com`, "domain", `${"a".repeat(63)}.com`],
  [`${"a".repeat(64)}.com`, null],
  [`${"a".repeat(49)}.`.repeat(5) + "com", "domain", `${"a".repeat(49)}.`.repeat(5) + "com"],
  [`${"a".repeat(50)}.`.repeat(5) + "com", null],
  ["report.pdf", "domain", "report.pdf"],
  ["see report.pdf", null],
  ["see install.sh", "domain", "install.sh"],
]);

meanings("something in a sentence", [
  ["please check https://example.com/x?y=1, it is down!", "url", "https://example.com/x?y=1"],
  ["Is http://example.com/a.b. up?", "url", "http://example.com/a.b"],
  ["<https://example.com/x>", "url", "https://example.com/x"],
  ["(see https://example.com/wiki/A_(b))", "url", "https://example.com/wiki/A_(b)"],
  ["https://example.com/wiki/A_(b)", "url", "https://example.com/wiki/A_(b)"],
  ["[a link](https://example.com/x)", "url", "https://example.com/x"],
  ["[https://example.com/x](https://example.com/x)", "url", "https://example.com/x"],
  ["**https://example.com/x**, they say", "url", "https://example.com/x"],
  ['href="https://example.com/x"', "url", "https://example.com/x"],
  ["url=https://example.com/x", "url", "https://example.com/x"],
  ["curl -I 'https://example.com/x'", "url", "https://example.com/x"],
  ["https://example.com,https://example.org", "url", "https://example.com/"],
  ["(example.com)", "domain", "example.com"],
  ["“example.com”, ‘example.org’", "domain", "example.com"],
  ["example.com's certificate", "domain", "example.com"],
  ["the name is example.com.", "domain", "example.com"],
  ["example.com…", "domain", "example.com"],
  ["mail from bob@example.com", "email", "bob@example.com"],
  ['From: "Bob" <bob@example.com>', "email", "bob@example.com"],
  ["MAIL FROM:<bob@example.com> SIZE=1", "email", "bob@example.com"],
  ["Received: from mail.example.com (mail.example.com [192.0.2.1]) by mx.example.org", "domain", "mail.example.com"],
  ["Received: from x ([IPv6:2001:db8::1]) by mx.example.org", "address", "2001:db8::1"],
  ["v=spf1 ip4:192.0.2.0/24 include:_spf.example.com -all", "address", "192.0.2.0"],
  ["v=spf1 ip6:2001:db8::/32 -all", "address", "2001:db8::"],
  ["v=spf1 include:_spf.example.com -all", "domain", "_spf.example.com"],
  ["2026-11-21T12:00:00Z connect to 203.0.113.5:8443 failed", "hostPort", "203.0.113.5:8443"],
  ["dial tcp [2001:db8::1]:443: connection refused", "hostPort", "[2001:db8::1]:443"],
  ["client: 203.0.113.5, server: example.com", "domain", "example.com"],
  ["host=example.com;x=1", "domain", "example.com"],
  ["server:example.com:8443", "hostPort", "example.com:8443"],
  ["64 bytes from 192.0.2.1: icmp_seq=1", "address", "192.0.2.1"],
  ["routed by AS15169 and others", "asn", "AS15169"],
  ["routed by AS 15169.", "asn", "AS15169"],
  ["dig example.com MX", "domain", "example.com"],
  ["ssh -p 2222 root@example.com", "email", "root@example.com"],
  ["git@example.com:owner/repository.git", "domain", "example.com"],
  ["medium.com/@someone", "url", "https://medium.com/@someone"],
  ["https://medium.com/@someone", "url", "https://medium.com/@someone"],
]);

meanings("what is certain wins over what may be a file or a version", [
  ["report.pdf is on example.com", "domain", "example.com"],
  ["node.js 18.2.0, e.g. on example.com", "domain", "example.com"],
  ["README.md mentions example.com", "domain", "example.com"],
  ["render.js:10:5 failed for example.com", "domain", "example.com"],
  ["install.sh/x or 192.0.2.1", "address", "192.0.2.1"],
]);

meanings("the order of kinds", [
  ["example.com AS1 192.0.2.1 192.0.2.1:80 bob@example.com https://example.com/", "url", "https://example.com/"],
  ["example.com AS1 192.0.2.1 192.0.2.1:80 bob@example.com", "email", "bob@example.com"],
  ["example.com AS1 192.0.2.1 192.0.2.1:80", "hostPort", "192.0.2.1:80"],
  ["example.com AS1 192.0.2.1", "address", "192.0.2.1"],
  ["example.com AS1", "asn", "AS1"],
  ["example.org example.com", "domain", "example.org"],
]);

meanings("disguises", [
  ["hxxps://example[.]com/x", "url", "https://example.com/x"],
  ["hXXp[:]//example[dot]com", "url", "http://example.com/"],
  ["192[.]0[.]2[.]1", "address", "192.0.2.1"],
  ["bob (at) example (dot) com", "email", "bob@example.com"],
  ["exam\u200bple.com\ufeff", "domain", "example.com"],
  ["\u202aexample.com\u202c", "domain", "example.com"],
  ["example\u00a0.com example.com", "domain", "example.com"],
]);

meanings("user names and other schemes", [
  ["https://bob:secret@example.com/x", "url", "https://example.com/x"],
  ["https://bob:p@ss@example.com/x", "url", "https://example.com/x"],
  ["ftp://example.com/x", "domain", "example.com"],
  ["ftp://example.com:2121/x", "hostPort", "example.com:2121"],
  ["ssh://git@192.0.2.1/x", "address", "192.0.2.1"],
  ["postgres://bob:secret@db.example.com:5432/x", "hostPort", "db.example.com:5432"],
]);

test("inputs for each kind of tool", () => {
  /** @param {string} entered */
  const inputs = (entered) => recognise(entered)?.inputs;
  const name = { domain: "example.com", host: "example.com", registration: "example.com" };
  assert.deepEqual(inputs("example.com"), {
    ...name,
    url: "https://example.com/",
    tlsHost: "example.com",
    hostPort: "example.com:443",
  });
  assert.deepEqual(inputs("bob@example.com"), inputs("example.com"));
  assert.deepEqual(inputs("https://example.com/x"), {
    ...name,
    url: "https://example.com/x",
    tlsHost: "example.com",
    hostPort: "example.com:443",
  });
  assert.deepEqual(inputs("https://example.com:8443/x"), {
    ...name,
    url: "https://example.com:8443/x",
    tlsHost: "example.com:8443",
    hostPort: "example.com:8443",
  });
  // What http names speaks no TLS.
  assert.deepEqual(inputs("http://example.com/x"), {
    ...name,
    url: "http://example.com/x",
    hostPort: "example.com:80",
  });
  assert.deepEqual(inputs("example.com:25"), { ...name, tlsHost: "example.com:25", hostPort: "example.com:25" });
  assert.deepEqual(inputs("example.com:80")?.url, "http://example.com/");
  assert.deepEqual(inputs("example.com:8443")?.url, "https://example.com:8443/");
  const v4 = { host: "192.0.2.1", address: "192.0.2.1", network: "192.0.2.1", registration: "192.0.2.1" };
  assert.deepEqual(inputs("192.0.2.1"), { ...v4, hostPort: "192.0.2.1:443" });
  assert.deepEqual(inputs("192.0.2.1:25"), { ...v4, hostPort: "192.0.2.1:25", tlsHost: "192.0.2.1:25" });
  assert.deepEqual(inputs("https://192.0.2.1/"), {
    ...v4,
    hostPort: "192.0.2.1:443",
    tlsHost: "192.0.2.1",
    url: "https://192.0.2.1/",
  });
  const v6 = { host: "2001:db8::1", address: "2001:db8::1", network: "2001:db8::1", registration: "2001:db8::1" };
  assert.deepEqual(inputs("2001:db8::1"), { ...v6, hostPort: "[2001:db8::1]:443" });
  assert.deepEqual(inputs("https://[2001:db8::1]:8443/"), {
    ...v6,
    url: "https://[2001:db8::1]:8443/",
    tlsHost: "[2001:db8::1]:8443",
    hostPort: "[2001:db8::1]:8443",
  });
  assert.deepEqual(inputs("15169"), { network: "AS15169" });
});

test("words for what was found", () => {
  const words = ["https://example.com", "bob@example.com", "example.com:1", "192.0.2.1", "AS1", "example.com"].map(
    (text) => recognise(text)?.label,
  );
  assert.deepEqual(words, ["Web address", "E-mail address", "Host and port", "IP address", "AS number", "Domain name"]);
  assert.equal(recognise("AS1")?.host, null);
  assert.equal(recognise("bob@example.com")?.host, "example.com");
});

test("what was found is found again", () => {
  for (const text of [
    "https://example.com/a?b",
    "bob@example.com",
    "[2001:db8::1]:443",
    "192.0.2.1",
    "AS15169",
    "16777216",
    "münchen.de",
  ]) {
    assert.equal(recognise(text)?.text, text);
  }
});

test("long and hostile texts take linear time", () => {
  const seeds = [
    "a",
    ".",
    "@",
    ":",
    "/",
    "[",
    "(",
    "*",
    "%",
    "1.",
    "a.",
    "a@",
    ":1",
    "a:",
    "://",
    "a://",
    "((a",
    "[.",
    "AS1",
    "AS ",
    "ff:",
    "a.b/",
    "'",
    "\u200b",
    "\u200d",
    "*_",
    "](",
    "a ",
    "。",
    "-",
    "é.",
    "\ud800",
  ];
  for (const seed of seeds) {
    for (const text of [seed.repeat(2000 / seed.length), `${seed.repeat(20_000)}!`]) {
      const began = performance.now();
      recognise(text);
      for (const kind of ["domain", "url", "hostPort", "network"]) clean(kind, text);
      const took = performance.now() - began;
      // Far above what it takes, for busy machines; a pattern that tries every start takes longer still.
      assert.ok(took < 3000, `${JSON.stringify(seed)} × ${text.length}: ${took} ms`);
    }
  }
});

/** @typedef {[kind: string, entered: string, value: string, note: RegExp | null]} Cleaned */

/** @type {Cleaned[]} */
const cleaned = [
  ["domain", " example.com ", "example.com", null],
  ["domain", "https://Example.com/x?y", "example.com", /^Using example\.com from the web address that you entered\.$/],
  ["domain", "bob@example.com", "example.com", /^Using example\.com from the e-mail address that you entered\.$/],
  ["domain", "example.com:443", "example.com", /from the host and port/],
  ["domain", "is example.com up?", "example.com", /from the text that you entered\.$/],
  ["domain", "(example.com)", "example.com", /^Using example\.com from the text/],
  ["domain", "exam\u200bple.com", "example.com", null],
  // What the API explains best stays.
  ["domain", "192.0.2.1", "192.0.2.1", null],
  ["domain", "AS15169", "AS15169", null],
  ["domain", "example", "example", null],
  ["domain", "no name here", "no name here", null],
  ["domain", "https://192.0.2.1/", "https://192.0.2.1/", null],
  ["host", "2001:db8::1", "2001:db8::1", null],
  ["host", "[2001:db8::1]", "2001:db8::1", /^Using 2001:db8::1 from the address/],
  ["host", "https://[2001:db8::1]:8443/", "2001:db8::1", /from the web address/],
  ["host", "example.com:22", "example.com", /from the host and port/],
  ["hostPort", "example.com", "example.com", null],
  ["hostPort", "example.com:", "example.com:", null],
  ["hostPort", "example.com:99999", "example.com:99999", null],
  ["hostPort", "2001:db8::1", "2001:db8::1", null],
  ["hostPort", "[2001:db8::1]:443", "[2001:db8::1]:443", null],
  ["hostPort", "https://example.com:8443/", "example.com:8443", /from the web address/],
  ["hostPort", "http://example.com/", "example.com:80", /from the web address/],
  ["hostPort", "example.com 25", "example.com:25", /from the text/],
  // No one named a port: the API asks for it.
  ["hostPort", "bob@example.com", "example.com", /from the e-mail address/],
  ["tlsHost", "example.com", "example.com", null],
  ["tlsHost", "example.com:8443", "example.com:8443", null],
  ["tlsHost", "https://example.com:8443/", "example.com:8443", /from the web address/],
  ["tlsHost", "https://example.com/", "example.com", /from the web address/],
  ["tlsHost", "http://example.com/", "http://example.com/", null],
  ["tlsHost", "bob@example.com", "example.com", /from the e-mail address/],
  ["url", "https://example.com/wiki/Inc.", "https://example.com/wiki/Inc.", null],
  ["url", "HTTP://example.com", "HTTP://example.com", null],
  ["url", "https://[2001:db8::1]/", "https://[2001:db8::1]/", null],
  ["url", "https://example.com/[.]?a=(b)", "https://example.com/[.]?a=(b)", null],
  ["url", "example.com", "https://example.com/", /^Completed example\.com to https:\/\/example\.com\/\.$/],
  ["url", "example.com/x", "https://example.com/x", /^Completed example\.com\/x to/],
  ["url", "example.com:8080", "http://example.com:8080/", /^Completed/],
  ["url", "example.com:3000", "https://example.com:3000/", /^Completed/],
  ["url", "192.0.2.1", "https://192.0.2.1/", /^Completed/],
  ["url", "2001:db8::1", "https://[2001:db8::1]/", /^Completed/],
  ["url", "bob@example.com", "https://example.com/", /from the e-mail address/],
  ["url", "https://bob:secret@example.com/x", "https://example.com/x", /^Left out the user name and password/],
  ["url", "hxxps://example[.]com/", "https://example.com/", /./],
  ["url", "<https://example.com/x>", "https://example.com/x", /./],
  ["url", "see https://example.com/x.", "https://example.com/x", /from the text/],
  ["url", "AS15169", "AS15169", null],
  ["url", "nothing", "nothing", null],
  ["address", "192.0.2.1", "192.0.2.1", null],
  ["address", "192.0.2.0/24", "192.0.2.0", /from the address/],
  ["address", "https://192.0.2.1/", "192.0.2.1", /from the web address/],
  ["address", "example.com", "example.com", null],
  ["address", "https://example.com/", "https://example.com/", null],
  ["network", "AS15169", "AS15169", null],
  ["network", "15169", "15169", null],
  ["network", "AS 15169", "AS15169", /^Using AS15169/],
  ["network", "2001:db8::1", "2001:db8::1", null],
  ["registration", "https://www.example.co.uk/x", "www.example.co.uk", /from the web address/],
  ["registration", "[2001:db8::1]:443", "2001:db8::1", /from the host and port/],
  ["none", " x ", "x", null],
];

test("what a field makes of a text", () => {
  for (const [kind, entered, value, note] of cleaned) {
    const got = clean(kind, entered);
    assert.equal(got.value, value, `${kind} ${entered}`);
    if (note === null) assert.equal(got.note, null, `${kind} ${entered}`);
    else assert.match(got.note ?? "", note, `${kind} ${entered}`);
  }
});

test("a cleaned text is clean", () => {
  for (const [kind, entered] of cleaned) {
    const { value } = clean(kind, entered);
    assert.deepEqual(clean(kind, value), { value, note: null }, `${kind} ${entered}`);
  }
});

test("words for faults of name servers and keys ask for the check of the delegation", () => {
  for (const text of [
    "SERVFAIL example.com",
    "servfail",
    "example.com: SERVFAIL",
    "why does dnssec fail for example.com?",
    "nameservers of example.com",
    "name server example.com",
    "lame delegation (example.com)",
    "status: SERVFAIL, id: 4711",
  ])
    assert.equal(asksOfDomain(text), true, text);
  for (const text of [
    "example.com",
    "dnssec.example.com",
    "https://example.com/dnssec",
    "dnssec-failed.org",
    "nameserver@example.com",
    "servfail.com",
    "mydnssec example.com",
    "name",
  ])
    assert.equal(asksOfDomain(text), false, text);
});

meanings("where the text asks for a check of a domain, the domain counts", [
  ["SERVFAIL example.com", "domain", "example.com"],
  ["dnssec https://www.example.com/x", "url", "https://www.example.com/x"],
  ["192.0.2.53 says SERVFAIL for example.com", "domain", "example.com"],
  ["SERVFAIL unexpected RCODE resolving 'example.com/A/IN': 192.0.2.1#53", "url", "https://example.com/A/IN"],
  ["192.0.2.53 for example.com", "address", "192.0.2.53"],
  ["dnssec", null],
]);

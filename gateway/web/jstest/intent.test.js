// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { wishIn } from "../assets/lib/intent.js";
import { mistakeIn } from "../assets/lib/mistakes.js";
import { recognise, targetsIn } from "../assets/lib/recognise.js";

/** @type {[string, string | null, string?, string?][]} text, tool, target, types */
const wishes = [
  ["ping example.com", "ping", "example.com"],
  ["Ping 192.0.2.1", "ping", "192.0.2.1"],
  ["trace example.com", "traceroute", "example.com"],
  ["sudo mtr -n example.com", "traceroute", "example.com"],
  ["mx example.com", "email-dns-health", "example.com"],
  ["why does mail to a@example.com land in spam", "email-dns-health", "a@example.com"],
  ["dns example.com", "dns-lookup", "example.com"],
  ["dig mx example.com", "dns-lookup", "example.com", "MX"],
  ["dig +short example.com AAAA", "dns-lookup", "example.com", "AAAA"],
  ["$ dig example.com", "dns-lookup", "example.com"],
  ["nslookup example.com", "dns-lookup", "example.com"],
  ["dig +trace example.com", "dns-delegation", "example.com"],
  ["whois example.com", "whois-lookup", "example.com"],
  ["cert example.com", "ssl-checker", "example.com"],
  ["openssl s_client -connect example.com:443 -servername example.com", "ssl-checker", "example.com:443"],
  ["headers https://example.com/x", "http-headers", "https://example.com/x"],
  ["curl -I example.com", "http-headers", "example.com"],
  ["curl -sIL http://example.com/", "redirect-checker", "http://example.com/"],
  ["port example.com:25", "port-checker", "example.com:25"],
  ["telnet example.com 25", "port-checker", "example.com:25"],
  ["nc -vz example.com 25", "port-checker", "example.com:25"],
  ["redirect example.com", "redirect-checker", "example.com"],
  ["is example.com down?", "uptime", "example.com"],
  ["example.com is slow", "http-headers", "example.com"],
  ["what is my ip", "my-ip"],
  ["my IP address", "my-ip"],
  ["example.com", null, "example.com"],
  ["ping.example.com", null, "ping.example.com"],
  ["https://down.example.com/port", null, "https://down.example.com/port"],
  ["ping@example.com", null, "ping@example.com"],
];
for (const [text, slug, target, types] of wishes)
  test(`what is asked for: ${text}`, () => {
    assert.equal(wishIn(text)?.slugs[0] ?? null, slug);
    assert.equal(wishIn(text)?.options?.types, types);
    if (target) assert.equal(recognise(text)?.text, target);
  });

test("words of a long text ask for nothing", () => {
  const text = "we moved the port of the host to another rack and since then all mail is down, see example.com";
  assert.equal(wishIn(text), null);
  assert.equal(wishIn(`${text}: SERVFAIL`)?.slugs[0], "dns-delegation");
});

test("all targets of a text, the one meant first", () => {
  for (const [text, ...want] of [
    [
      "2026/11/26 10:00:00 [error] 7#7: *1 upstream timed out, client: 203.0.113.5, server: example.com, " +
        'request: "GET / HTTP/1.1", upstream: "http://10.0.0.1:8080/", host: "www.example.com"',
      ...["example.com", "www.example.com", "http://10.0.0.1:8080/", "203.0.113.5"],
    ],
    [
      "Received: from mail.example.com (mail.example.com [192.0.2.1]) by mx.example.org with ESMTPS",
      ...["mail.example.com", "192.0.2.1", "mx.example.org"],
    ],
    ["example.com example.com EXAMPLE.com", "example.com"],
    ["a.example b.example c.example d.example e.example f.example g.example"].concat(
      ["a", "b", "c", "d", "e", "f"].map((name) => `${name}.example`),
    ),
    [""],
  ])
    assert.deepEqual(
      targetsIn(text).map((found) => found.text),
      want,
      text,
    );
});

test("slips of the keyboard have one hint", () => {
  for (const [text, instead] of [
    ["example,com", "example.com"],
    ["www.example,com", "www.example.com"],
    ["http//example.com", "http://example.com"],
    ["https:/example.com/x", "https://example.com/x"],
    ["HTTP:example.com", "http://example.com"],
    ["192.0.2.0/24", "192.0.2.0"],
    ["2001:db8::/32", "2001:db8::"],
    ["999.1.1.1", undefined],
    ["1.2.3", undefined],
    ["1.2.3.4.5", undefined],
    ["localhost", undefined],
    ["http://localhost:3000/", undefined],
    ["printer.local", undefined],
  ]) {
    const mistake = mistakeIn(text ?? "");
    assert.notEqual(mistake, null, text);
    assert.equal(mistake?.instead, instead, text);
  }
  for (const text of [
    "example.com",
    "http://example.com",
    "https://example.com:443/a,b",
    "192.0.2.1",
    "192.0.2.1/32",
    "2001:db8::1/128",
    "a@example.com",
    "example.com:443",
    "a,b",
    "local.example.com",
    "localhost.example.com",
    "http:80",
    "x".repeat(10_000),
    "",
  ])
    assert.equal(mistakeIn(text), null, text);
});

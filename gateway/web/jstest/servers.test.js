// @ts-check
import assert from "node:assert/strict";
import test from "node:test";
import { serverLines } from "../assets/tools/security-headers/servers.js";

/** @typedef {import("../assets/tools/security-headers/servers.js").Header} Header */

/** @param {string} name @param {string} value @param {{present?: boolean} & Partial<Header>} [how] */
const lines = (name, value, { present = false, ...marks } = {}) =>
  serverLines({ id: "x", present, set: { name, value, ...marks } }, []);

test("a header is set, and one that is there already is replaced", () => {
  assert.deepEqual(lines("X-Content-Type-Options", "nosniff"), {
    nginx: ['add_header X-Content-Type-Options "nosniff" always;'],
    Apache: ['Header always set X-Content-Type-Options "nosniff"'],
    Caddy: ['X-Content-Type-Options "nosniff"'],
  });
  assert.deepEqual(lines("X-Content-Type-Options", "nosniff", { present: true })?.nginx, [
    "proxy_hide_header X-Content-Type-Options;",
    'add_header X-Content-Type-Options "nosniff" always;',
  ]);
});

test("a policy is added to those that are there", () => {
  assert.deepEqual(lines("Content-Security-Policy", "form-action 'self'", { present: true })?.Apache, [
    "Header always add Content-Security-Policy \"form-action 'self'\"",
  ]);
});

test("the whole value is set, one with an example in it too", () => {
  assert.deepEqual(lines("Strict-Transport-Security", "max-age=31536000; includeSubDomains")?.Caddy, [
    'Strict-Transport-Security "max-age=31536000; includeSubDomains"',
  ]);
  assert.deepEqual(lines("Permissions-Policy", "usb=()")?.Caddy, ['Permissions-Policy "usb=()"']);
  assert.deepEqual(lines("Access-Control-Allow-Origin", "https://a.example", { exampleHost: true })?.Caddy, [
    'Access-Control-Allow-Origin "https://a.example"',
  ]);
});

test("advice without a header has no lines, nor has one on the type of a file", () => {
  assert.equal(serverLines({ id: "x", present: true }, []), null);
  assert.equal(lines("Content-Type", "text/html; charset=utf-8"), null);
});

test("quotes stay inside the value, and what servers take for variables has no lines", () => {
  assert.deepEqual(lines("A-B", 'a"b\\'), {
    nginx: ['add_header A-B "a\\"b\\\\" always;'],
    Apache: ['Header always set A-B "a\\"b\\\\"'],
    Caddy: ['A-B `a"b\\`'],
  });
  for (const hostile of ["$uri", "%{HOST}e", "{env.HOME}", "a`b", "a\nb"])
    assert.equal(lines("A-B", hostile), null, hostile);
});

test("a whole policy only reports", () => {
  assert.match(
    lines("Content-Security-Policy", "default-src 'self'; script-src 'nonce-{RANDOM}'", { startingPoint: true })
      ?.nginx[0] ?? "",
    /^add_header Content-Security-Policy-Report-Only /,
  );
});

test("headers are removed by name", () => {
  assert.deepEqual(serverLines({ id: "x", present: true, remove: ["server", "x-powered-by"] }, []), {
    nginx: ["server_tokens off;", "proxy_hide_header x-powered-by;"],
    Apache: [
      "# Outside of every <VirtualHost>:",
      "ServerTokens Prod",
      "Header unset Server",
      "Header unset x-powered-by",
      "Header always unset x-powered-by",
    ],
    Caddy: ["-server", "-x-powered-by"],
  });
});

test("cookies get what they lack", () => {
  const cookies = [
    { name: "id", issues: [{ code: "NOT_SECURE" }, { code: "NO_SAME_SITE" }] },
    { name: 'a"; b', issues: [{ code: "NOT_SECURE" }] },
  ];
  assert.deepEqual(serverLines({ id: "cookies", present: true }, cookies), {
    nginx: ["proxy_cookie_flags id secure samesite=lax;"],
    Apache: [
      'Header edit Set-Cookie "^(id=.*)$" "$1; Secure; SameSite=Lax"',
      'Header always edit Set-Cookie "^(id=.*)$" "$1; Secure; SameSite=Lax"',
    ],
    Caddy: ['Set-Cookie "^(id=.*)$" "$1; Secure; SameSite=Lax"'],
  });
});

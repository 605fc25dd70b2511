// @ts-check
import assert from "node:assert/strict";
import test from "node:test";
import { serverLines } from "../assets/tools/security-headers/servers.js";

/** @param {string} recommendation @param {{id?: string, present?: boolean}} [how] */
const lines = (recommendation, { id = "x", present = false } = {}) => serverLines({ id, present, recommendation }, []);

test("a header is set, and one that is there already is replaced", () => {
  assert.deepEqual(lines("X-Content-Type-Options: nosniff"), {
    nginx: ['add_header X-Content-Type-Options "nosniff" always;'],
    Apache: ['Header always set X-Content-Type-Options "nosniff"'],
    Caddy: ['X-Content-Type-Options "nosniff"'],
  });
  assert.deepEqual(lines("X-Content-Type-Options: nosniff", { present: true })?.nginx, ["proxy_hide_header X-Content-Type-Options;", 'add_header X-Content-Type-Options "nosniff" always;']);
});

test("advice around the header is no part of it", () => {
  assert.deepEqual(lines("Redirect every http URL to https, and send there: Strict-Transport-Security: max-age=31536000; includeSubDomains")?.Caddy,
    ['Strict-Transport-Security "max-age=31536000; includeSubDomains"']);
  assert.deepEqual(lines("Send one more line beside it: Content-Security-Policy: form-action 'self'", { present: true })?.Apache, ["Header always add Content-Security-Policy \"form-action 'self'\""]);
  assert.deepEqual(lines("Permissions-Policy: usb=() (on the redirects too)")?.Caddy, ['Permissions-Policy "usb=()"']);
});

test("quotes stay inside the value, and what servers take for variables has no lines", () => {
  assert.deepEqual(lines('A-B: a"b\\'), { nginx: ['add_header A-B "a\\"b\\\\" always;'], Apache: ['Header always set A-B "a\\"b\\\\"'], Caddy: ['A-B `a"b\\`'] });
  for (const hostile of ["$uri", "%{HOST}e", "{env.HOME}", "a`b", "a\nb"]) assert.equal(lines(`A-B: ${hostile}`), null, hostile);
});

test("a whole policy only reports", () => {
  assert.match(lines("Content-Security-Policy: default-src 'self'; script-src 'nonce-{RANDOM}' (with {RANDOM} as …)")?.nginx[0] ?? "", /^add_header Content-Security-Policy-Report-Only /);
});

test("headers are removed by name", () => {
  assert.deepEqual(lines("Remove inner addresses from: x-backend. Do not send: server, x-powered-by; or name the product alone, as in: Server: nginx"), {
    nginx: ["server_tokens off;", "proxy_hide_header x-powered-by;"],
    Apache: ["# Outside of every <VirtualHost>:", "ServerTokens Prod", "Header unset Server", "Header unset x-powered-by", "Header always unset x-powered-by"],
    Caddy: ["-server", "-x-powered-by"],
  });
  assert.equal(lines("Remove inner addresses from: location"), null);
});

test("cookies get what they lack", () => {
  const cookies = [{ name: "id", issues: [{ code: "NOT_SECURE" }, { code: "NO_SAME_SITE" }] }, { name: "a\"; b", issues: [{ code: "NOT_SECURE" }] }];
  assert.deepEqual(serverLines({ id: "cookies", present: true, recommendation: "Set-Cookie: …" }, cookies), {
    nginx: ["proxy_cookie_flags id secure samesite=lax;"],
    Apache: ['Header edit Set-Cookie "^(id=.*)$" "$1; Secure; SameSite=Lax"', 'Header always edit Set-Cookie "^(id=.*)$" "$1; Secure; SameSite=Lax"'],
    Caddy: ['Set-Cookie "^(id=.*)$" "$1; Secure; SameSite=Lax"'],
  });
});

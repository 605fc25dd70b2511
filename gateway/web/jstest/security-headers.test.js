// @ts-check
// What the page of security-headers says beside the controls.

import assert from "node:assert/strict";
import { test } from "node:test";
import { spread } from "./paper.js";
import judge from "../assets/tools/security-headers/facts.js";

spread();
const { default: view } = await import("../assets/tools/security-headers/view.js");

/** @type {import("../assets/lib/view.js").Asked} */
const asked = { slug: "security-headers", input: "x", options: {} };

const newer = [
  {
    name: "Integrity-Policy",
    present: true,
    value: "blocked-destinations=(script)",
    finding: "Browsers that know it refuse scripts.",
    reference: "https://example.org/",
  },
];

/** @param {string} url @param {object | null} httpRedirect @param {object} [summary] */
const answer = (url, httpRedirect, summary = {}) =>
  /** @type {any} */ ({
    url,
    finalUrl: url,
    status: 200,
    redirectCount: 0,
    redirects: [],
    tls: null,
    headers: [],
    controls: [],
    cookies: [],
    notice: null,
    summary: { pass: 13, warn: 0, fail: 0, info: 0, notApplicable: 0, ...summary },
    httpRedirect,
    newerHeaders: newer,
  });

const stays = {
  status: 200,
  toHttps: false,
  location: null,
  verdict: "warn",
  finding: "http://example.com answers 200 and does not redirect to https.",
  recommendation: "Redirect every http URL.",
};

test("what port 80 answers is worth comparing", () => {
  const to = { ...stays, status: 301, toHttps: true, location: "https://example.com/", verdict: "pass" };
  assert.equal(judge.facts(answer("https://example.com/", stays))["Without https"], "200");
  assert.equal(judge.facts(answer("https://example.com/", to))["Without https"], "301 https://example.com/");
  assert.equal(
    judge.facts(answer("https://example.com/", { ...to, status: null, location: null }))["Without https"],
    "no answer",
  );
  assert.ok(!("Without https" in judge.facts(answer("http://example.com/", null))));
});

test("a certificate that was not verified is not called untrusted", () => {
  const d = {
    ...answer("https://example.com/", null),
    tls: {
      version: "TLSv1.3",
      cipher: "x",
      authorized: false,
      authorizationError: "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
    },
  };
  const page = (/** @type {any} */ more) =>
    view
      .show({ ...d, ...more }, asked)
      .map((part) => part?.textContent ?? "")
      .join(" ");
  assert.match(page({ findings: [{ code: "CERTIFICATE_NOT_VERIFIED" }] }), /Certificatenot verified/);
  assert.match(page({ findings: [] }), /Certificatenot trusted/);
});

test("the page shows both beside the controls, and an older answer without them", () => {
  const said = (/** @type {any} */ d) =>
    view
      .show(d, asked)
      .map((part) => part?.textContent ?? "")
      .join(" ");
  const page = said(answer("https://example.com/", stays));
  assert.match(page, /HTTP to HTTPS.*suggestion.* http:\/\/example\.com answers 200.*Redirect every http URL\./);
  assert.match(
    page,
    /Newer headers.*Integrity-Policy.*Browsers that know it refuse scripts\..*blocked-destinations=\(script\)/,
  );
  const { httpRedirect: _, newerHeaders: __, ...old } = answer("https://example.com/", null);
  assert.doesNotMatch(said(old), /HTTP to HTTPS|Newer headers/);
});

test("the terminal asks port 80 as the service does", () => {
  const lines = (/** @type {string} */ url, /** @type {object | null} */ plain) =>
    view.terminal(asked, answer(url, plain)).map((line) => line.command);
  assert.ok(
    lines("https://example.com:8443/x", stays).includes("curl -sS -D - -o /dev/null http://example.com/"),
    lines("https://example.com:8443/x", stays).join("\n"),
  );
  assert.equal(lines("http://example.com/", null).length, 1);
});

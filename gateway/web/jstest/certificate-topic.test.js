// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { attention } from "../assets/lib/attention.js";
import securityHeaders from "../assets/tools/security-headers/verdict.js";

/** @param {boolean} authorized @param {string} finding */
const answer = (authorized, finding) => ({ finalUrl: "https://a.example/", tls: { authorized }, summary: { fail: 1 }, controls: [{ id: "hsts", name: "Strict-Transport-Security", status: "fail", finding }] });

/** @type {import("../assets/lib/view.js").Asked} */
const asked = { slug: "security-headers", input: "https://a.example/", options: {} };

test("an invalid certificate is told by the certificate check, where that saw it too", () => {
  const headers = { title: "Headers", concerns: securityHeaders.concerns(answer(false, "The certificate is not valid (it has expired)."), asked) };
  const tls = { title: "TLS", concerns: [{ tone: /** @type {const} */ ("bad"), broken: true, text: "It expired.", topic: "certificate of a.example" }] };
  assert.deepEqual(attention([headers, tls]).map((c) => [c.text, c.from.map((f) => f.title)]), [["It expired.", ["TLS", "Headers"]]]);
  assert.deepEqual(attention([headers]).map((c) => c.text), ["Strict-Transport-Security on a.example: The certificate is not valid (it has expired)."]);
});

test("a header that is missing over a valid certificate stands for itself", () => {
  assert.equal(securityHeaders.concerns(answer(true, "The header is missing."), asked)[0].topic, undefined);
});

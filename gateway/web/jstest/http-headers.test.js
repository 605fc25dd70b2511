// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

// The parts of a page listen to it from the start.
Object.assign(globalThis, { document: { addEventListener() {} } });

const { default: judge } = await import("../assets/tools/http-headers/facts.js");

/**
 * An answer with these fields, a header a pair.
 * @param {object} fields
 * @param {...[string, string]} headers
 * @returns {any}
 */
const answer = (fields, ...headers) => ({
  url: "https://example.com/",
  status: 200,
  statusText: "OK",
  responseTimeMs: 12,
  httpVersion: "HTTP/2",
  address: "192.0.2.1",
  tls: { version: "TLSv1.3", cipher: "x", authorized: true, authorizationError: null },
  redirectsTo: null,
  challenge: null,
  informational: [],
  alternatives: [],
  compression: { offered: ["gzip", "deflate", "br", "zstd"], coding: null, varies: false },
  timings: { dnsMs: 1, connectMs: 1, tlsMs: 1, firstByteMs: 1, totalMs: 4 },
  headers: headers.map(([name, value]) => ({ name, value })),
  ...fields,
});

test("a certificate that was not verified is no fault of it", () => {
  const certificate = (/** @type {object} */ fields) => judge.facts(answer(fields)).Certificate;
  const refused = { tls: { authorized: false, authorizationError: "CERT_HAS_EXPIRED" } };
  assert.equal(certificate(refused), "not valid");
  assert.equal(certificate({}), "valid");
  assert.equal(certificate({ ...refused, findings: [{ code: "CERTIFICATE_NOT_VERIFIED" }] }), "not verified");
  assert.equal(certificate({ tls: null }), undefined);
});

// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

// The parts of a page listen to it from the start.
Object.assign(globalThis, { document: { addEventListener() {} } });

const { default: judge } = await import("../assets/tools/http-headers/facts.js");
const { alternatives, compression, early } = await import("../assets/tools/http-headers/offers.js");

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

/** @param {string} protocol @param {string | null} [host] */
const offer = (protocol, host = null) => ({ protocol, host, port: 443, maxAgeSeconds: 86400 });

/** @param {string | null} coding @param {boolean} varies */
const packed = (coding, varies) => ({ compression: { offered: ["gzip"], coding, varies } });

const html = /** @type {[string, string]} */ (["content-type", "text/html; charset=utf-8"]);
const hints = {
  informational: [
    {
      status: 103,
      statusText: "Early Hints",
      headers: [
        { name: "link", value: "a" },
        { name: "link", value: "b" },
      ],
    },
  ],
};
/** @type {[string, (d: any) => string, any, string][]} */
const rows = [
  ["nothing before it", early, answer({}), ""],
  ["an older answer", early, answer({ informational: undefined }), ""],
  [
    "hints",
    early,
    answer(hints),
    "Before its answer the server sent 103 Early Hints, with 2 link headers for files that browsers can start " +
      "loading at once.",
  ],
  [
    "hints over HTTP/1.1",
    early,
    answer({ ...hints, httpVersion: "HTTP/1.1" }),
    "Before its answer the server sent 103 Early Hints, with 2 link headers for files that browsers can start " +
      "loading at once. Most browsers use these hints only over HTTP/2 and HTTP/3.",
  ],
  [
    "two",
    early,
    answer({
      informational: [
        { status: 100, statusText: "Continue", headers: [] },
        { status: 199, statusText: "", headers: [] },
      ],
    }),
    "Before its answer the server sent 100 Continue and 199.",
  ],
  [
    "HTTP/3",
    alternatives,
    answer({ alternatives: [offer("h3-29"), offer("h3")] }),
    "The server offers HTTP/3 on port 443 (Alt-Svc). Browsers remember that for 1 day.",
  ],
  [
    "HTTP/3 elsewhere",
    alternatives,
    answer({ alternatives: [offer("h3", "alt.example.com")] }),
    "The server offers HTTP/3 at alt.example.com on port 443 (Alt-Svc). Browsers remember that for 1 day.",
  ],
  [
    "drafts",
    alternatives,
    answer({ alternatives: [offer("h3-29"), offer("quic")] }),
    "The server offers only drafts of HTTP/3 (Alt-Svc), which browsers no longer support.",
  ],
  [
    "another",
    alternatives,
    answer({ alternatives: [offer("h2", "alt.example.com")] }),
    "The server offers the site over h2 at alt.example.com, port 443 too (Alt-Svc).",
  ],
  [
    "without encryption",
    alternatives,
    answer({ tls: null, alternatives: [offer("h3")] }),
    "The answer offers other ways to reach the site (Alt-Svc). Browsers honour that only over HTTPS.",
  ],
  ["no alternative", alternatives, answer({}), ""],
  ["compressed", compression, answer(packed("br", true), html), "The server compresses its answer (Brotli)."],
  [
    "compressed, with a finding",
    compression,
    answer({ ...packed("gzip", false), findings: [{ code: "VARY_MISSING", message: "No Vary.", remedy: "Send it." }] }),
    "The server compresses its answer (gzip). No Vary. Send it.",
  ],
  ["nothing to report", compression, answer({}), ""],
  [
    "not compressed",
    compression,
    answer({ findings: [{ code: "NOT_COMPRESSED", message: "Plain.", remedy: "Turn it on." }] }),
    "Plain. Turn it on.",
  ],
];

for (const [name, words, d, want] of rows) test(`in words: ${name}`, () => assert.equal(words(d), want));

test("a certificate that was not verified is no fault of it", () => {
  const certificate = (/** @type {object} */ fields) => judge.facts(answer(fields)).Certificate;
  const refused = { tls: { authorized: false, authorizationError: "CERT_HAS_EXPIRED" } };
  assert.equal(certificate(refused), "not valid");
  assert.equal(certificate({}), "valid");
  assert.equal(certificate({ ...refused, findings: [{ code: "CERTIFICATE_NOT_VERIFIED" }] }), "not verified");
  assert.equal(certificate({ tls: null }), undefined);
});

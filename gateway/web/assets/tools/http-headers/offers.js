// @ts-check
// What an answer holds beside the page, in words: interim answers, HTTP/3 and compression.

import { findingOf, inFull } from "../../lib/findings.js";
import { duration, listed, plural } from "../../lib/format.js";

/** @typedef {import("./facts.js").HttpHeaders} HttpHeaders */

/** @param {HttpHeaders["informational"][number]} answer */
const named = (answer) => `${answer.status} ${answer.statusText}`.trim();

/** The interim answers, as a sentence; empty where there were none. @param {HttpHeaders} d */
export function early(d) {
  const list = d.informational ?? [];
  if (list.length === 0) return "";
  const hints = list
    .filter((a) => a.status === 103)
    .flatMap((a) => a.headers)
    .filter((h) => h.name === "link").length;
  const what =
    hints > 0 ? `, with ${plural(hints, "link header")} for files that browsers can start loading at once` : "";
  const unused =
    hints > 0 && d.httpVersion !== "HTTP/2" ? " Most browsers use these hints only over HTTP/2 and HTTP/3." : "";
  return `Before its answer the server sent ${listed(list.map(named))}${what}.${unused}`;
}

/** @param {HttpHeaders} d */
export const http3 = (d) => (d.alternatives ?? []).find((a) => a.protocol === "h3");

/** The other ways to reach the site, as a sentence; empty where none is offered. @param {HttpHeaders} d */
export function alternatives(d) {
  const list = d.alternatives ?? [];
  const best = http3(d);
  if (list.length > 0 && d.tls === null)
    return "The answer offers other ways to reach the site (Alt-Svc). Browsers honour that only over HTTPS.";
  if (best)
    return (
      `The server offers HTTP/3${best.host ? ` at ${best.host}` : ""} on port ${best.port} (Alt-Svc). Browsers ` +
      `remember that for ${duration(best.maxAgeSeconds)}.`
    );
  if (list.some((a) => /^h3-|^quic$/.test(a.protocol)))
    return "The server offers only drafts of HTTP/3 (Alt-Svc), which browsers no longer support.";
  if (list.length > 0)
    return (
      "The server offers the site over " +
      `${listed(list.map((a) => `${a.protocol} at ${a.host ?? "the same host"}, port ${a.port}`))} too (Alt-Svc).`
    );
  return "";
}

/** @type {Record<string, string>} */
const codings = { br: "Brotli", zstd: "Zstandard", "x-gzip": "gzip" };

/** The content coding in words, null for none. @param {HttpHeaders} d */
export const coding = (d) => (d.compression?.coding ? (codings[d.compression.coding] ?? d.compression.coding) : null);

/**
 * What there is to know about the compression of the answer, in sentences; empty where it does not matter.
 * @param {HttpHeaders} d
 */
export const compression = (d) =>
  [
    coding(d) ? `The server compresses its answer (${coding(d)}).` : "",
    inFull(findingOf(d, "NOT_COMPRESSED", "VARY_MISSING")),
  ]
    .filter(Boolean)
    .join(" ");

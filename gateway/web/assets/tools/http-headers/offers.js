// @ts-check
// What an answer holds beside the page, in words: interim answers, HTTP/3 and compression.

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
      `remember that for ${duration(best.maxAgeSeconds)}. It was not tried here.`
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

/** A shorter text fits into one packet, so that compression gains nothing. */
const packet = 1400;

/** @param {HttpHeaders} d @param {string} name */
const field = (d, name) => d.headers.find((h) => h.name === name)?.value;

/** Whether the answer is a text that compression would make smaller. @param {HttpHeaders} d */
function wordy(d) {
  const kind = (field(d, "content-type") ?? "").toLowerCase();
  return (
    d.status === 200 &&
    /^(?:text\/|image\/svg\+xml|application\/(?:(?:x-)?javascript|json|xml|[^;]*\+(?:json|xml)))/.test(kind) &&
    Number(field(d, "content-length") ?? packet) >= packet
  );
}

/** The content coding in words, null for none. @param {HttpHeaders} d */
export const coding = (d) => (d.compression?.coding ? (codings[d.compression.coding] ?? d.compression.coding) : null);

/** Whether a text that is long enough comes uncompressed. @param {HttpHeaders} d */
export const uncompressed = (d) => d.compression !== undefined && !d.compression.coding && wordy(d);

/** Whether caches may serve a compressed answer to clients that cannot read it. @param {HttpHeaders} d */
const hidden = (d) =>
  d.compression?.coding && !d.compression.varies && !/\b(?:no-store|private)\b/i.test(field(d, "cache-control") ?? "");

/** Whether the answer is compressed, as a sentence; empty where that does not matter. @param {HttpHeaders} d */
export function compression(d) {
  if (uncompressed(d))
    return (
      "The answer is text and is not compressed, though the request accepted " +
      `${listed(d.compression.offered.map((c) => codings[c] ?? c))}. Compression makes ` +
      "text several times smaller; it is a setting of the web server."
    );
  if (!coding(d)) return "";
  return (
    `The server compresses its answer (${coding(d)}).` +
    (hidden(d)
      ? " Vary: Accept-Encoding is missing, so a cache may pass the compressed answer to a client that cannot read it."
      : "")
  );
}

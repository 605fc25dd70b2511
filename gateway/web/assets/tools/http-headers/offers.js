// @ts-check
// What an answer says beside the page itself, in words: what came before it, HTTP/3, and compression.

import { duration, listed, plural } from "../../lib/format.js";

/** @typedef {import("./view.js").Header} Header */
/** @typedef {{status: number, statusText: string, headers: Header[]}} Informational */
/** @typedef {{protocol: string, host: string | null, port: number, maxAgeSeconds: number}} Alternative */

/** @param {Informational} answer */
const named = (answer) => `${answer.status} ${answer.statusText}`.trim();

/** @param {any} d @returns {string} what came before the answer, as a sentence; nothing where nothing came */
export function early(d) {
  const list = /** @type {Informational[]} */ (d.informational ?? []);
  if (list.length === 0) return "";
  const hints = list
    .filter((a) => a.status === 103)
    .flatMap((a) => a.headers)
    .filter((h) => h.name === "link").length;
  const what =
    hints > 0 ? `, with ${plural(hints, "link header")} for files that browsers can start loading at once` : "";
  const unheard =
    hints > 0 && d.httpVersion !== "HTTP/2" ? " Most browsers use these hints only over HTTP/2 and HTTP/3." : "";
  return `Before its answer the server sent ${listed(list.map(named))}${what}.${unheard}`;
}

/** @param {any} d @returns {Alternative | undefined} */
export const http3 = (d) => (d.alternatives ?? []).find((/** @type {Alternative} */ a) => a.protocol === "h3");

/** @param {any} d @returns {string} other ways to have the site, as a sentence; nothing where none is offered */
export function alternatives(d) {
  const list = /** @type {Alternative[]} */ (d.alternatives ?? []);
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

/** Less than this fits into one packet, so that compression gains nothing. */
const packet = 1400;

/** @param {any} d @param {string} name @returns {string | undefined} */
const field = (d, name) => d.headers.find((/** @type {Header} */ h) => h.name === name)?.value;

/** @param {any} d whether the answer is a text that compression would make smaller */
function wordy(d) {
  const kind = (field(d, "content-type") ?? "").toLowerCase();
  return (
    d.status === 200 &&
    /^(?:text\/|image\/svg\+xml|application\/(?:(?:x-)?javascript|json|xml|[^;]*\+(?:json|xml)))/.test(kind) &&
    Number(field(d, "content-length") ?? packet) >= packet
  );
}

/** @param {any} d */
export const coding = (d) => (d.compression?.coding ? (codings[d.compression.coding] ?? d.compression.coding) : null);

/** @param {any} d whether a text that is long enough comes uncompressed */
export const uncompressed = (d) => d.compression !== undefined && !d.compression.coding && wordy(d);

/** @param {any} d whether caches may hand a compressed answer to clients that cannot read it */
const hidden = (d) =>
  d.compression?.coding && !d.compression.varies && !/\b(?:no-store|private)\b/i.test(field(d, "cache-control") ?? "");

/**
 * @param {any} d @returns {string} whether the answer is compressed, as a sentence; nothing where that does not matter
 */
export function compression(d) {
  if (uncompressed(d))
    return (
      "The answer is text and is not compressed, though the request accepted " +
      `${listed(d.compression.offered.map((/** @type {string} */ c) => codings[c] ?? c))}. Compression makes ` +
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

// @ts-check
// One request: what is compared with an earlier one.

import { findingOf } from "../../lib/findings.js";
import { answered } from "../../lib/statuses.js";

/** @typedef {import("api").components["schemas"]["HttpHeaders"]} HttpHeaders */
/** @typedef {import("api").components["schemas"]["Header"]} Header */

/** The headers that change at every request, and so are not compared. */
const volatile = [
  /^(?:date|age|expires|last-modified|etag|content-length|report-to|nel|server-timing|retry-after|traceparent)$/,
  /^(?:cf-ray|x-timer|x-served-by|x-cache.*|x-runtime|x-amz-.*|(?:x-)?ratelimit.*)$/,
  /-(?:request|trace|correlation)-?id$/,
];

/**
 * A header without its random parts: nonces, and when a cookie expires.
 * @param {Header} header
 */
function steady(header) {
  return header.value
    .replace(/'nonce-[^']*'/g, "'nonce-…'")
    .replace(header.name === "set-cookie" ? /;\s*expires=[^;]*/i : /$^/, "");
}

/** @type {Record<string, string>} */
const codings = { br: "Brotli", zstd: "Zstandard", "x-gzip": "gzip" };

/** The content coding in words, null for none. @param {HttpHeaders} d */
export const coding = (d) => (d.compression?.coding ? (codings[d.compression.coding] ?? d.compression.coding) : null);

/** What is known of the certificate. @param {HttpHeaders} d */
const certificate = (d) =>
  findingOf(d, "CERTIFICATE_NOT_VERIFIED") ? "not verified" : d.tls?.authorized ? "valid" : "not valid";

/** @type {import("../../lib/view.js").Judge<HttpHeaders>} */
export default {
  facts(d) {
    /** @type {import("../../lib/view.js").Facts} */
    const list = {
      Status: answered(d),
      Protocol: d.httpVersion,
      "Redirects to": d.redirectsTo ?? "",
      TLS: d.tls?.version ?? "none",
      "Bot challenge": d.challenge?.vendor ?? "none",
      "HTTP/3": (d.alternatives ?? []).some((a) => a.protocol === "h3") ? "offered" : "not offered",
      Compression: coding(d) ?? "none",
    };
    if (d.tls) list["Certificate"] = certificate(d);
    for (const header of d.headers) {
      if (!volatile.some((names) => names.test(header.name)))
        list[header.name] = [list[header.name] ?? [], steady(header)].flat();
    }
    return list;
  },
};

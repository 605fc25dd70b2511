// @ts-check
// One request: its timing, its status, its headers.

import { answered } from "../../lib/statuses.js";
import { inWords } from "../../lib/words.js";
import { coding, http3 } from "./offers.js";

/** @typedef {import("./view.js").Header} Header */

/**
 * @param {any} d @returns {string | null} the end of a sentence about the certificate, null where it is valid or there
 *   is none
 */
export function certificateFault(d) {
  return d.tls && !d.tls.authorized && !unverified(d) ? inWords(d.tls.authorizationError) : null;
}

/** Whether this service could not verify the certificate. @param {any} d @returns {boolean} */
export const unverified = (d) =>
  Boolean(d.findings?.some((/** @type {any} */ f) => f.code === "CERTIFICATE_NOT_VERIFIED"));

/** Whether the answer has Location fields that differ, which browsers refuse whatever its status. @param {any} d */
export const conflict = (d) =>
  new Set(
    d.headers.filter((/** @type {Header} */ h) => h.name === "location").map((/** @type {Header} */ h) => h.value),
  ).size > 1;

/** @param {any} d */
export const plain = (d) => d.tls === null && d.status < 300;

/** What an answer says anew at every request, and so is nothing to compare. */
const volatile =
  /^(date|age|expires|last-modified|etag|content-length|cf-ray|report-to|nel|server-timing|retry-after|traceparent|x-timer|x-served-by|x-cache.*|x-runtime|x-amz-.*|(x-)?ratelimit.*|.*-(request|trace|correlation)-?id)$/;

/**
 * A header without what is random in it: nonces, and a cookie's end.
 * @param {Header} header
 */
function steady(header) {
  return header.value
    .replace(/'nonce-[^']*'/g, "'nonce-…'")
    .replace(header.name === "set-cookie" ? /;\s*expires=[^;]*/i : /$^/, "");
}

/** @type {import("../../lib/view.js").Judge} */
export default {
  facts(d) {
    /** @type {import("../../lib/view.js").Facts} */
    const list = {
      Status: answered(d),
      Protocol: d.httpVersion,
      "Redirects to": d.redirectsTo ?? "",
      TLS: d.tls?.version ?? "none",
      "Bot challenge": d.challenge?.vendor ?? "none",
      "HTTP/3": http3(d) ? "offered" : "not offered",
      Compression: coding(d) ?? "none",
    };
    if (d.tls) list["Certificate"] = unverified(d) ? "not verified" : (certificateFault(d) ?? "valid");
    for (const header of d.headers) {
      if (!volatile.test(header.name)) list[header.name] = [list[header.name] ?? [], steady(header)].flat();
    }
    return list;
  },
};

// @ts-check
// The findings of an answer in full, for views that have no other place for them.

import { findingsOf, inFull } from "./findings.js";
import { notice } from "./parts.js";
import { concernOf } from "./view.js";

/** @typedef {import("./view.js").Data} Data */

/** Faults of responses and handshakes that clients accept all the same. */
const accepted = /** @type {const} */ ([
  "STATUS_LINE_REPAIRED",
  "HEADER_LINE_SKIPPED",
  "CONTROL_CHARACTER",
  "TRANSFER_ENCODING_REPEATED",
  "TRANSFER_ENCODING_UNKNOWN",
  "CONTENT_LENGTH_BESIDE_TRANSFER_ENCODING",
  "CONTENT_LENGTH_REPEATED",
  "TRAILING_BYTES",
  "HELLO_INTOLERANT",
]);

/** A finding as a notice: what is wrong, and what to do. @param {import("./view.js").Finding} f */
const noticeOf = (f) => notice(concernOf(f).tone, inFull(f));

/** A notice for each fault that clients accept. @param {Data} d */
export const notes = (d) => findingsOf(d, ...accepted).map((f) => noticeOf(/** @type {any} */ (f)));

/**
 * A notice for each finding, but for the one that the conclusion states with what it means.
 * @param {Data} d
 * @param {RegExp} [elsewhere] the codes of findings that the view shows in another place
 */
export function remarks({ conclusion, findings = [] }, elsewhere = /^$/) {
  const stated = [conclusion?.code, conclusion?.args?.reason];
  return findings.filter(({ code }) => !stated.includes(code) && !elsewhere.test(code)).map(noticeOf);
}

// @ts-check
// What was wrong with responses and handshakes that were read all the same.

import { findingsOf, inFull } from "./findings.js";
import { notice } from "./parts.js";

const codes = /** @type {const} */ ([
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

/**
 * A notice for each of an answer's findings of this kind.
 * @param {import("./findings.js").Found<string>} d
 */
export const notes = (d) =>
  findingsOf(d, ...codes).map((f) => notice(f.severity === "warn" ? "warn" : "info", inFull(f)));

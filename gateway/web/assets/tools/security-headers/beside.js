// @ts-check
// What is told beside the controls: what comes of a visitor without https, and the headers that few sites send yet.

import { el } from "../../lib/dom.js";
import { plural } from "../../lib/format.js";
import { badge, facts, folded, none, section, value } from "../../lib/parts.js";
import { severities } from "../../lib/severity.js";

/**
 * @typedef {{status: number | null, toHttps: boolean | null, location: string | null, verdict: "pass" | "info" |
 *   "warn", finding: string, recommendation: string | null}} Plain
 */
/** @typedef {{name: string, present: boolean, value: string | null, finding: string, reference: string}} Newer */

/** Null for an answer of before this was told. @param {Plain | null} [plain] */
export const withoutHttps = (plain) =>
  plain
    ? section(
        "HTTP to HTTPS",
        el("p", {}, badge(...severities[plain.verdict]), " ", plain.finding),
        facts([
          ["Answer on port 80", plain.status === null ? none("no answer") : String(plain.status)],
          ["Redirects to", plain.location && value(plain.location)],
          ["Recommended", plain.recommendation],
        ]),
      )
    : null;

/** @param {Newer} h */
const row = (h) =>
  el(
    "div",
    {},
    el(
      "dt",
      {},
      /^https:/.test(h.reference) ? el("a", { href: h.reference, rel: "noreferrer nofollow" }, h.name) : h.name,
    ),
    el("dd", {}, h.finding, h.value && el("div", {}, value(h.value, { what: h.name }))),
  );

/** Null as above. @param {Newer[]} [list] */
export const newerHeaders = (list = []) =>
  list.length > 0
    ? folded(
        "Newer headers, which few sites need yet",
        plural(list.filter((h) => h.present).length, "sent", "sent"),
        el("dl", { class: "facts" }, ...list.map(row)),
      )
    : null;

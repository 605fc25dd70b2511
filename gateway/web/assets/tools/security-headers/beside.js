// @ts-check
// What is shown beside the controls: the answer to plain HTTP, and the headers that few sites send yet.

import { el } from "../../lib/dom.js";
import { plural } from "../../lib/format.js";
import { badge, facts, folded, none, section, value } from "../../lib/parts.js";
import { lookOf } from "../../lib/severity.js";

/** @typedef {import("./facts.js").SecurityHeaders} SecurityHeaders */

/** @param {SecurityHeaders["httpRedirect"]} [plain] */
export const withoutHttps = (plain) =>
  plain
    ? section(
        "HTTP to HTTPS",
        el("p", {}, badge(...lookOf(plain.verdict, "safer")), " ", plain.finding),
        facts([
          ["Answer on port 80", plain.status === null ? none("no answer") : String(plain.status)],
          ["Redirects to", plain.location && value(plain.location)],
          ["Recommended", plain.recommendation],
        ]),
      )
    : null;

/** @param {SecurityHeaders["newerHeaders"][number]} h */
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

/** @param {SecurityHeaders["newerHeaders"]} [list] */
export const newerHeaders = (list = []) =>
  list.length > 0
    ? folded(
        "Newer headers, which few sites need yet",
        plural(list.filter((h) => h.present).length, "sent", "sent"),
        el("dl", { class: "facts" }, ...list.map(row)),
      )
    : null;

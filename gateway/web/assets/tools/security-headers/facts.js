// @ts-check
// What a site tells browsers to protect its visitors with: control by control, and how to set what is missing.

import { severityWord } from "../../lib/severity.js";

/** @typedef {import("./view.js").Control} Control */

/** @param {any} d @param {string} status @returns {Control[]} */
export const having = (d, status) => d.controls.filter((/** @type {Control} */ c) => c.status === status);

/** Values that are new in every answer stay out of comparisons. @param {Control} c */
const lasting = (c) =>
  c.value === null
    ? ""
    : `: ${c.id === "information-leak" ? (c.recommendation ?? "") : c.value.replace(/'nonce-[^']*'/g, "'nonce-…'")}`;

/** @type {import("../../lib/view.js").Judge} */
export default {
  facts: (d) => ({
    Answer: `${d.status} ${d.finalUrl}`,
    ...(d.httpRedirect
      ? {
          "Without https": `${d.httpRedirect.status ?? "no answer"}${d.httpRedirect.location ? ` ${d.httpRedirect.location}` : ""}`,
        }
      : {}),
    ...Object.fromEntries(d.controls.map((/** @type {Control} */ c) => [c.name, severityWord(c.status) + lasting(c)])),
  }),
};

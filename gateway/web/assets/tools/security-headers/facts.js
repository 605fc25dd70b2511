// @ts-check
// The security headers of a site: what is compared with an earlier answer.

import { lookOf } from "../../lib/severity.js";

/** @typedef {import("api").components["schemas"]["SecurityHeaders"]} SecurityHeaders */
/** @typedef {import("api").components["schemas"]["SecurityControl"]} Control */

/** The value of a control without the parts that are new in every answer. @param {Control} c */
const lasting = (c) =>
  c.value === null
    ? ""
    : `: ${c.id === "information-leak" ? (c.recommendation ?? "") : c.value.replace(/'nonce-[^']*'/g, "'nonce-…'")}`;

/** What port 80 answers. @param {NonNullable<SecurityHeaders["httpRedirect"]>} plain */
const plainAnswer = ({ status, location }) => `${status ?? "no answer"}${location ? ` ${location}` : ""}`;

/** @type {import("../../lib/view.js").Judge<SecurityHeaders>} */
export default {
  // An error or challenge page has other headers than the page that came before.
  blindTo: (d, _, before) => d.notice !== null && !before.some(({ code }) => code.startsWith("NOT_THE_PAGE")),
  facts: (d) => ({
    Answer: `${d.status} ${d.finalUrl}`,
    ...(d.httpRedirect ? { "Without https": plainAnswer(d.httpRedirect) } : {}),
    ...Object.fromEntries(d.controls.map((c) => [c.name, lookOf(c.status, "safer")[1] + lasting(c)])),
  }),
};

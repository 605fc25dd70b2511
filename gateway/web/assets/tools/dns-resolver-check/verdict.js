// @ts-check
// dns-resolver-check: who gives which answer. Equal answers share a number and a colour.

import { inWords } from "../../lib/words.js";

/** @typedef {{sign: string, colour: string, title: string, values: string[], ids: string[], truncated?: boolean}} Group */

/** @type {Record<string, import("../../lib/view.js").Tone>} */
const tones = { agree: "good", agreeAbsent: "info", partial: "warn", variation: "info", mixedPresence: "warn", conflict: "bad", inconclusive: "warn", unavailable: "bad" };

/** @type {Record<string, string>} */
export const absent = { nodata: "ENODATA", nxdomain: "ENOTFOUND" };

/** Records that a domain may answer differently by place. */
const byPlace = ["A", "AAAA", "CNAME"];

/**
 * Whether the domain’s own name servers hold different records where all should hold the same.
 * @param {any} d @returns {boolean}
 */
export function ownDiffer(d) {
  const outcomes = (d.authoritative?.servers ?? []).map((/** @type {any} */ s) => s.outcome).filter((/** @type {string} */ o) => o !== "error");
  const oneLacks = outcomes.some((/** @type {string} */ o) => o !== "answer");
  return outcomes.length > 0 && !d.authoritative.agreed && (oneLacks || !byPlace.includes(d.recordType));
}

/** @param {any} d @returns {import("../../lib/view.js").Tone} */
function tone(d) {
  if (d.changing) return "info";
  if (d.failure && d.status === "inconclusive") return "bad";
  if (tones[d.status] !== "good") return tones[d.status];
  if (ownDiffer(d)) return "warn";
  return d.resolvers.some((/** @type {any} */ r) => r.matchesAuthoritative === false) ? "info" : "good";
}

/** @type {import("../../lib/view.js").Judge} */
export default {
  verdict: (d) => ({ tone: tone(d), text: d.summary }),
  concerns(d) {
    const filtered = d.resolvers.some((/** @type {any} */ r) => r.filteredSuspected);
    const own = filtered && d.status === "variation" ? "warn" : tone(d);
    return own === "good" || (own === "info" && d.status === "variation" && !d.changing) ? [] : [{ tone: own, text: d.summary }];
  },
  facts: (d) => Object.fromEntries(d.resolvers.map((/** @type {any} */ r) => [r.name, r.values.length > 0 ? r.values : inWords(r.errorCode ?? absent[r.outcome])])),
};

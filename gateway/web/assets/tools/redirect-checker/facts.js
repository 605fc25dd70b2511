// @ts-check
// A chain of redirects: each step, what kind it is, and why the chain ended.

import { answered, statusTone } from "../../lib/statuses.js";

/** @typedef {import("../../lib/view.js").Tone} Tone */
/** @typedef {{index: number, url: string, status: number | null, statusText: string, location: string | null, address: string | null,
 *   responseTimeMs: number, timings: import("../../lib/picture.js").Timings, flags: string[], otherLocations?:
 * string[], truncated?: boolean}} Hop */

/** @param {any} d @returns {Hop} */
export const last = (d) => d.hops[d.hops.length - 1];

/** @param {any} d @param {string} flag */
export const flagged = (d, flag) => d.hops.some((/** @type {Hop} */ h) => h.flags.includes(flag));

/** Browsers refuse an answer with Location fields that differ, whatever its status. @param {Hop} hop */
export const conflict = (hop) => hop.flags.includes("conflictingLocation");

/**
 * How the chain ended, as a tone. What was not seen to its end is no fault of the site. @param {any} d @returns {Tone}
 */
export function endTone(d) {
  if (d.outcome === "final")
    return conflict(last(d))
      ? "bad"
      : d.finalStatus >= 400
        ? statusTone(d.finalStatus)
        : d.finalUrl.startsWith("http:")
          ? "warn"
          : "good";
  return ["deadline", "blocked", "tooManyRedirects"].includes(d.outcome) ? "warn" : "bad";
}

/** @type {import("../../lib/view.js").Judge} */
export default {
  facts(d) {
    return {
      Chain: d.hops.map((/** @type {Hop} */ h) => `${h.index + 1}. ${h.url}: ${answered(h)}`),
      Outcome: d.summary,
      "Redirect by the page": d.clientRedirect
        ? `${d.clientRedirect.url} after ${d.clientRedirect.delaySeconds} s`
        : "",
    };
  },
};

// @ts-check
// dns-resolver-check: who gives which answer. Equal answers share a number and a colour.

/** @typedef {{sign: string, colour: string, title: string, values: string[], ids: string[], truncated?: boolean}} Group */

/** @type {Record<string, import("../../lib/view.js").Tone>} */
const tones = { agree: "good", agreeAbsent: "info", partial: "warn", variation: "info", mixedPresence: "warn", conflict: "bad", inconclusive: "warn", unavailable: "bad" };

/** @type {Record<string, string>} */
export const absent = { nodata: "ENODATA", nxdomain: "ENOTFOUND" };

/** @type {import("../../lib/view.js").Judge} */
export default {
  verdict: (d) => ({ tone: tones[d.status], text: d.summary }),
  concerns(d) {
    const filtered = d.resolvers.some((/** @type {any} */ r) => r.filteredSuspected);
    const tone = filtered && d.status === "variation" ? "warn" : tones[d.status];
    return tone === "good" || (tone === "info" && d.status === "variation") ? [] : [{ tone, text: d.summary }];
  },
  facts: (d) => Object.fromEntries(d.resolvers.map((/** @type {any} */ r) => [r.name, r.values.length > 0 ? r.values : r.errorCode ?? absent[r.outcome]])),
};

// @ts-check
// A chain of redirects: each step, what kind it is, and why the chain ended.

import { host, plural } from "../../lib/format.js";
import { answered, statusTone } from "../../lib/statuses.js";
import { certificateAside } from "../../lib/topics.js";

/** @typedef {import("../../lib/view.js").Tone} Tone */
/** @typedef {import("../../lib/view.js").Concern} Concern */
/** @typedef {{index: number, url: string, status: number | null, statusText: string, location: string | null, address: string | null,
 *   responseTimeMs: number, timings: import("../../lib/picture.js").Timings, flags: string[], otherLocations?: string[], truncated?: boolean}} Hop */

/** How a chain may end badly: a sentence about the host that its last step names. @type {Record<string, (host: string, d: any) => string>} */
const endings = {
  loop: () => "The redirects form a loop, so no page ever loads.",
  tooManyRedirects: (_, d) => `After ${plural(d.redirectCount, "redirect")} there is yet another one; no more were followed.`,
  missingLocation: (host) => `${host} redirects without saying where to.`,
  invalidLocation: (host, d) => (conflict(last(d)) ? `${host} names conflicting destinations in one redirect. Browsers stop there and show an error.` : `${host} redirects to something that is not a valid URL.`),
  unsupportedScheme: (host) => `${host} redirects to an address that is neither http nor https.`,
  blocked: () => "The chain leads to an address that this service did not visit.",
  unreachable: (host) => `The chain breaks off: no answer came from ${host}.`,
  deadline: () => "The check ran out of time before the chain ended.",
};

/** More redirects than this are worth a word. */
const many = 3;

/** @param {any} d @returns {Hop} */
export const last = (d) => d.hops[d.hops.length - 1];

/** @param {any} d @param {string} flag */
export const flagged = (d, flag) => d.hops.some((/** @type {Hop} */ h) => h.flags.includes(flag));

/** Browsers refuse an answer with Location fields that differ, whatever its status. @param {Hop} hop */
export const conflict = (hop) => hop.flags.includes("conflictingLocation");

/** @param {any} d */
export function ending(d) {
  if (d.outcome !== "final") return endings[d.outcome]?.(host(last(d).url), d) ?? d.summary;
  const but = conflict(last(d)) ? ", but with conflicting Location headers, so browsers show an error instead" : flagged(d, "certificateInvalid") ? ", but a certificate on the way is not valid" : flagged(d, "httpsToHttp") ? ", but a step leads back to unencrypted HTTP"
    : d.finalUrl.startsWith("http:") ? d.redirectCount === 0 ? " and without encryption" : " without encryption" : "";
  if (d.redirectCount === 0) return `${host(d.url)} answers ${answered(last(d))} without a redirect${but}.`;
  return `${plural(d.redirectCount, "redirect")} to ${d.finalUrl}, which answers ${answered(last(d))}${but}.`;
}

/** How the chain ended, as a tone. What was not seen to its end is no fault of the site. @param {any} d @returns {Tone} */
export function endTone(d) {
  if (d.outcome === "final") return conflict(last(d)) ? "bad" : d.finalStatus >= 400 ? statusTone(d.finalStatus) : d.finalUrl.startsWith("http:") ? "warn" : "good";
  return d.outcome === "deadline" || d.outcome === "blocked" ? "warn" : "bad";
}

/** Whose certificate is not valid. @param {any} d @returns {string} */
const unsafe = (d) => d.hops.find((/** @type {Hop} */ hop) => hop.flags.includes("certificateInvalid"))?.url ?? "";

/** @param {any} d @returns {Concern[]} */
function concerns(d) {
  /** @type {Concern[]} */
  const list = [];
  const name = host(d.url);
  if (d.outcome !== "final") list.push({ tone: endTone(d) === "warn" ? "warn" : "bad", broken: true, text: `The redirects of ${d.url} could not be followed to a page. ${ending(d)}` });
  else if (d.finalStatus >= 400) list.push({ tone: statusTone(d.finalStatus) === "bad" ? "bad" : "warn", broken: true, text: `${d.finalUrl} answers ${answered(last(d))}.` });
  if (d.outcome === "final" && conflict(last(d))) list.push({ tone: "bad", broken: true, text: `${d.finalUrl} sends conflicting Location headers. Browsers show an error instead of such an answer.` });
  if (flagged(d, "certificateInvalid")) list.push({ tone: "bad", broken: true, text: `A certificate on the way from ${name} is not valid, so browsers stop with a warning.`, ...certificateAside(host(unsafe(d))) });
  if (flagged(d, "httpsToHttp")) list.push({ tone: "bad", text: `The redirects of ${name} lead from HTTPS back to unencrypted HTTP.` });
  if (flagged(d, "userinfo")) list.push({ tone: "warn", text: `A redirect of ${name} leads to an address with a user name in it.` });
  if (d.redirectCount > many && d.outcome === "final") list.push({ tone: "warn", text: `${name} needs ${plural(d.redirectCount, "redirect")} to reach its page, and each one costs time.` });
  if (d.finalUrl?.startsWith("http:")) list.push({ tone: "warn", text: d.redirectCount === 0 ? `${d.url} is not encrypted and does not redirect to HTTPS.` : `${d.url} ends at ${d.finalUrl}, which is not encrypted.` });
  const order = ["bad", "warn", "info"];
  return list.sort((a, b) => order.indexOf(a.tone) - order.indexOf(b.tone));
}

/** @type {import("../../lib/view.js").Judge} */
export default {
  verdict(d) {
    return { tone: concerns(d)[0]?.tone ?? endTone(d), text: ending(d) };
  },

  concerns,

  facts(d) {
    return {
      "Chain": d.hops.map((/** @type {Hop} */ h) => `${h.index + 1}. ${h.url}: ${answered(h)}`), "Outcome": d.summary,
      "Redirect by the page": d.clientRedirect ? `${d.clientRedirect.url} after ${d.clientRedirect.delaySeconds} s` : "",
    };
  },
};

// @ts-check
// What a site tells browsers to protect its visitors with: control by control, and how to set what is missing.

import { host, listed } from "../../lib/format.js";
import { severityCounts, severityWord } from "../../lib/severity.js";
import { certificateAside } from "../../lib/topics.js";

/** @typedef {import("./view.js").Control} Control */

/** @param {any} d @param {string} status @returns {Control[]} */
export const having = (d, status) => d.controls.filter((/** @type {Control} */ c) => c.status === status);

/** The first sentence of a finding that says something by itself. @param {Control} c */
const gist = (c) => c.finding.replace(/^\d+ (?:cookie|policies)[^.]*\. /, "").match(/^.*?\.(?= [A-Z“]|$)/s)?.[0] ?? c.finding;

/** Whether whoever comes without https stays without it. @param {any} d */
const staysPlain = (d) => d.httpRedirect?.verdict === "warn";

/** @param {any} d @returns {import("../../lib/view.js").Verdict} */
function verdict(d) {
  const { fail, warn } = d.summary;
  const counts = severityCounts({ ...d.summary, notApplicable: 0 });
  const plain = staysPlain(d) ? `; http://${host(d.url)} is not redirected to https` : "";
  return { tone: fail ? "bad" : warn || d.notice || plain ? "warn" : "good", text: `Security headers of ${host(d.finalUrl)}: ${counts}${d.notice ? ", on an answer that may not be the site's page" : ""}${plain}.` };
}

/** The first thing that HSTS needs is a valid certificate. @param {Control} c @param {any} d */
const topic = (c, d) => (c.id === "hsts" && d.tls?.authorized === false ? certificateAside(host(d.finalUrl)) : {});

/** @param {any} d @returns {import("../../lib/view.js").Concern[]} */
function concerns(d) {
  const weak = having(d, "warn");
  return [
    ...having(d, "fail").map((c) => ({ tone: /** @type {const} */ ("bad"), text: `${c.name} on ${host(d.finalUrl)}: ${gist(c)}`, ...topic(c, d) })),
    ...(staysPlain(d) ? [{ tone: /** @type {const} */ ("warn"), text: d.httpRedirect.finding }] : []),
    ...(weak.length > 0 ? [{ tone: /** @type {const} */ ("warn"), text: `Security headers of ${host(d.finalUrl)} with warnings: ${listed(weak.map((c) => c.name))}.` }] : []),
  ];
}

/** Values that are new in every answer stay out of comparisons. @param {Control} c */
const lasting = (c) => (c.value === null ? "" : `: ${c.id === "information-leak" ? c.recommendation ?? "" : c.value.replace(/'nonce-[^']*'/g, "'nonce-…'")}`);

/** @type {import("../../lib/view.js").Judge} */
export default {
  verdict, concerns,
  facts: (d) => ({ "Answer": `${d.status} ${d.finalUrl}`, ...(d.httpRedirect ? { "Without https": `${d.httpRedirect.status ?? "no answer"}${d.httpRedirect.location ? ` ${d.httpRedirect.location}` : ""}` } : {}), ...Object.fromEntries(d.controls.map((/** @type {Control} */ c) => [c.name, severityWord(c.status) + lasting(c)])) }),
};

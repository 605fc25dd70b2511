// @ts-check
// Who announces an address, or who holds an AS number.

import { day, listed } from "../../lib/format.js";
import { originWords, registryName } from "../../lib/origin.js";

/** @typedef {import("../../lib/network.js").Origin} Origin */

/** @param {Origin} r */
export const name = (r) => `AS${r.asn}`;

/** Those of the longest prefix, to which packets go. @param {any} d @returns {Origin[]} */
export const winners = (d) => d.records.filter((/** @type {Origin} */ r) => r.prefix === d.records[0].prefix);

/** @param {any} d */
function verdictOfNumber(d) {
  const [r] = d.records;
  if (!r) return `The ASN service does not know ${d.query}.`;
  const since = r.allocated ? ` since ${day(r.allocated)}` : "";
  return `${d.query} ${r.name ? `is ${r.name},` : "has no name in the ASN service;"} registered${r.registry ? ` with ${registryName(r.registry)?.split(" (")[0]}` : ""}${since}.`;
}

/** @param {any} d */
function verdictOfAddress(d) {
  if (!d.announced) return `No network announces ${d.query} at present.`;
  const first = winners(d);
  return first.length > 1
    ? `${listed(first.map(name))} announce ${d.query}, as part of ${d.records[0].prefix}.`
    : `${originWords(first[0])} announces ${d.query}, as part of ${first[0].prefix}.`;
}

/** @type {import("../../lib/view.js").Judge} */
export default {
  verdict: (d) => ({ tone: d.announced ? "info" : "warn", text: d.queryType === "ip" ? verdictOfAddress(d) : verdictOfNumber(d) }),

  concerns: (d) => {
    if (!d.announced) return [{ tone: "warn", text: d.queryType === "ip" ? `According to the ASN service, no network announces ${d.query}; if so, packets cannot reach it.` : `The ASN service does not know ${d.query}.` }];
    const first = winners(d);
    return first.length > 1 ? [{ tone: "info", text: `${listed(first.map(name))} announce ${d.records[0].prefix} at the same time; that is usual for anycast and during moves; otherwise it is a sign of a mistake or a hijack.` }] : [];
  },

  facts: (d) => ({
    // That a number is known does not say that it announces anything.
    [d.queryType === "ip" ? "Announced" : "Known to the ASN service"]: d.announced ? "yes" : "no", Peers: d.peers.map((/** @type {number} */ n) => `AS${n}`),
    Origins: d.records.map((/** @type {Origin} */ r) => [name(r), r.prefix, r.name, r.country].filter(Boolean).join(", ")),
  }),
};

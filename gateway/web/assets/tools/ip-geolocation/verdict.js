// @ts-check
// Where an address is registered: its place in its network, the network card, and who announces it.

import { originWords } from "../../lib/origin.js";

/** @param {any} d "Netherlands (NL)" */
export const country = (d) => (d.countryName ? `${d.countryName} (${d.country})` : d.country);

/** The ASN service was heard where it is among the sources. @param {any} d */
export const unannounced = (d) => d.asn === null && d.sources.some((/** @type {any} */ s) => s.zone);

/** Whose the address is, as far as anybody told. @param {any} d */
function holder(d) {
  if (d.organization) return `is registered to ${d.organization}`;
  if (d.network) return `belongs to the network ${d.network.name || d.network.handle}, whose holder is not published`;
  return d.asn ? `is announced by ${originWords(d.asn)}; no registration of its network was found` : null;
}

/** @type {import("../../lib/view.js").Judge} */
export default {
  verdict: (d) => ({
    tone: "info",
    text: holder(d) ? `${d.ip} ${holder(d)}; country of registration: ${country(d) ?? "not known"}.` : `No registration was found for the network of ${d.ip}.`,
  }),

  concerns: (d) => (unannounced(d) ? [{ tone: "warn", text: `According to the ASN service, no network announces ${d.ip}; if so, packets cannot reach it.` }] : []),

  facts: (d) => ({
    Network: d.network?.cidrs ?? [], "Network name": d.network?.name ?? "", Holder: d.organization ?? "", "AS number": d.asn ? `AS${d.asn.asn}` : "",
    Prefix: d.asn?.prefix ?? "", Country: d.country ?? "", "Hostname": d.hostname ?? "", "Abuse contact": d.abuseContact ?? "",
  }),
};

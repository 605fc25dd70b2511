// @ts-check
// Where an address is registered: its place in its network, the network card, and who announces it.

/** @param {any} d "Netherlands (NL)" */
export const country = (d) => (d.countryName ? `${d.countryName} (${d.country})` : d.country);

/** The ASN service was heard where it is among the sources. @param {any} d */
export const unannounced = (d) => d.asn === null && d.sources.some((/** @type {any} */ s) => s.zone);

/** @type {import("../../lib/view.js").Judge} */
export default {
  facts: (d) => ({
    Network: d.network?.cidrs ?? [],
    "Network name": d.network?.name ?? "",
    Holder: d.organization ?? "",
    "AS number": d.asn ? `AS${d.asn.asn}` : "",
    Prefix: d.asn?.prefix ?? "",
    Country: d.country ?? "",
    Hostname: d.hostname ?? "",
    "Abuse contact": d.abuseContact ?? "",
  }),
};

// @ts-check
// Where an address is registered: what is compared with an earlier answer.

/** @type {import("../../lib/view.js").Judge<import("api").components["schemas"]["IpGeolocation"]>} */
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

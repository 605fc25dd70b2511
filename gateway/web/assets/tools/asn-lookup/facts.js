// @ts-check
// Who announces an address, or who holds an AS number: what is compared with an earlier answer.

/** @typedef {import("api").components["schemas"]["AsnLookup"]} AsnLookup */
/** @typedef {AsnLookup["records"][number]} Origin */

/** @param {Origin} r */
export const name = (r) => `AS${r.asn}`;

/** @type {import("../../lib/view.js").Judge<AsnLookup>} */
export default {
  facts: (d) => ({
    // A number that the service knows need not announce anything.
    [d.queryType === "ip" ? "Announced" : "Known to the ASN service"]: d.announced ? "yes" : "no",
    Peers: d.peers.map((n) => `AS${n}`),
    Origins: d.records.map((r) => [name(r), r.prefix, r.name, r.country].filter(Boolean).join(", ")),
  }),
};

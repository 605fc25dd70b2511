// @ts-check
// Who announces an address, or who holds an AS number.

/** @typedef {import("../../lib/network.js").Origin} Origin */

/** @param {Origin} r */
export const name = (r) => `AS${r.asn}`;

/** Those of the longest prefix, to which packets go. @param {any} d @returns {Origin[]} */
export const winners = (d) => d.records.filter((/** @type {Origin} */ r) => r.prefix === d.records[0].prefix);

/** @type {import("../../lib/view.js").Judge} */
export default {
  facts: (d) => ({
    // That a number is known does not say that it announces anything.
    [d.queryType === "ip" ? "Announced" : "Known to the ASN service"]: d.announced ? "yes" : "no",
    Peers: d.peers.map((/** @type {number} */ n) => `AS${n}`),
    Origins: d.records.map((/** @type {Origin} */ r) =>
      [name(r), r.prefix, r.name, r.country].filter(Boolean).join(", "),
    ),
  }),
};

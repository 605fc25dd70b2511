// @ts-check
// The way down to a name: what is compared with an earlier answer.

/** @typedef {import("api").components["schemas"]["DnsDelegation"]} DnsDelegation */

/** @type {import("../../lib/view.js").Judge<DnsDelegation>} */
export default {
  facts: (d) => ({
    Delegation: d.delegation,
    DNSSEC: d.dnssec,
    Zones: d.zones.map((z) => z.zone),
    "Name servers": d.zones[d.zones.length - 1]?.parentNs ?? [],
  }),
};

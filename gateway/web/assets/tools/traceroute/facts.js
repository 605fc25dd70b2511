// @ts-check
// The path to a host: how a trace ended, and what is worth comparing with an earlier one.

/** @typedef {{hop: any, last: number}} Row last is a later hop's number where silent hops are told together */
/** @typedef {{asn: any, rows: Row[]}} Group asn is null where the network is not known */

/** @type {Record<string, string>} */
const endings = {
  reached: "The destination answered.",
  maxHops: "The trace reached its maximum number of hops before the destination.",
  unreachable: "A router answered that it cannot reach the destination.",
  prohibited: "A firewall answered that it does not allow the probes.",
  deadline: "The time for a trace ran out.",
  gapLimit: "After the last answer, ten hops in a row did not answer within 2 s, and neither did the destination.",
};

/** @param {any} d @returns {any} the destination's own hop, if it is among them */
export const destination = (d) => d.hops.find((/** @type {any} */ h) => h.addresses.includes(d.address));

/** @param {any} d */
export const ending = (d) =>
  !d.reached && destination(d)
    ? "The destination itself refused the probes, so packets do get there."
    : endings[d.stopReason];

/** @type {import("../../lib/view.js").Judge} */
export default {
  facts: (d) => ({
    Reached: d.reached ? "yes" : "no",
    Ended: ending(d),
    Address: d.address,
    ...Object.fromEntries(d.hops.map((/** @type {any} */ h) => [`Hop ${h.ttl}`, h.hidden ? "hidden" : h.addresses])),
  }),
};

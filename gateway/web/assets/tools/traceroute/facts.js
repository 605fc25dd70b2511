// @ts-check
// The path to a host: how a trace ended, and what is compared with an earlier one.

import { number, privateHop } from "../../lib/format.js";

/** @typedef {import("api").components["schemas"]["Traceroute"]} Traceroute */
/** @typedef {import("api").components["schemas"]["Hop"]} Hop */

/** @type {Record<Traceroute["stopReason"], string>} */
const endings = {
  reached: "The destination answered.",
  maxHops: "The trace reached its maximum number of hops before the destination.",
  unreachable: "A router answered that it cannot reach the destination.",
  prohibited: "A firewall answered that it does not allow the probes.",
  deadline: "The time for a trace ran out.",
  gapLimit: "After the last answer, ten hops in a row did not answer within 2 s, and neither did the destination.",
};

/**
 * The destination's own hop, if it is among them.
 * @template {{addresses: string[], targetAddress?: true}} H
 * @param {{hops: H[], address: string | null}} d
 */
export const destination = (d) =>
  d.hops.find((h) => d.address !== null && h.addresses.includes(d.address) && !h.targetAddress);

/** @param {Traceroute} d */
export const ending = (d) =>
  d.conclusion?.code === "REFUSED_BY_DESTINATION"
    ? "The destination itself rejected the probes."
    : endings[d.stopReason];

/** A size of packets. @param {number} size */
export const octets = (size) => `${number(size)} octets`;

/** @type {import("../../lib/view.js").Judge<Traceroute>} */
export default {
  facts: (d) => ({
    Reached: d.reached ? "yes" : "no",
    Ended: ending(d),
    Address: d.address,
    ...(d.mtu && { "Path MTU": d.mtu.path === null ? "not known" : octets(d.mtu.path) }),
    ...Object.fromEntries(d.hops.map((h) => [`Hop ${h.ttl}`, h.hidden ? privateHop : h.addresses])),
  }),
};

/**
 * Where the scale of times ends, in milliseconds: at the last hop that matters. A router that only answers slowly,
 * though the destination behind it is fast, lies beyond.
 * @param {{hops: Hop[], address: string | null, reached: boolean}} d
 */
export function scaleEnd(d) {
  const end = d.reached ? destination(d) : undefined;
  const limit = end?.worstMs ?? Infinity;
  const matter = d.hops.filter((h) => (h.bestMs ?? 0) <= limit);
  return Math.max(1, ...matter.map((h) => Math.min(h.worstMs ?? 0, 2 * limit)));
}

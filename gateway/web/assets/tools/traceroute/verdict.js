// @ts-check
// The path to a host: the engine's explanation, then the hops with their times on one scale, network by network.

import { ms, plural } from "../../lib/format.js";

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
export const ending = (d) => (!d.reached && destination(d) ? "The destination itself refused the probes, so packets do get there." : endings[d.stopReason]);

/** @param {any} d @returns {import("../../lib/view.js").Verdict} */
function verdict(d) {
  const end = destination(d);
  const name = d.target === d.address ? d.target : `${d.target} (${d.address})`;
  const heard = d.hops.filter((/** @type {any} */ h) => h.received > 0).at(-1);
  if (!d.reached) {
    const far = heard ? `got as far as hop ${heard.ttl}` : "got no answer on the way";
    return { tone: d.stopReason === "unreachable" && !end ? "bad" : "warn", text: `The trace to ${name} ${far}. ${ending(d)}` };
  }
  if (!end?.received) return { tone: "warn", text: `${name} answers, but its distance could not be measured.` };
  const text = `${name} is ${plural(end.ttl, "hop")} away and answered in ${ms(end.averageMs)} on average`;
  return end.received < end.sent ? { tone: "warn", text: `${text}, but only to ${end.received} of ${end.sent} probes before the trace ended.` } : { tone: "good", text: `${text}.` };
}

/** @type {import("../../lib/view.js").Judge} */
export default {
  verdict,

  concerns: (d) => {
    const { tone, text } = verdict(d);
    return tone === "bad" || tone === "warn" ? [{ tone, text, broken: tone === "bad" }] : [];
  },

  facts: (d) => ({
    Reached: d.reached ? "yes" : "no", Ended: ending(d), Address: d.address,
    ...Object.fromEntries(d.hops.map((/** @type {any} */ h) => [`Hop ${h.ttl}`, h.hidden ? "hidden" : h.addresses])),
  }),
};

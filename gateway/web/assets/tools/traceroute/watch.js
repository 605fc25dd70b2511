// @ts-check
// What a watch keeps of a path.

import { destination } from "./verdict.js";

/** @typedef {import("../../lib/watch-record.js").Hop} Hop */

/** @type {Record<string, string>} */
const states = { reached: "reached", unreachable: "unreachable", prohibited: "prohibited" };

/** @param {any} h @returns {Hop} */
const hop = (h) => ({ who: h.addresses, hidden: h.hidden, times: h.rttsMs, sent: h.sent });

/** @param {any} d */
const stateOf = (d) => (d.reached ? "reached" : states[d.stopReason] ?? "not reached");

/** The hops in their places: what is missing between two is silent. @param {any[]} hops @returns {Hop[]} */
function placed(hops) {
  /** @type {Hop[]} */
  const list = [];
  for (const h of hops.filter((one) => one.ttl >= 1 && one.ttl <= 64)) {
    while (list.length < h.ttl - 1) list.push({ who: [], hidden: false, times: [], sent: 0 });
    list[h.ttl - 1] = hop(h);
  }
  return list;
}

/** @type {Record<string, string>} */
const words = {
  reached: "the destination answers", unreachable: "a router says that the destination cannot be reached",
  prohibited: "a firewall does not allow the probes", "not reached": "the destination does not answer",
};

/** @type {import("../../lib/watch-record.js").Watcher} */
export default {
  measure: "round trip",
  probes: true,
  path: true,
  digest: (d) => {
    const end = destination(d);
    const state = stateOf(d);
    return {
      state, tone: state === "reached" ? "good" : state === "unreachable" ? "bad" : "warn", address: d.address,
      times: (end?.rttsMs ?? []).filter((/** @type {number | null} */ t) => t !== null), sent: end?.sent ?? 0, lost: end ? end.sent - end.received : 0,
      hops: placed(d.hops), note: d.reached ? "" : words[state],
    };
  },
  turned: (_, now) => ({ reached: "the destination answers again", "not reached": "the destination does not answer any more" })[now.state] ?? words[now.state],
};

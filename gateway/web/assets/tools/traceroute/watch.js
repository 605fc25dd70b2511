// @ts-check
// What a watch keeps of a path.

import { plural } from "../../lib/format.js";
import { ofRounds } from "../../lib/watch-words.js";
import { destination } from "./facts.js";

/** @typedef {import("./facts.js").Traceroute} Traceroute */
/** @typedef {import("../../lib/watch-record.js").Hop} Hop */

/** @type {Record<string, string>} */
const states = { unreachable: "unreachable", prohibited: "prohibited" };

/** @param {Traceroute["hops"][number]} h @returns {Hop} */
const hop = (h) => ({ who: h.addresses, hidden: h.hidden, times: /** @type {number[]} */ (h.rttsMs), sent: h.sent });

/** @param {Traceroute} d */
const stateOf = (d) => (d.reached ? "reached" : (states[d.stopReason] ?? "not reached"));

/**
 * The hops in their places; one that is missing between two is silent.
 * @param {Traceroute["hops"]} hops
 * @returns {Hop[]}
 */
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
  reached: "the destination answers",
  unreachable: "a router cannot reach the destination",
  prohibited: "a firewall rejects the probes",
  "not reached": "the destination does not answer",
};

/** @param {import("../../lib/watch-record.js").Told} told */
function sum({ who, all, last, rounds, troubled, after, lost, changes }) {
  const reached = all.length - troubled;
  if (reached === 0)
    return `${who} was ${rounds === 1 ? "not reached in 1 round" : `reached in none of ${plural(rounds, "round")}`}.`;
  if (last.tone !== "good")
    return `${who} is not reached now; it was in ${ofRounds(reached, rounds)}${after && `,${after}`}.`;
  if (troubled > 0) return `${who} is reached again${after}; it was not in ${ofRounds(troubled, rounds)}.`;
  return (
    `${who} is reached${after}; ` +
    `${lost && `${lost} of probes unanswered, `}${changes === 0 ? "nothing changed" : plural(changes, "change")} ` +
    `in ${plural(rounds, "round")}.`
  );
}

/** @type {import("../../lib/watch-record.js").Watcher} */
export default {
  measure: "round trip",
  sum,
  probes: true,
  path: true,
  digest: (/** @type {Traceroute} */ d) => {
    const end = destination(d);
    const state = stateOf(d);
    return {
      state,
      tone: state === "reached" ? "good" : state === "unreachable" ? "bad" : "warn",
      // Silence may be that of a destination which never answers such probes.
      works: state === "not reached" ? null : state === "reached",
      address: d.address,
      times: /** @type {number[]} */ (end?.rttsMs ?? []),
      sent: end?.sent ?? 0,
      lost: end ? end.sent - end.received : 0,
      hops: placed(d.hops),
      note: d.reached ? "" : words[state],
    };
  },
  turned: (_, now) => (now.state === "reached" ? "the destination answers again" : words[now.state]),
};

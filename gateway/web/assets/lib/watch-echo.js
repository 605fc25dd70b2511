// @ts-check
// What a watch keeps of the answers of ping and packet-loss.

import { limited, lossTone, missing } from "./echo-verdict.js";
import { plural } from "./format.js";
import { ofRounds } from "./watch-words.js";

/** What a host that answers only so many probes a second leaves out is no loss. @param {any} d */
function stateOf(d) {
  if (d.received === 0) return { state: "no answer", tone: /** @type {const} */ ("bad") };
  return missing(d) > 0 && !limited(d)
    ? { state: "loss", tone: lossTone(d) }
    : { state: "no loss", tone: /** @type {const} */ ("good") };
}

/** @type {Record<string, string>} */
const turns = {
  "no answer": "it stopped answering",
  "no answer loss": "it answers again, with loss",
  "no answer no loss": "it answers again",
  "no loss loss": "loss began",
  "loss no loss": "loss ended",
};

/** @param {import("./watch-record.js").Told} told */
function sum({ who, all, last, rounds, after, lost }) {
  const heard = all.filter(({ times }) => times.length > 0).length;
  if (heard === 0)
    return `${who} ${rounds === 1 ? "did not answer in 1 round" : `answered in none of ${plural(rounds, "round")}`}.`;
  if (last.times.length === 0) return `${who} does not answer now; it did in ${ofRounds(heard, rounds)},${after}.`;
  if (heard < all.length)
    return `${who} answers again,${after}; it did not in ${ofRounds(all.length - heard, rounds)}.`;
  if (lost)
    return (
      `${who} left ${lost} of probes unanswered in ${plural(rounds, "round")}; it ` +
      `answers${after}.${last.note ? ` ${last.note}` : ""}`
    );
  return `${who} answered in ${ofRounds(heard, rounds)},${after}.`;
}

/** @type {import("./watch-record.js").Watcher} */
export default {
  measure: "round trip",
  probes: true,
  sum,
  digest: (d) => ({
    ...stateOf(d),
    address: d.address,
    times: d.replies.map((/** @type {any} */ r) => r.rttMs).filter((/** @type {number | null} */ t) => t !== null),
    sent: d.sent - d.undecided,
    lost: missing(d),
    note: limited(d) ? "The host probably limits its answers." : "",
  }),
  turned: (before, now) => turns[`${before.state} ${now.state}`] ?? turns[now.state],
};

// @ts-check
// What a watch keeps of the answers of ping and packet-loss.

import { limited, lossTone, missing } from "./echo-verdict.js";

/** What a host that answers only so many probes a second leaves out is no loss. @param {any} d */
function stateOf(d) {
  if (d.received === 0) return { state: "no answer", tone: /** @type {const} */ ("bad") };
  return missing(d) > 0 && !limited(d) ? { state: "loss", tone: lossTone(d) } : { state: "no loss", tone: /** @type {const} */ ("good") };
}

/** @type {Record<string, string>} */
const turns = {
  "no answer": "it stopped answering", "no answer loss": "it answers again, with loss", "no answer no loss": "it answers again", "no loss loss": "loss began", "loss no loss": "loss ended",
};

/** @type {import("./watch-record.js").Watcher} */
export default {
  measure: "round trip",
  probes: true,
  digest: (d) => ({
    ...stateOf(d), address: d.address, times: d.replies.map((/** @type {any} */ r) => r.rttMs).filter((/** @type {number | null} */ t) => t !== null),
    sent: d.sent - d.undecided, lost: missing(d), note: limited(d) ? "The host probably limits its answers." : "",
  }),
  turned: (before, now) => turns[`${before.state} ${now.state}`] ?? turns[now.state],
};

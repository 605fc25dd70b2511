// @ts-check
// What a watch keeps of the answers of ping and packet-loss.

import { missing } from "./echo-verdict.js";
import { findingOf, toneOf } from "./findings.js";
import { plural } from "./format.js";
import { ofRounds } from "./watch-words.js";

/**
 * The states of a round by the code of its conclusion; every other code is one without loss. @type {Record<string,
 * string>}
 */
const states = {
  NO_REPLY: "no answer",
  UNREACHABLE: "no answer",
  PROHIBITED: "no answer",
  NOT_MEASURED: "not measured",
  LOW_PACKET_LOSS: "loss",
  PACKET_LOSS: "loss",
  HIGH_PACKET_LOSS: "loss",
};

/** @type {Record<string, string>} */
const turns = {
  "no answer": "it stopped answering",
  "no answer loss": "it answers again, with loss",
  "no answer no loss": "it answers again",
  "no loss loss": "loss began",
  "loss no loss": "loss ended",
  "not measured": "it could not be measured",
  "not measured loss": "it answers, with loss",
  "not measured no loss": "it answers",
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
  digest: (/** @type {import("./echo-verdict.js").Ping} */ d) => {
    const state = states[d.conclusion.code] ?? "no loss";
    return {
      state,
      tone: toneOf(d),
      works: state === "not measured" ? null : state !== "no answer",
      address: d.address,
      times: d.replies.map((r) => r.rttMs).filter((t) => t !== null),
      sent: d.sent - d.undecided - d.damaged,
      lost: missing(d),
      note: findingOf(d, "REPLIES_LIMITED") ? d.conclusion.message : "",
    };
  },
  turned: (before, now) => turns[`${before.state} ${now.state}`] ?? turns[now.state],
};

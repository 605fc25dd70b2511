// @ts-check
// What a watch keeps of whether a site answers.

import { host, listed, number } from "../../lib/format.js";
import { ofRounds } from "../../lib/watch-words.js";

/** @typedef {import("./facts.js").Uptime} Uptime */

/** @type {Record<string, import("../../lib/view.js").Tone>} */
const tones = { up: "good", degraded: "warn", down: "bad", "without an address": "bad" };

/** Only a site that has an address can be down. @param {Uptime} d */
const stateOf = ({ verdict, conclusion }) =>
  ["NO_ADDRESS", "NAME_NOT_FOUND"].includes(conclusion?.code) ? "without an address" : verdict;

/** @param {import("../../lib/watch-record.js").Told} told */
function sum({ who, all, last, rounds, after, unknown }) {
  const name = /^https?:/i.test(who) ? host(who) : who;
  const counts = /** @type {Map<string, number>} */ (new Map());
  for (const { state } of all) counts.set(state, (counts.get(state) ?? 0) + 1);
  if (counts.size === 1)
    return `${name} was ${last.state} in ${ofRounds(all.length, rounds)}${after && ` and answered${after}`}.`;
  const were = ["down", "without an address", "degraded"]
    .filter((state) => counts.has(state))
    .map(
      (state, i) =>
        `${state} in ${i === 0 ? ofRounds(counts.get(state) ?? 0, rounds) : number(counts.get(state) ?? 0)}`,
    );
  return `${name} ${unknown ? `was ${last.state} at the last result` : `is ${last.state}`}; it was ${listed(were)}.`;
}

/** @type {import("../../lib/watch-record.js").Watcher} */
export default {
  measure: "response time",
  sum,
  digest: (/** @type {Uptime} */ d) => ({
    state: stateOf(d),
    tone: tones[d.verdict] ?? "info",
    works: d.verdict in tones ? d.verdict !== "down" : null,
    address: "",
    times: d.verdict !== "down" && d.responseTimeMs !== null ? [d.responseTimeMs] : [],
    sent: 0,
    lost: 0,
    note: d.verdict === "up" ? "" : (d.reason ?? ""),
  }),
  turned: (before, now) => `it went from ${before.state} to ${now.state}`,
};

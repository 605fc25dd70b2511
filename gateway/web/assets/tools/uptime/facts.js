// @ts-check
// Whether a site answers, over each family of addresses on its own: what is compared with an earlier answer.

import { answered } from "../../lib/statuses.js";

/** @typedef {import("api").components["schemas"]["Uptime"]} Uptime */
/** @typedef {Uptime["families"]["ipv4"]} Family */
/** @typedef {"IPv4" | "IPv6"} Name */

/** @param {Uptime} d @returns {[Name, Family][]} */
export const families = (d) => [
  ["IPv4", d.families.ipv4],
  ["IPv6", d.families.ipv6],
];

/** @type {Record<Family["state"], string>} */
export const stateWords = { up: "answers", down: "down", noAddress: "no address", skipped: "not checked" };

/** @type {import("../../lib/view.js").Judge<Uptime>} */
export default {
  facts: (d) => ({
    Verdict: d.verdict,
    Status: answered(d),
    "Final URL": d.finalUrl ?? "",
    Reason: d.reason ?? "",
    Certificate: { true: "valid", false: "not valid", null: "none" }[String(d.certificateValid)] ?? "",
    "Bot challenge": d.challenge?.vendor ?? "none",
    ...Object.fromEntries(families(d).map(([name, f]) => [name, stateWords[f.state] ?? f.state])),
    ...Object.fromEntries(
      families(d)
        .flatMap(([, f]) => f.addresses ?? [])
        .map((a) => [a.address, stateWords[a.state] ?? a.state]),
    ),
  }),
  // The first request of a day may well take a tenth of a second longer than the next.
  times: (d) => ({ "Response time": [d.responseTimeMs, 100] }),
};

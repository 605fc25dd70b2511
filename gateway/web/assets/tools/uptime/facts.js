// @ts-check
// Whether a site answers, over each family of addresses on its own.

import { answered } from "../../lib/statuses.js";

/**
 * @typedef {{state: "up" | "down" | "noAddress" | "skipped", address: string | null, status: number | null,
 *   responseTimeMs: number | null, reason: string | null, addresses?: Address[]}} Family
 */
/**
 * @typedef {{address: string, state: "up" | "down" | "skipped", status: number | null, reason: string | null}} Address
 */
/** @typedef {"IPv4" | "IPv6"} Name */

/** @param {any} d @returns {[Name, Family][]} */
export const families = (d) => [
  ["IPv4", d.families.ipv4],
  ["IPv6", d.families.ipv6],
];

/** @param {any} d the family that does not answer while the other does @returns {Name | undefined} */
export const lame = (d) => (d.online ? families(d).find(([, f]) => f.state === "down")?.[0] : undefined);

/** The addresses that do not answer, of families that do. @param {any} d @returns {string[]} */
export const dead = (d) =>
  families(d)
    .flatMap(([, f]) => (f.state === "up" ? (f.addresses ?? []) : []))
    .filter((a) => a.state === "down")
    .map((a) => a.address);

/** @type {Record<Family["state"], string>} */
export const stateWords = { up: "answers", down: "down", noAddress: "no address", skipped: "not checked" };

/** @type {import("../../lib/view.js").Judge} */
export default {
  facts(d) {
    return {
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
    };
  },
  // The first request of a day may well take a tenth of a second longer than the next.
  times: (d) => ({ "Response time": [d.responseTimeMs, 100] }),
};

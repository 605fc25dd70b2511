// @ts-check
// Whether a site answers, over each family of addresses on its own.

import { challengeWords } from "../../lib/challenge.js";
import { host, listed, ms } from "../../lib/format.js";
import { answered } from "../../lib/statuses.js";
import { certificateAside } from "../../lib/topics.js";

/** @typedef {{state: "up" | "down" | "noAddress" | "skipped", address: string | null, status: number | null, responseTimeMs: number | null, reason: string | null, addresses?: Address[]}} Family */
/** @typedef {{address: string, state: "up" | "down" | "skipped", status: number | null, reason: string | null}} Address */
/** @typedef {"IPv4" | "IPv6"} Name */

/** Longer than this is worth a word, in milliseconds. */
const slow = 2000;

/** @param {any} d @returns {[Name, Family][]} */
export const families = (d) => [["IPv4", d.families.ipv4], ["IPv6", d.families.ipv6]];

/** @param {any} d the family that does not answer while the other does @returns {Name | undefined} */
export const lame = (d) => (d.online ? families(d).find(([, f]) => f.state === "down")?.[0] : undefined);

/** The addresses that do not answer, of families that do. @param {any} d @returns {string[]} */
export const dead = (d) => families(d).flatMap(([, f]) => (f.state === "up" ? f.addresses ?? [] : [])).filter((a) => a.state === "down").map((a) => a.address);

/** Whether the answer that speaks for the site is a challenge. @param {any} d */
const challenged = (d) => (d.challenge ? challengeWords(d.challenge) : "");

/** @param {any} d */
const down = (d) => (families(d).every(([, f]) => f.state === "noAddress") ? `${d.reason ?? `${host(d.url)} has no address.`} Without one there is no website.` : challenged(d) ? `${host(d.url)} answers ${answered(d)}. ${challenged(d)}` : d.status === null ? `${host(d.url)} is down. ${d.reason ?? ""}`.trim() : `${host(d.url)} is down: it answers ${answered(d)}.`);

/** @param {any} d @returns {string} why a site is degraded, as the end of a sentence, or with the reason as one of its own */
function trouble(d) {
  const missing = lame(d);
  if (missing) return `not over ${missing}${refused(d) ? ", and its certificate is not valid" : ""}.`;
  if (refused(d)) return "its certificate is not valid.";
  if (challenged(d)) return `with ${answered(d)}. ${challenged(d)}`;
  if (dead(d).length > 0) return `not at ${listed(dead(d))}.`;
  if (d.status >= 400) return `with ${answered(d)}.`;
  return `not as it should. ${d.reason ?? ""}`.trim();
}

/** Browsers refuse a site whose certificate is not valid. @param {any} d */
const refused = (d) => d.certificateValid === false;

/** @param {any} d @returns {"bad" | "warn"} */
const degraded = (d) => (refused(d) ? "bad" : "warn");

/** A server error that is a challenge says nothing of the site. @param {any} d @returns {"bad" | "warn"} */
const fallen = (d) => (d.challenge ? "warn" : "bad");

/** @type {Record<Family["state"], string>} */
export const stateWords = { up: "answers", down: "down", noAddress: "no address", skipped: "not checked" };

/** @type {import("../../lib/view.js").Judge} */
export default {
  verdict(d) {
    const over = families(d).filter(([, f]) => f.state === "up").map(([name]) => name).join(" and ");
    if (d.verdict === "up") return { tone: "good", text: `${host(d.url)} is up: it answers ${answered(d)} after ${ms(d.responseTimeMs)} over ${over}.` };
    if (d.verdict === "degraded") return { tone: degraded(d), text: `${host(d.url)} answers${lame(d) ? ` over ${over}` : ""}, but ${trouble(d)}` };
    return { tone: fallen(d), text: down(d) };
  },

  concerns(d) {
    /** @type {import("../../lib/view.js").Concern[]} */
    const list = [];
    if (d.verdict === "down") list.push({ tone: fallen(d), broken: !d.challenge, text: down(d) });
    if (d.verdict === "degraded") {
      const topic = refused(d) ? certificateAside(host(d.finalUrl ?? d.url)) : {};
      list.push({ tone: degraded(d), broken: refused(d), text: `${host(d.url)} answers, but not as it should. ${d.reason ?? ""}`.trim(), ...topic });
    }
    if (d.responseTimeMs >= slow) list.push({ tone: "warn", text: `${host(d.url)} takes ${ms(d.responseTimeMs)} to answer.` });
    if (d.online && d.families.ipv4.state === "noAddress" && !d.url.includes("[")) {
      list.push({ tone: "warn", text: `${d.families.ipv4.reason} Visitors without IPv6 may not reach it.` });
    }
    return list;
  },

  facts(d) {
    return {
      "Verdict": d.verdict, "Status": answered(d), "Final URL": d.finalUrl ?? "", "Reason": d.reason ?? "",
      "Certificate": { true: "valid", false: "not valid", null: "none" }[String(d.certificateValid)] ?? "",
      "Bot challenge": d.challenge?.vendor ?? "none",
      ...Object.fromEntries(families(d).map(([name, f]) => [name, stateWords[f.state] ?? f.state])),
      ...Object.fromEntries(families(d).flatMap(([, f]) => f.addresses ?? []).map((a) => [a.address, stateWords[a.state] ?? a.state])),
    };
  },
  // The first request of a day may well take a tenth of a second longer than the next.
  times: (d) => ({ "Response time": [d.responseTimeMs, 100] }),
};

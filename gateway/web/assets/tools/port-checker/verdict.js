// @ts-check
// A TCP port, address by address: who answered what, and how fast.

import { lower, plural } from "../../lib/format.js";

/** @typedef {{address: string, family: 4 | 6, state: string, responseTimeMs: number | null, reason: string | null}} Tried */
/** @typedef {"good" | "warn" | "bad" | "info"} Tone */

/** A state: its tone, what it says of a port, and what happened. @type {Record<string, [Tone, string, string]>} */
export const states = {
  open: ["good", "is open", "accepted"],
  closed: ["bad", "is closed: the connection is refused", "refused"],
  filtered: ["warn", "does not answer: a firewall may drop the packets, or nothing is there", "no answer"],
  unreachable: ["bad", "cannot be reached", "not reachable"],
  skipped: ["info", "was not tried", "not tried"],
};

/** The field's word for a state. @param {string} state */
export const stateWord = (state) => (state === "skipped" ? "not tried" : state);

/** Services that are rarely meant for everybody: databases, remote desktops, shared files, control of machines. */
const risky = /^(?:mysql|postgresql|ms-sql-s|redis|mongodb|couchdb|memcache|etcd-client|ms-wbt-server|rfb|microsoft-ds|netbios-ssn|docker|telnet)$/;

/** @param {any} d */
const named = (d) => `Port ${d.port}${d.service ? ` (usually ${d.service})` : ""} of ${d.host}`;

/** The addresses where something else came out than the best. @param {any} d @returns {Tried[]} */
export const others = (d) => d.addresses.filter((/** @type {Tried} */ a) => a.state !== d.state && a.state !== "skipped");

/** @param {any} d @returns {string} how many addresses are left that the verdict says nothing of, in a sentence */
export const untried = (d) => (d.untried > 0 ? `${plural(d.untried, "more address", "more addresses")} of ${d.host} ${d.untried === 1 ? "was" : "were"} not tried.` : "");

/** @param {any} d @returns {{tone: Tone, text: string}} */
function verdict(d) {
  if (d.addresses.every((/** @type {Tried} */ a) => a.state === "skipped")) return { tone: "info", text: `${named(d)} was not tried: ${lower(d.addresses[0].reason)}` };
  const [tone, words] = states[d.state];
  const odd = others(d).length;
  const rest = untried(d) && ` ${untried(d)}`;
  if (odd === 0 || d.state !== "open") return { tone, text: `${named(d)} ${words}.${rest}` };
  return { tone: "warn", text: `${named(d)} is open, but only at ${d.addresses.length - odd} of ${d.addresses.length} addresses.${rest}` };
}

/** @param {any} d */
export const exposed = (d) => (d.state === "open" && risky.test(d.service) ? `${named(d)} is open to the internet. Such a service is rarely meant for everyone.` : null);

/** @param {any} d @returns {import("../../lib/view.js").Concern[]} */
function concerns(d) {
  const { tone, text } = verdict(d);
  const risk = exposed(d);
  return [...(tone === "good" ? [] : [{ tone, text, broken: tone === "bad" }]), ...(risk ? [{ tone: /** @type {const} */ ("warn"), text: risk }] : [])];
}

/** @type {import("../../lib/view.js").Judge} */
export default {
  verdict, concerns,
  facts: (d) => ({ "State": stateWord(d.state), "Not tried": plural(d.untried ?? 0, "address", "addresses"), ...Object.fromEntries(d.addresses.map((/** @type {Tried} */ a) => [a.address, stateWord(a.state)])) }),
};

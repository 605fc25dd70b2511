// @ts-check
// A TCP port, address by address: who answered what, and how fast.

import { plural } from "../../lib/format.js";

/**
 * @typedef {{address: string, family: 4 | 6, state: string, responseTimeMs: number | null, reason: string | null}}
 *   Tried
 */
/** @typedef {"good" | "warn" | "bad" | "info"} Tone */

/** A state: its tone, and what happened. @type {Record<string, [Tone, string]>} */
export const states = {
  open: ["good", "accepted"],
  closed: ["bad", "refused"],
  filtered: ["warn", "no answer"],
  unreachable: ["bad", "not reachable"],
  skipped: ["info", "not tried"],
};

/** The field's word for a state. @param {string} state */
export const stateWord = (state) => (state === "skipped" ? "not tried" : state);

/** The addresses where something else came out than the best. @param {any} d @returns {Tried[]} */
export const others = (d) =>
  d.addresses.filter((/** @type {Tried} */ a) => a.state !== d.state && a.state !== "skipped");

/** @param {any} d @returns {string} how many addresses are left that the verdict says nothing of, in a sentence */
export const untried = (d) =>
  d.untried > 0
    ? `${plural(d.untried, "more address", "more addresses")} of ${d.host} ${d.untried === 1 ? "was" : "were"} ` +
      "not tried."
    : "";

/** @type {import("../../lib/view.js").Judge} */
export default {
  facts: (d) => ({
    State: stateWord(d.state),
    "Not tried": plural(d.untried ?? 0, "address", "addresses"),
    ...Object.fromEntries(d.addresses.map((/** @type {Tried} */ a) => [a.address, stateWord(a.state)])),
  }),
};

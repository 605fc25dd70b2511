// @ts-check
// What the pages need of the answers of ping and packet-loss: echo probes from our server to a host.

import { plural } from "./format.js";

/**
 * The probes that never were answered; those that had no time to be are not among them. @param {any} d @returns
 * {number}
 */
export const missing = (d) => d.sent - d.received - d.undecided;

/** The probes of which it is known what became. @param {any} d @returns {string} */
export const decided = (d) => plural(d.sent - d.undecided, "probe");

/**
 * Whether the host probably answers only so many probes a second: what it left out looked like that, and it answered
 * all
 * that were sent a second apart.
 * @param {any} d
 * @returns {boolean}
 */
export const limited = (d) =>
  missing(d) > 0 && d.confirmation !== null && d.confirmation.received === d.confirmation.sent;

/** @type {Record<string, string>} */
const endings = {
  completed: "all probes were sent and had time to be answered",
  unreachable: "a router said that the host cannot be reached",
  prohibited: "a router or firewall said that these packets are not allowed",
  deadline: "the time for this check ran out",
};

/** Why a run ended. @param {any} d @returns {string} */
export const endingOf = (d) =>
  d.stopReason === "completed" && d.undecided > 0
    ? "all probes were sent"
    : (endings[d.stopReason] ?? String(d.stopReason));

/** The severity that the service gives this loss. @param {any} d @returns {"warn" | "info"} */
export const lossTone = (d) => (missing(d) * 10 >= d.sent - d.undecided ? "warn" : "info");

/** What is worth comparing with an earlier answer. @param {any} d @returns {import("./view.js").Facts} */
export function compared(d) {
  return {
    Address: d.address,
    "Probes answered": d.received === 0 ? "none" : missing(d) > 0 ? "some" : "all",
    "Why it ended": endingOf(d),
  };
}

/**
 * Probes of one host seldom differ by more than so many milliseconds without a cause. @param {any} d @returns
 * {import("./view.js").Times}
 */
export const echoTimes = (d) => ({ "Median time": [d.medianMs, 10] });

// @ts-check
// What the pages read from the answers of ping and packet-loss: echo probes from our server to a host.

import { plural } from "./format.js";

/** @typedef {import("api").components["schemas"]["Ping"]} Ping */
/** @typedef {Pick<Ping, "sent" | "received" | "undecided" | "damaged">} Counts */

/**
 * How many probes were never answered; those sent too late and those with a damaged reply are left out.
 * @param {Counts} d
 * @returns {number}
 */
export const missing = (d) => d.sent - d.received - d.undecided - d.damaged;

/** How many probes count, in words. @param {Counts} d @returns {string} */
export const decided = (d) => plural(d.sent - d.undecided - d.damaged, "probe");

/** @type {Record<Ping["stopReason"], string>} */
const endings = {
  completed: "all probes were sent and had time to be answered",
  unreachable: "a router reported that the host cannot be reached",
  prohibited: "a router or firewall rejected the probes",
  deadline: "the time for this check ran out",
};

/** Why a run ended. @param {Pick<Ping, "stopReason" | "undecided">} d @returns {string} */
export const endingOf = (d) =>
  d.stopReason === "completed" && d.undecided > 0
    ? "all probes were sent"
    : (endings[d.stopReason] ?? String(d.stopReason));

/** What is worth comparing with an earlier answer. @param {Ping} d @returns {import("./view.js").Facts} */
export function compared(d) {
  return {
    Address: d.address,
    "Probes answered": d.received === 0 ? "none" : missing(d) > 0 ? "some" : "all",
    "Why it ended": endingOf(d),
  };
}

/**
 * Probes of one host seldom differ by more than so many milliseconds without a cause.
 * @param {Ping} d
 * @returns {import("./view.js").Times}
 */
export const echoTimes = (d) => ({ "Median time": [d.medianMs, 10] });

// @ts-check
// What the answers of ping and packet-loss come to: echo probes from our server to a host.

import { percent, plural } from "./format.js";

/** @typedef {import("./view.js").Verdict} Verdict */

/** @type {Record<string, string>} */
export const endings = {
  completed: "all probes were sent and waited for",
  unreachable: "a router said that the host cannot be reached",
  prohibited: "a router or firewall said that these packets are forbidden",
  deadline: "the time for this check ran out",
};

/**
 * What all probes came to where none was answered; null where some were.
 * @param {any} d
 * @returns {Verdict | null}
 */
function unanswered(d) {
  if (d.received > 0) return null;
  const probes = plural(d.sent, "probe");
  if (d.stopReason === "unreachable") return { tone: "bad", text: `${d.target} cannot be reached: a router on the way said so.` };
  if (d.stopReason === "prohibited") return { tone: "warn", text: `Probes to ${d.target} are forbidden: a router or firewall on the way said so.` };
  return { tone: "warn", text: d.sent > 0 ? `${d.target} did not answer any of ${probes}; many hosts ignore them.` : `No probe to ${d.target} could be sent in time.` };
}

/**
 * The verdict of a view.
 * @param {any} d
 * @param {string} well said where all were answered
 * @param {string} worse said where some were lost
 * @returns {Verdict}
 */
export function verdict(d, well, worse) {
  return unanswered(d) ?? (d.received === d.sent ? { tone: "good", text: well } : { tone: lossTone(d), text: worse });
}

/**
 * @param {any} d
 * @returns {import("./view.js").Concern[]}
 */
export function concerns(d) {
  const silence = unanswered(d);
  // Who never answers probes is not thereby in trouble.
  const broken = d.stopReason === "unreachable";
  if (silence) return [{ tone: broken ? "bad" : "info", broken, text: silence.text }];
  const list = /** @type {import("./view.js").Concern[]} */ ([]);
  if (d.lossPercent > 0) list.push({ tone: lossTone(d), text: `${percent(d.lossPercent)} of ${plural(d.sent, "probe")} to ${d.target} got no answer.` });
  if (d.duplicates > 0) list.push({ tone: "info", text: `${d.target} answered ${plural(d.duplicates, "probe")} more than once.` });
  return list;
}

/** One lost probe is no pattern. @param {any} d @returns {"warn" | "bad"} */
const lossTone = (d) => (d.lossPercent >= 10 && d.sent - d.received > 1 ? "bad" : "warn");

/** What is worth comparing with an earlier answer. @param {any} d @returns {import("./view.js").Facts} */
export function compared(d) {
  return {
    Address: d.address,
    "Probes answered": d.received === 0 ? "none" : d.received < d.sent ? "some" : "all",
    "Why it ended": endings[d.stopReason] ?? String(d.stopReason),
  };
}

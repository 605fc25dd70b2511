// @ts-check
// What the answers of ping and packet-loss come to: echo probes from our server to a host.

import { ms, percent, plural } from "./format.js";

/** @typedef {import("./view.js").Verdict} Verdict */

/** The probes that never were answered; those that had no time to be are not among them. @param {any} d @returns {number} */
export const missing = (d) => d.sent - d.received - d.undecided;

/** The probes of which it is known what became. @param {any} d @returns {string} */
export const decided = (d) => plural(d.sent - d.undecided, "probe");

/**
 * Whether the host probably answers only so many probes a second: what it left out looked like that, and it answered all
 * that were sent a second apart.
 * @param {any} d
 * @returns {boolean}
 */
export const limited = (d) => missing(d) > 0 && d.confirmation !== null && d.confirmation.received === d.confirmation.sent;

/** How far apart the probes of the confirmation were. @param {any} d */
const apart = (d) => (d.confirmation.intervalMs === 1000 ? "one second apart" : `${ms(d.confirmation.intervalMs)} apart`);

/** @param {any} d */
const limitWords = (d) => `${percent(d.lossPercent)} of ${decided(d)} got no answer, but all ${d.confirmation.sent} sent ${apart(d)} afterwards were answered: the host probably limits its answers.`;

/** What the confirmation says where it lost probes too. @param {any} d */
const alsoLost = (d) => (d.confirmation === null || limited(d) ? "" : ` Of ${plural(d.confirmation.sent, "more probe")} sent ${apart(d)}, ${d.confirmation.sent - d.confirmation.received} got no answer either.`);

/** What took so long that most tools have given it up by then. @param {any} d */
function lateness(d) {
  const late = d.late === 0 ? "" : d.late === d.received ? " Each answer took longer than 2 s." : ` ${plural(d.late, "answer")} took longer than 2 s.`;
  const young = d.undecided === 0 ? "" : d.undecided === 1 ? " The last probe was sent too late to be answered and is not counted."
    : ` The last ${d.undecided} probes were sent too late to be answered and are not counted.`;
  return late + young;
}

/** @type {Record<string, string>} */
const endings = {
  completed: "all probes were sent and had time to be answered",
  unreachable: "a router said that the host cannot be reached",
  prohibited: "a router or firewall said that these packets are not allowed",
  deadline: "the time for this check ran out",
};

/** Why a run ended. @param {any} d @returns {string} */
export const endingOf = (d) => (d.stopReason === "completed" && d.undecided > 0 ? "all probes were sent" : endings[d.stopReason] ?? String(d.stopReason));

/**
 * What all probes came to where none was answered; null where some were.
 * @param {any} d
 * @returns {Verdict | null}
 */
function unanswered(d) {
  if (d.received > 0) return null;
  const probes = plural(d.sent, "probe");
  if (d.stopReason === "unreachable") return { tone: "bad", text: `${d.target} cannot be reached: a router on the way said so.` };
  if (d.stopReason === "prohibited") return { tone: "warn", text: `Probes to ${d.target} are not allowed: a router or firewall on the way said so.` };
  return { tone: "warn", text: d.sent > 0 ? `${d.target} did not answer any of ${probes} within 2 s; many hosts ignore them.` : `No probe to ${d.target} could be sent in time.` };
}

/**
 * The verdict of a view.
 * @param {any} d
 * @param {string} well said where all were answered
 * @param {string} worse said where some were lost
 * @returns {Verdict}
 */
export function verdict(d, well, worse) {
  const silence = unanswered(d);
  if (silence) return silence;
  if (limited(d)) return { tone: "info", text: limitWords(d) + lateness(d) };
  if (missing(d) > 0) return { tone: lossTone(d), text: worse + alsoLost(d) + lateness(d) };
  return { tone: d.late > 0 ? "warn" : "good", text: well + lateness(d) };
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
  if (limited(d)) list.push({ tone: "info", text: limitWords(d) });
  else if (missing(d) > 0) list.push({ tone: lossTone(d), text: `${percent(d.lossPercent)} of ${decided(d)} to ${d.target} got no answer.${alsoLost(d)}` });
  if (d.late > 0) list.push({ tone: "warn", text: `${d.target} took longer than 2 s for ${d.late === d.received ? "each answer" : `${d.late} of ${plural(d.received, "answer")}`}.` });
  if (d.duplicates > 0) list.push({ tone: "info", text: `${d.target} answered ${plural(d.duplicates, "probe")} more than once.` });
  return list;
}

/** One lost probe is no pattern. @param {any} d @returns {"warn" | "bad"} */
export const lossTone = (d) => (d.lossPercent >= 10 && missing(d) > 1 ? "bad" : "warn");

/** What is worth comparing with an earlier answer. @param {any} d @returns {import("./view.js").Facts} */
export function compared(d) {
  return {
    Address: d.address,
    "Probes answered": d.received === 0 ? "none" : missing(d) > 0 ? "some" : "all",
    "Why it ended": endingOf(d),
  };
}

/** Probes of one host seldom differ by more than so many milliseconds without a cause. @param {any} d @returns {import("./view.js").Times} */
export const echoTimes = (d) => ({ "Median time": [d.medianMs, 10] });

// @ts-check
// The one vocabulary of states: how the severities and statuses of the API are named on every page, in cards and in
// files.

import { listed, plural } from "./format.js";

/** @typedef {import("./view.js").Tone} Tone */

/** By urgency: the tone of a status, and the word for it. @type {Record<string, [Tone | "off", string]>} */
export const severities = {
  fail: ["bad", "problem"],
  error: ["warn", "not known"],
  warn: ["warn", "warning"],
  info: ["info", "note"],
  pass: ["good", "good"],
  missing: ["info", "missing"],
  notApplicable: ["off", "not applicable"],
};

/**
 * The tone and the word of a severity or status, by the group of its finding: what could be safer is never a problem.
 * @param {string} status
 * @param {string} group
 * @returns {[Tone | "off", string]}
 */
export function lookOf(status, group) {
  const fault = status === "fail" || status === "warn";
  if (fault && group === "safer") return ["warn", "suggestion"];
  if (fault && group === "note") return severities.info;
  return Object.hasOwn(severities, status) ? severities[status] : ["info", status];
}

/** The same words by tone, as they begin a line. @type {Record<Tone, string>} */
export const toneWords = { good: "Good", warn: "Warning", bad: "Problem", info: "Note", off: "Not known" };

/** What can be counted has a plural: two problems, but two good. */
const counted = ["problem", "warning", "suggestion", "note"];

/** The words, the most urgent first. */
const urgency = ["problem", "not known", "warning", "suggestion", "note", "good", "missing", "not applicable"];

/**
 * How many there are of each word, the most urgent first: "2 problems", "1 suggestion", "3 good".
 * @param {[Tone | "off", string][]} looks
 * @returns {[Tone | "off", string][]}
 */
export const counts = (looks) =>
  urgency.flatMap((word) => {
    const same = looks.filter((look) => look[1] === word);
    const n = same.length;
    return n > 0 ? [[same[0][0], counted.includes(word) ? plural(n, word) : `${n} ${word}`]] : [];
  });

/** The same in one line. @param {[Tone | "off", string][]} looks */
export const tally = (looks) => listed(counts(looks).map(([, text]) => text));

/**
 * The group of what an answer lists by codes: that of the worst finding with one of them, or otherwise.
 * @param {{findings?: {code?: string, group?: string}[]}} d
 * @param {string[]} codes
 * @param {string} [otherwise] where no finding has one of the codes
 */
export const groupOf = (d, codes, otherwise = "note") =>
  ["broken", "safer", "note"].find((group) =>
    (d.findings ?? []).some((f) => f.group === group && codes.includes(f.code ?? "")),
  ) ?? otherwise;

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

/** The same words by tone, as they begin a line. @type {Record<Tone, string>} */
export const toneWords = { good: "Good", warn: "Warning", bad: "Problem", info: "Note" };

/** An unknown status stays as it is. @param {string} status */
export const severityWord = (status) => (Object.hasOwn(severities, status) ? severities[status][1] : status);

/** What can be counted has a plural: two problems, but two good. @param {number} n @param {string} status */
export const severityCount = (n, status) =>
  ["fail", "warn", "info"].includes(status) ? plural(n, severityWord(status)) : `${n} ${severityWord(status)}`;

/**
 * How many there are of each, the most urgent first: "2 problems, 1 warning and 3 good". @param {Record<string,
 * number>} counts
 */
const severityCounts = (counts) =>
  listed(
    Object.keys(severities)
      .filter((status) => counts[status] > 0)
      .map((status) => severityCount(counts[status], status)),
  );

/** The same of a list. @param {string[]} statuses */
export const tally = (statuses) =>
  severityCounts(
    Object.fromEntries(Object.keys(severities).map((status) => [status, statuses.filter((s) => s === status).length])),
  );

// @ts-check
// Whether a finding is still there: its tool runs once more, and the new answer is searched for that very finding.

import { runTool } from "./api.js";
import { dateTime } from "./format.js";
import { countdown } from "./failure.js";
import { keyOfFinding } from "./compare.js";
import { el } from "./dom.js";
import { mark } from "./parts.js";
import { attempt, loadJudge } from "./view.js";

/** @typedef {import("./fix.js").Fixable} Fixable */
/** @typedef {import("./view.js").Data} Data */
/** @typedef {import("./view.js").Judge} Judge */
/** @typedef {"there" | "gone" | "unknown"} Fate */

/**
 * What became of a finding.
 * @param {Fixable} finding
 * @param {Fixable[]} before the findings of the answer that has it
 * @param {Data} after
 * @param {Judge | null} judge
 * @returns {Fate} unknown where the new answer could not look for it, or has fewer of several that are alike
 */
export function fateOf(finding, before, after, judge) {
  const alike = (/** @type {Fixable[]} */ list) => list.filter((f) => keyOfFinding(f) === keyOfFinding(finding)).length;
  const [were, are] = [Math.max(1, alike(before)), alike(after.findings)];
  if (are >= were) return "there";
  if (are > 0 || !judge || after.conclusion.state === "unknown" || judge.blindTo?.(after, finding.code, before))
    return "unknown";
  return "gone";
}

/**
 * What is new in an answer, in at most as many sentences.
 * @param {Fixable[]} before
 * @param {Data} after
 * @param {number} most
 */
const newcomers = (before, after, most) => {
  const known = new Set(before.map(keyOfFinding));
  return after.findings
    .filter((f) => !known.has(keyOfFinding(f)))
    .slice(0, most)
    .map((f) => f.message);
};

/** @type {Record<Fate, [import("./view.js").Tone, string]>} */
const words = {
  there: ["warn", "Still there."],
  gone: ["good", "Gone."],
  unknown: ["info", "Could not be checked."],
};

/** Why a repaired record may still be missing. */
const kept = "Resolvers keep the old answer until its TTL has passed; this service keeps it for up to a minute.";

/**
 * Runs the tool of a finding once more.
 * @param {Fixable} finding
 * @param {import("./fix.js").Run} run
 * @returns {Promise<{nodes: (Node | string)[], wait: number}>} what to say, and for how many milliseconds another check
 *   would be refused
 */
export async function again(finding, { asked, before }) {
  const [answer, judge] = await Promise.all([
    runTool(asked.slug, asked.input, asked.options, new AbortController().signal),
    loadJudge(asked.slug),
  ]);
  const { data, error, retryAfter } = answer;
  if (!answer.ok || !data) {
    const wait = retryAfter === undefined ? 0 : retryAfter * 1000;
    return { nodes: [...said("unknown", error ?? ""), wait > 0 ? countdown(wait / 1000, null) : ""], wait };
  }
  const fate = attempt(() => fateOf(finding, before, data, judge), "unknown");
  return { nodes: said(fate, ...rest(fate, finding, before, data)), wait: 0 };
}

/** @param {Fate} fate @param {Fixable} finding @param {Fixable[]} before @param {Data} data */
function rest(fate, { paste }, before, data) {
  const at = `Checked ${dateTime(new Date().toISOString())}.`;
  if (fate === "there") return [paste?.kind === "dns" ? kept : "", at];
  if (fate === "unknown") return ["The new answer does not show it, because a part of the check failed.", at];
  const come = attempt(() => newcomers(before, data, 2), []);
  return [...(come.length > 0 ? ["New:", ...come] : []), at];
}

/** @param {Fate} fate @param {...string} sentences */
function said(fate, ...sentences) {
  const [tone, first] = words[fate];
  return [mark(tone), el("span", {}, el("strong", {}, first), " ", sentences.filter(Boolean).join(" "), " ")];
}

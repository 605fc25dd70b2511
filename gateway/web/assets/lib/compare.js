// @ts-check
// What changed since the last run of the same check, and keeping a run for the next one. Conclusions and findings are
// compared by their codes: sentences may be reworded.

import { ms } from "./format.js";
import { keepAnswer, keyOf, lastAnswer } from "./store.js";
import { attempt, concernsIn, verdictOf } from "./view.js";

/** @typedef {import("./view.js").Facts} Facts */
/** @typedef {{code: string, subject: string | null, text: string}} Found a finding as it is kept */
/** @typedef {{code?: string, text: string, findings: Found[]}} Outcome a conclusion and the findings below it */
/** @typedef {{label: string, gone: string[], come: string[]}} Change */

/**
 * The facts that differ. Lists are compared as sets: servers answer in any order.
 * @param {Facts} before
 * @param {Facts} after
 * @returns {Change[]}
 */
export function changes(before, after) {
  const labels = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return labels.flatMap((label) => {
    const was = asList(before[label]);
    const is = asList(after[label]);
    const gone = was.filter((v) => !is.includes(v));
    const come = is.filter((v) => !was.includes(v));
    return gone.length + come.length > 0 ? [{ label, gone, come }] : [];
  });
}

/** @typedef {Pick<import("./view.js").Finding, "code" | "subject">} Named */
/** @typedef {Named & {zone?: string | null, server?: string | null}} Known what a finding is recognised by */

/** A finding by its code and typed values: sentences may be reworded. @param {Known} finding */
export const keyOfFinding = ({ code, subject, zone, server }) =>
  JSON.stringify([code, subject ?? null, zone ?? null, server ?? null]);

/** Whether only one side has it. A finding is on one side alone. @param {Change} change */
export const oneSided = ({ label, gone, come }) => label === "Findings" || gone.length === 0 || come.length === 0;

/** @param {string | string[] | null | undefined} value */
function asList(value) {
  if (Array.isArray(value)) return value.map(String);
  return value === undefined || value === null || value === "" ? [] : [String(value)];
}

/**
 * The times that have moved: by half of the shorter one, and by more than such a time moves by itself.
 * @param {import("./view.js").Times} before
 * @param {import("./view.js").Times} after
 * @returns {Change[]}
 */
export function movedTimes(before, after) {
  return Object.entries(after).flatMap(([label, [now, least]]) => {
    const was = before[label]?.[0];
    if (typeof was !== "number" || typeof now !== "number") return [];
    const moved = Math.abs(now - was);
    return moved >= least && moved >= Math.min(now, was) / 2 ? [{ label, gone: [ms(was)], come: [ms(now)] }] : [];
  });
}

/** More findings of an answer than these are not compared. */
const mostFindings = 50;

/** @param {import("./view.js").Data} d @returns {Outcome} */
export function outcomeOf(d) {
  const { code, text } = verdictOf(d);
  const findings = (concernsIn(d) ?? []).slice(0, mostFindings);
  return { code, text, findings: findings.map((f) => ({ code: f.code, subject: f.subject, text: f.text })) };
}

/** A finding of the same target by its code and what it is about. @param {Found} found */
const ofTarget = ({ code, subject }) => JSON.stringify([code, subject]);

/**
 * The conclusion, if it has another code, and the findings that have gone or come.
 * @param {Outcome} before
 * @param {Outcome} after
 * @param {(found: Found) => string} [key] by what a finding is the same one
 * @returns {Change[]}
 */
export function codeChanges(before, after, key = ofTarget) {
  const missing = (/** @type {Found[]} */ some, /** @type {Found[]} */ others) => {
    const known = new Set(others.map(key));
    return some.filter((found) => !known.has(key(found))).map((found) => found.text);
  };
  const [gone, come] = [missing(before.findings, after.findings), missing(after.findings, before.findings)];
  const turned = before.code && after.code && before.code !== after.code;
  return [
    ...(turned ? [{ label: "Result", gone: [before.text], come: [after.text] }] : []),
    ...(gone.length + come.length > 0 ? [{ label: "Findings", gone, come }] : []),
  ];
}

/**
 * What was kept of the same check before, null for nothing, and what has changed since. @typedef {{at: number | null,
 * list: Change[]}} Past
 */

/**
 * Keeps an answer in this browser, once, and returns what has changed since the one before it.
 * @param {import("./view.js").Judge} judge
 * @param {import("./view.js").Data} d
 * @param {import("./view.js").Asked} asked
 * @returns {Past}
 */
export function keep(judge, d, asked) {
  const [facts, outcome] = [attempt(() => judge.facts(d), {}), outcomeOf(d)];
  const key = keyOf(asked);
  const before = lastAnswer(key);
  const times = attempt(() => judge.times?.(d), undefined);
  const list = before
    ? [
        ...(before.findings ? codeChanges(outcomeKept(before), outcome) : []),
        ...changes(before.facts ?? {}, facts),
        ...movedTimes(before.times ?? {}, times ?? {}),
      ]
    : [];
  keepAnswer(key, { facts, times, ...outcome, tone: verdictOf(d).tone }, list);
  return { at: before?.at ?? null, list };
}

/** @param {import("./store.js").Kept} kept @returns {Outcome} */
const outcomeKept = ({ code, verdict = "", findings }) => ({
  code,
  text: verdict,
  findings: Array.isArray(findings) ? findings.filter((found) => typeof found?.text === "string") : [],
});

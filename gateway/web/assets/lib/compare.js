// @ts-check
// What changed since the last run of the same check, and keeping a run for the next one.

import { ms } from "./format.js";
import { keepAnswer, keyOf, lastAnswer } from "./store.js";
import { attempt } from "./view.js";

/** @typedef {import("./view.js").Facts} Facts */
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

/**
 * What was kept of the same check before, null for nothing, and what has changed since. @typedef {{at: number | null,
 * list: Change[]}} Past
 */

/**
 * Keeps an answer in this browser, once, and tells what has changed since the one before it.
 * @param {import("./view.js").Judge} judge
 * @param {any} d the data of an answer
 * @param {import("./view.js").Asked} asked
 * @param {import("./view.js").Verdict} verdict
 * @returns {Past}
 */
export function keep(judge, d, asked, verdict) {
  const now = attempt(() => judge.facts(d), {});
  const key = keyOf(asked);
  const before = lastAnswer(key);
  const times = attempt(() => judge.times?.(d), undefined);
  const list = before ? [...changes(before.facts ?? {}, now), ...movedTimes(before.times ?? {}, times ?? {})] : [];
  keepAnswer(key, now, verdict, list, times);
  return { at: before?.at ?? null, list };
}

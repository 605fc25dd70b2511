// @ts-check
// Keeps an answer in this browser, once, and tells what has changed since the one before it.

import { changes, movedTimes } from "./compare.js";
import { keepAnswer, keyOf, lastAnswer } from "./store.js";
import { attempt } from "./view.js";

/** What was kept of the same check before, null for nothing, and what has changed since. @typedef {{at: number | null, list: import("./compare.js").Change[]}} Past */

/**
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

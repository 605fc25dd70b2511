// @ts-check
// What changed between a result that came in a link and answers of now. Both are compared by what a link can hold.

import { changedPart } from "./answer.js";
import { changes, codeChanges, movedTimes } from "./compare.js";
import { dateTime, relative } from "./format.js";
import { checkOf, worded } from "./seen-record.js";
import { loadSentences } from "./seen-sentences.js";
import { attempt } from "./view.js";

/** @typedef {import("./seen-record.js").Seen} Seen */
/**
 * @typedef {{slug: string, title: string, data: import("./view.js").Data, judge: import("./view.js").Judge}} Answered
 */

/**
 * @param {Seen} seen
 * @param {Answered[]} answers those that came
 * @param {string} target
 * @returns {Promise<HTMLElement>}
 */
export async function changedSince(seen, answers, target) {
  const each = await Promise.all(answers.map((answer) => changesOf(seen, answer, target)));
  const since = `the link's result of ${dateTime(seen.at)}, ${relative(seen.at)}, which this service cannot confirm`;
  return changedPart(
    each.flatMap((list, i) =>
      list.map((change) => ({
        ...change,
        label: each.length > 1 ? `${answers[i].title}: ${change.label}` : change.label,
      })),
    ),
    since,
  );
}

/** @param {Seen} seen @param {Answered} answer @param {string} target */
async function changesOf(seen, { slug, data, judge }, target) {
  const before = seen.checks.find((check) => check.slug === slug);
  const sentences = before && (await loadSentences(slug));
  if (!before || !sentences) return [];
  const after = checkOf(slug, data, judge, sentences, target);
  const times = attempt(() => judge.times?.(data) ?? {}, {});
  const was = Object.fromEntries(Object.entries(before.times).map(([label, took]) => [label, [took, 0]]));
  return [
    ...codeChanges(worded(before, sentences), worded(after, sentences)),
    ...changes(before.facts, after.facts),
    ...movedTimes(/** @type {import("./view.js").Times} */ (was), times),
  ];
}

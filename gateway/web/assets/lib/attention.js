// @ts-check
// What deserves attention, out of the concerns of many checks.

/** @typedef {import("./view.js").Concern} Concern */
/** @typedef {{title: string, concerns: Concern[]}} Judged one check and what its answer gives cause for */

const order = ["bad", "warn", "info"];

const groups = ["broken", "safer", "note"];

/** How bad a concern is, the worst lowest: by group, severity and weight. @param {Concern} concern */
const rank = ({ tone, broken, group = broken ? "broken" : "safer", weight = 0 }) =>
  groups.indexOf(group) * 1000 + order.indexOf(tone) * 200 - weight;

/**
 * All concerns, worst first and otherwise in the order of the checks. What several say in the same words or of one
 * topic is
 * said once, as badly as the worst of them means it and by the one who knows best.
 * @template {Judged} C
 * @param {C[]} checks
 * @param {(check: C) => boolean} [aside] whether a check is beside the point, so that what it says comes after all the
 *   rest
 * @returns {{tone: Concern["tone"], text: string, from: C[]}[]}
 */
export function attention(checks, aside = () => false) {
  const all = checks.flatMap((check) => check.concerns.map((concern) => ({ ...concern, from: check })));
  const sorted = all.sort((a, b) => Number(aside(a.from)) - Number(aside(b.from)) || rank(a) - rank(b));
  const topics = [...new Set(sorted.map(topicOf))];
  return topics.map((topic) => {
    const same = sorted.filter((concern) => topicOf(concern) === topic);
    const best = same.find((concern) => !concern.aside) ?? same[0];
    const [worst] = same.toSorted((a, b) => rank(a) - rank(b));
    return { tone: worst.tone, text: best.text, from: [...new Set([best, ...same].map((concern) => concern.from))] };
  });
}

/** @param {Concern} concern */
const topicOf = (concern) => concern.topic ?? concern.text;

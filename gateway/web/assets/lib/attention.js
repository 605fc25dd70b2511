// @ts-check
// What deserves attention, out of the concerns of many checks.

/** @typedef {import("./view.js").Concern} Concern */
/** @typedef {{title: string, concerns: Concern[]}} Judged one check and what its answer gives cause for */

const order = ["bad", "warn", "info"];

/**
 * All concerns, worst first and otherwise in the order of the checks. What several say in the same words is said once, as
 * badly as the worst of them means it.
 * @template {Judged} C
 * @param {C[]} checks
 * @returns {{tone: Concern["tone"], text: string, from: C[]}[]}
 */
export function attention(checks) {
  const all = checks.flatMap((check) => check.concerns.map(({ tone, text }) => ({ tone, text, from: check })));
  const sorted = all.sort((a, b) => order.indexOf(a.tone) - order.indexOf(b.tone));
  const texts = [...new Set(sorted.map(({ text }) => text))];
  return texts.map((text) => {
    const same = sorted.filter((concern) => concern.text === text);
    return { tone: same[0].tone, text, from: [...new Set(same.map((concern) => concern.from))] };
  });
}

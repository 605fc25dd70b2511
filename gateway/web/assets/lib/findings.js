// @ts-check
// The findings of an answer, by code. Pages take from them what is wrong and what to do; they judge nothing themselves.

/**
 * @template {string} C
 * @typedef {{findings: {code?: C, severity: string, message: string, remedy: string | null, subject: string | null}[]}}
 *   Found
 */

/**
 * The findings with one of the codes, the worst first. The compiler checks the codes of each tool.
 * @template {string} C
 * @param {Found<C>} d
 * @param {...NoInfer<C>} codes
 */
export const findingsOf = (d, ...codes) =>
  (d.findings ?? []).filter((f) => f.code !== undefined && codes.includes(f.code));

/**
 * The worst finding with one of the codes.
 * @template {string} C
 * @param {Found<C>} d
 * @param {...NoInfer<C>} codes
 */
export const findingOf = (d, ...codes) => findingsOf(d, ...codes)[0];

/**
 * What a finding reports and what to do about it; empty for none.
 * @param {{message: string, remedy: string | null} | undefined} finding
 */
export const inFull = (finding) => (finding ? [finding.message, finding.remedy].filter(Boolean).join(" ") : "");

/** The colours of conclusions. @type {Record<string, import("./view.js").Tone>} */
const tones = { ok: "good", info: "info", warn: "warn", fail: "bad", unknown: "off" };

/** The colour of an answer's conclusion. @param {{conclusion: {state: string}}} d */
export const toneOf = (d) => tones[d.conclusion?.state] ?? "info";

// @ts-check
// The two modules in the folder of a tool, and how to load them: facts.js has what is compared with an earlier answer,
// which is all that the report needs; view.js draws an answer and explains it. Everything in an answer may be hostile
// text or absent; these turn it into nodes and sentences and fetch nothing.

import { toneOf } from "./findings.js";

/** @typedef {"good" | "warn" | "bad" | "info" | "off"} Tone off is what could not be found out */
/** @typedef {import("api").components["schemas"]["Conclusion"]} Conclusion */
/** @typedef {import("api").components["schemas"]["Finding"]} Finding */
/**
 * What the answers of all tools have.
 * @typedef {{conclusion: Conclusion, findings: Finding[], truncated?: boolean, place?: {id: string, name: string}}}
 *   Data
 */
/** @typedef {{tone: Tone, text: string, code?: string}} Verdict a conclusion: one sentence, and its code */
/**
 * @typedef {{slug: string, input: string, options: Record<string, string | number | boolean>}} Asked what the visitor
 *   asked, as it went to the API
 */
/**
 * A finding as it is shown.
 * @typedef {object} Concern
 * @property {"bad" | "warn" | "info"} tone
 * @property {Finding["severity"]} severity
 * @property {string} code
 * @property {string} text one sentence that stands alone
 * @property {string | null} remedy
 * @property {Finding["group"]} group
 * @property {number} weight ranks it among those of other checks
 * @property {string | null} subject what it is about, where several checks may see the same fault
 * @property {Finding["paste"]} paste a text that repairs it
 */
/**
 * @typedef {{label: string, command: string}} Command what it shows, and the line for a shell (made with sh from
 *   shell.js)
 */
/**
 * @typedef {{name: string, url?: string, zone?: string, server?: string, fetchedAt?: string, ageMs?: number, cached?:
 *   boolean, measured?: boolean, shared?: boolean, told?: string}} Source without a time it was asked for this very
 *   answer; measured by the worker, and shared with the first request; a sentence where the answer does not
 *   say
 */
/** @typedef {Record<string, string | string[]>} Facts */
/**
 * @typedef {Record<string, [now: number | null, least: number]>} Times by a label a time in milliseconds, and by how
 *   much it must move at least to be reported
 */

/**
 * The default export of a tool's facts.js.
 * @template [D=any] the data of an answer
 * @typedef {object} Judge
 * @property {(d: D, asked: Asked) => Verdict} [verdict] in place of the answer's conclusion
 * @property {(d: D, asked: Asked) => Concern[]} [concerns] in place of the answer's findings
 * @property {(d: D) => Facts} facts what is worth comparing with an earlier answer, by a label; nothing that changes
 *   at every run
 * @property {(d: D, code: string, before: {code: string}[]) => boolean} [blindTo] whether the answer could not look
 *   for a finding of that code, which was among those before
 * @property {(d: D) => Times} [times] what takes how long: kept beside the facts, reported where it moved by half
 */

/** @typedef {{head: string | Node, body: Node[]}} Second what a second request has found; head is beside the title */

/**
 * An answer on its tool's page: the default export of a tool's view.js.
 * @template [D=any] the data of an answer
 * @typedef {object} View
 * @property {(d: D, asked: Asked) => (Node | null)[]} show the pictures, then the tables; the page shows the verdict
 *   above and the rest below
 * @property {(seen: import("./steps.js").Seen, asked: Asked) => (Node | null)[]} [live] what a run has found so far,
 *   drawn like its answer; without it the page lists what came
 * @property {(d: D | null, note: string) => Second} [second] what is in the folded element "second" of show once the
 *   page has asked with one more option, or while it has not: then with the note
 * @property {(d: D, asked: Asked) => Node | null} [yours] what the visitor may add by their own experience
 * @property {(d: D) => string[]} [lessons] explanations of terms that hold for every target, folded away
 * @property {(asked: Asked, d: D) => Command[]} terminal the same check by common tools
 * @property {(d: D) => Source[]} sources who said so, when, and whether it came from the service's cache
 */

/**
 * @param {string} slug
 * @returns {Promise<Judge | null>} null where it did not load
 */
export const loadJudge = async (slug) => (await unlessLost(import("./judges.js")))?.[slug] ?? null;

/**
 * @param {string} slug
 * @returns {Promise<View | null>} null where it did not load
 */
export const loadView = (slug) => unlessLost(import(`../tools/${slug}/view.js`));

/**
 * The default export of a module, or null where it did not load: the connection is gone, or the service was renewed
 * since the
 * page was opened and the module has another address now.
 * @template T
 * @param {Promise<{default: T}>} module
 * @returns {Promise<T | null>}
 */
async function unlessLost(module) {
  try {
    return (await module).default;
  } catch (failure) {
    console.warn(failure);
    return null;
  }
}

/** @type {Verdict} */
const unforeseen = {
  tone: "info",
  text: "This page cannot read the answer. The full answer is under JSON.",
};

/**
 * The conclusion of an answer or of a failure; an answer of an unknown shape has one too.
 * @param {Pick<Data, "conclusion">} d
 * @returns {Verdict}
 */
export function verdictOf(d) {
  return attempt(() => {
    const { code, message } = d.conclusion;
    return { tone: toneOf(d), text: message, code };
  }, unforeseen);
}

/**
 * The findings of an answer, worst first; null where the answer has another shape.
 * @param {Data} d
 * @returns {Concern[] | null}
 */
export function concernsIn(d) {
  return attempt(() => d.findings.map(concernOf), null);
}

/**
 * How a finding looks, by its group and severity: only what is broken is red. @type {Record<Finding["group"],
 * Record<Finding["severity"], Concern["tone"]>>}
 */
const tones = {
  broken: { fail: "bad", warn: "warn", info: "info" },
  safer: { fail: "warn", warn: "warn", info: "info" },
  note: { fail: "info", warn: "info", info: "info" },
};

/** @param {Finding} f @returns {Concern} */
export const concernOf = ({ severity, code, message, remedy, group, weight, subject, paste }) => ({
  tone: (tones[group] ?? tones.broken)[severity],
  severity,
  code,
  text: message,
  remedy,
  group,
  weight,
  subject,
  paste: paste ?? null,
});

/**
 * A part of a view, or something else where the view cannot make it: a broken picture must not take the answer with it.
 * @template T
 * @param {() => T} make
 * @param {T} otherwise
 * @returns {T}
 */
export function attempt(make, otherwise) {
  try {
    return make();
  } catch (failure) {
    console.error(failure);
    return otherwise;
  }
}

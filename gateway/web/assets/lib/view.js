// @ts-check
// What a tool's view is, and how to get it. One module a tool, views/<slug>.js, whose default export is a View. Everything in
// an answer may be hostile text or absent; a view turns it into nodes and sentences and fetches nothing.

/** @typedef {"good" | "warn" | "bad" | "info"} Tone */
/** @typedef {{tone: Tone, text: string}} Verdict one sentence, with its full stop */
/** @typedef {{slug: string, input: string, options: Record<string, string>}} Asked what the visitor asked, as it went to the API */
/** @typedef {{tone: "bad" | "warn" | "info", text: string}} Concern something that deserves attention: one sentence that stands alone */
/** @typedef {{label: string, command: string}} Command what it shows, and the line for a shell (made with sh from shell.js) */
/** @typedef {{name: string, url?: string, zone?: string, server?: string, fetchedAt?: string, ageMs?: number, cached?: boolean}} Source */
/** @typedef {Record<string, string | string[]>} Facts */

/**
 * @typedef {object} View
 * @property {(d: any, asked: Asked) => Verdict} verdict what the answer comes to
 * @property {(d: any, asked: Asked) => (Node | null)[]} show the pictures, then the tables; the page shows the verdict above and the rest below
 * @property {(d: any, asked: Asked) => Concern[]} concerns worst first; none where all is well
 * @property {(d: any, asked: Asked) => string[]} meaning what this means for a person who is no specialist: one to four short paragraphs, about this very answer
 * @property {(asked: Asked, d: any) => Command[]} terminal the same check by common tools
 * @property {(d: any) => Facts} facts what is worth comparing with an earlier answer, by a label; nothing that changes at every run
 * @property {(d: any) => Source[]} [sources] who said so and when; absent where the tool looked itself
 */

/**
 * @param {string} slug
 * @returns {Promise<View>}
 */
export async function loadView(slug) {
  return (await import(`../views/${slug}.js`)).default;
}

/** @type {Verdict} */
const unforeseen = { tone: "info", text: "The answer has a shape that this page does not know; it is in full under JSON." };

/**
 * The verdict of an answer; one of a shape that nobody foresaw still has one.
 * @param {View} view
 * @param {any} d
 * @param {Asked} asked
 * @returns {Verdict}
 */
export function judge(view, d, asked) {
  return attempt(() => view.verdict(d, asked), unforeseen);
}

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

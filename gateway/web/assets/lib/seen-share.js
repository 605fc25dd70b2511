// @ts-check
// Making links with a result in them.

import { announce, el } from "./dom.js";
import { linkTo } from "./fitting.js";
import { save } from "./report-files.js";
import { encoded } from "./seen-code.js";
import { canonical, checkOf, packed } from "./seen-record.js";
import { loadSentences } from "./seen-sentences.js";
import { attempt, concernsIn, verdictOf } from "./view.js";

/** @typedef {import("./view.js").Judge} Judge */
/**
 * An answer with data, as a page shows it; at is when it came, in Unix milliseconds. @typedef {{answer:
 * import("./api.js").Answer, asked: import("./view.js").Asked, judge: Judge, at: number}} Shown
 */
/** @typedef {{slug: string, data: import("./view.js").Data, judge: Judge}} Answered */

/**
 * A link to a page with what its checks came to.
 * @param {string} page its path and query
 * @param {string} target
 * @param {number} at Unix milliseconds
 * @param {Answered[]} answers
 * @returns {Promise<string | null>} null where it would be too long
 */
async function link(page, target, at, answers) {
  const all = await Promise.all(
    answers.map(async ({ slug, data, judge }) => {
      const sentences = await loadSentences(slug);
      return sentences ? [checkOf(slug, data, judge, sentences, target)] : [];
    }),
  );
  const fragment = await encoded(packed({ page: canonical(page), at, checks: all.flat() }));
  return fragment && `${location.origin}${page}#${fragment}`;
}

const unfitting = "This result does not fit a link. Here it is as a file:";

/**
 * The link to an answer on its tool's page. Where it is too long, the button gives way to one for a file.
 * @param {Shown} shown
 * @param {HTMLElement} button
 * @returns {Promise<string | null>}
 */
export async function linkToAnswer(shown, button) {
  const { answer, asked, judge, at } = shown;
  const { slug, input, options } = asked;
  const page = linkTo(slug, input, Object.fromEntries(Object.entries(options).map(([k, v]) => [k, String(v)])));
  const made = await link(page, input, at, [{ slug, data: dataOf(answer), judge }]);
  if (made) return made;
  const file = el("button", { type: "button", class: "quiet" }, "Download HTML");
  const note = el("p", { class: "hint" }, unfitting);
  file.addEventListener("click", () => save("HTML", asReport(shown), note));
  return instead(button, file, note);
}

/**
 * The link to a report. Where it is too long, the focus moves to the button for a file.
 * @param {{text: string, place: string, at: string, checks: import("./report-checks.js").Check[]}} report at in RFC
 *   3339
 * @param {HTMLElement} button
 * @param {HTMLElement} file
 * @returns {Promise<string | null>}
 */
export async function linkToReport({ text, place, at, checks }, button, file) {
  const answers = checks.flatMap(({ slug, stage, judge }) =>
    judge && stage.state === "answered" && stage.reply.ok ? [{ slug, data: dataOf(stage.reply), judge }] : [],
  );
  const made = await link(linkTo("report", text, place ? { place } : {}), text, Date.parse(at), answers);
  return made ?? instead(button, file, el("p", { class: "hint" }, unfitting));
}

/** @param {HTMLElement} button @param {HTMLElement} file @param {HTMLElement} note @returns {null} */
function instead(button, file, note) {
  button.replaceWith(note, file);
  file.focus();
  announce(unfitting);
  return null;
}

/** @param {import("./api.js").Answer} answer with data */
const dataOf = (answer) => /** @type {import("./view.js").Data} */ (answer.data);

/** One answer as a report. @param {Shown} shown @returns {import("./export.js").Report} */
function asReport({ answer, asked, judge, at }) {
  const data = dataOf(answer);
  const { slug, input } = asked;
  const title = document.getElementById("heading-tool")?.dataset.title ?? slug;
  const [verdict, concerns] = [verdictOf(data), concernsIn(data) ?? []];
  const { status, ok, durationMs, requestId } = answer;
  const facts = attempt(() => judge.facts(data), {});
  return {
    target: input,
    recognisedAs: title,
    at: new Date(at).toISOString(),
    summary: [verdict.text],
    attention: concerns.map((concern) => ({ ...concern, from: [{ title }] })),
    checks: [
      { slug, title, group: "Result", input, status, ok, data, durationMs, requestId, verdict, concerns, facts },
    ],
  };
}

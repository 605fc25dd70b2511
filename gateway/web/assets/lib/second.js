// @ts-check
// What the page of a tool asks once its first answer stands: the same with one more option, for a part of the answer
// that would keep the visitor waiting.

import { runTool } from "./api.js";
import { attempt } from "./view.js";

/** @typedef {import("./api.js").Answer} Answer */
/** @typedef {import("./view.js").Asked} Asked */
/** @typedef {import("./view.js").View} View */

/** With fewer requests left, the rest is the visitor's own. */
const leastLeft = 5;

/**
 * Whether a page may ask by itself. One that another site's link opened has no data-second: its target is that site's
 * choice.
 * @param {{dataset: DOMStringMap}} form
 * @param {Answer} answer the first one
 */
export const mayAsk = (form, { ok, left = leastLeft }) => ok && form.dataset.second !== undefined && left >= leastLeft;

/**
 * Asks and draws what comes of it in its place in the first answer, where the view has one.
 * @param {string} option which is true in the second request
 * @param {View} view
 * @param {Asked} what
 * @param {AbortSignal} signal
 */
export async function askSecond(option, view, what, signal) {
  const place = document.getElementById("second");
  const second = view.second;
  if (!place || !second) return;
  const note = place.closest("details")?.querySelector(".fold-note");
  /** @param {import("./view.js").Data | null} d @param {string} otherwise */
  const show = (d, otherwise) => {
    const { head, body } = attempt(() => second(d, otherwise), second(null, otherwise));
    note?.replaceChildren(head);
    place.replaceChildren(...body);
  };
  show(null, "being tried…");
  const answer = await runTool(what.slug, what.input, { ...what.options, [option]: true }, signal).catch(() => null);
  if (answer && !signal.aborted) show(answer.data ?? null, `not tried: ${answer.error ?? "no answer"}`);
}

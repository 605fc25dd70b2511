// @ts-check
// The way from an answer to its comparison with that of another target: a button, and the address of the page.

import { el } from "./dom.js";
import { lost } from "./parts.js";

/** @typedef {import("./tool-compare.js").About} Both */
/** @typedef {Omit<Both, "answer" | "visit"> & {place: Element}} About place holds the answer */

/**
 * Compares with the target in the address, and with one that the visitor names.
 * @param {About} about
 * @param {() => void} visited is called when the address has changed
 */
export function comparable({ place, ...about }, visited) {
  const answer = place.querySelector(".answer");
  if (!answer) return;
  const visit = (/** @type {string | undefined} */ other) => {
    const query = new URLSearchParams(location.search);
    query.delete("compare");
    if (other) query.set("compare", other);
    history.pushState(history.state, "", `?${query}`);
    visited();
  };
  const begin = async (/** @type {string} */ other) => {
    const { compareAnswers } = await import("./tool-compare.js").catch(() => ({ compareAnswers: null }));
    if (about.signal.aborted) return;
    if (compareAnswers) compareAnswers({ ...about, answer, visit }, other);
    else answer.before(lost("The part of this page that makes comparisons did not load."));
  };
  const button = el("button", { type: "button", class: "quiet", id: "compare" }, "Compare with another target");
  button.addEventListener("click", () => {
    button.closest("details")?.removeAttribute("open");
    begin("");
  });
  // In the menu it moves nothing when it comes.
  answer.querySelector(".toolbar .menu > div")?.append(button);
  const other = new URLSearchParams(location.search).get("compare");
  if (other) begin(other);
}

// @ts-check
// An answer beside that of the same tool for another target, in the place of its parts.

import { runTool } from "./api.js";
import { announce, el } from "./dom.js";
import { renderFailure } from "./failure.js";
import { recognise } from "./recognise.js";
import { answerOf, drawn, question } from "./report-compare.js";
import { verdictOf } from "./view.js";

/** @typedef {import("./view.js").Data} Data */

/**
 * @typedef {object} About
 * @property {import("./view.js").Asked} asked
 * @property {string} title of the tool
 * @property {string} kind of its input
 * @property {Data} data the answer
 * @property {import("./view.js").Judge} judge
 * @property {Element} answer where the answer stands, with its parts
 * @property {AbortSignal} signal
 * @property {(other?: string) => void} visit puts what is compared into the address of the page
 */

/**
 * @param {About} about
 * @param {string} [other] the other target; without it the visitor is asked
 */
export function compareAnswers({ asked, title, kind, data, judge, answer, signal, visit }, other) {
  document.getElementById("comparison")?.remove();
  const place = el("section", { id: "comparison", class: "wanted", "aria-label": "Comparison" });
  const aside = /** @type {NodeListOf<HTMLElement>} */ (
    answer.querySelectorAll(":scope > .parts, :scope > .words > .on-page")
  );
  show(true);
  answer.append(place);
  if (other) run(inputOf(other));
  else {
    place.append(question({ target: take }), closeButton());
    place.querySelector("input")?.focus();
  }

  /** @param {boolean} on */
  function show(on) {
    for (const part of aside) part.hidden = on;
  }

  /** @param {string} typed */
  function take(typed) {
    const input = inputOf(typed);
    if (input === "") return "Enter what to compare with.";
    visit(input);
    run(input);
    return "";
  }

  /** What is typed as the tool takes it; the service refuses what is no target. @param {string} typed */
  function inputOf(typed) {
    const inputs = /** @type {Record<string, string | undefined>} */ (recognise(typed)?.inputs ?? {});
    return inputs[kind] ?? typed.trim();
  }

  /** @param {string} input */
  async function run(input) {
    place.replaceChildren(el("p", { class: "muted" }, `Checking ${input}…`));
    announce(`Checking ${input}.`);
    const reply = await runTool(asked.slug, input, asked.options, signal).catch(() => null);
    if (!reply || signal.aborted) return;
    if (!reply.data) {
      announce(reply.error ?? "No result.");
      const again = () => void run(input);
      return place.replaceChildren(
        el("div", { class: "comparison-head" }, el("h2", {}, input), closeButton()),
        renderFailure(reply, { kind, asked: { ...asked, input }, again }),
      );
    }
    place.replaceChildren(...drawn(side(asked.input, data), side(input, reply.data), shut));
    announce(place.querySelector(".sum")?.textContent ?? "");
  }

  function closeButton() {
    const button = el("button", { type: "button", class: "quiet" }, "Close the comparison");
    button.addEventListener("click", shut);
    return button;
  }

  function shut() {
    place.remove();
    show(false);
    visit();
    document.getElementById("result")?.focus({ preventScroll: true });
  }

  /** @param {string} name @param {Data} d */
  function side(name, d) {
    return {
      name,
      verdict: verdictOf(d),
      when: "now",
      checks: [{ slug: asked.slug, title, answer: answerOf(judge, d) }],
    };
  }
}

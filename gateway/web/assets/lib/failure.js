// @ts-check
// A check without a result as the pages show it: what happened, what it means, and what to do next.

import { announce, el } from "./dom.js";
import { duration } from "./format.js";
import { failureTone, nextSteps, ours, own } from "./next.js";
import { notice, value } from "./parts.js";

/** @typedef {import("./api.js").Answer} Answer */
/** @typedef {import("./view.js").Asked} Asked */

/** Statuses after which the same request may succeed. */
const passing = [0, 429, 500, 502, 503, 504];

/**
 * A failure, in the service's words.
 * @param {Answer} answer without data
 * @param {{kind: string, asked: Asked, again: () => void}} [run] what was run, where it can be run again from here
 * @returns {HTMLElement}
 */
export function renderFailure(answer, run) {
  const meaning = answer.conclusion ? answer.conclusion.meaning : run && ours[answer.status];
  const again =
    run && passing.includes(answer.status)
      ? el("button", { type: "button", class: "quiet", id: "again" }, "Try again")
      : null;
  if (run) again?.addEventListener("click", run.again);
  return notice(
    failureTone(answer),
    el("p", { class: "failed" }, answer.error ?? "Something went wrong."),
    meaning && el("p", {}, meaning),
    (again || answer.retryAfter !== undefined) &&
      el("p", { class: "again" }, again, answer.retryAfter !== undefined && countdown(answer.retryAfter, again)),
    run && !own(answer) && renderNext(run.kind, run.asked),
    answer.requestId && el("p", { class: "request" }, "Request ", value(answer.requestId, { what: "request id" })),
  );
}

/**
 * The checks that fit instead, as links; null for none.
 * @param {string} kind of the tool's input
 * @param {Asked} asked
 * @returns {HTMLElement | null}
 */
export function renderNext(kind, asked) {
  const steps = nextSteps(kind, asked);
  if (steps.length === 0) return null;
  return el(
    "nav",
    { class: "next", "aria-label": "What to check instead" },
    el(
      "ul",
      { class: "further" },
      ...steps.map(({ label, href }) => el("li", {}, el("a", { href, rel: "nofollow" }, label))),
    ),
  );
}

/**
 * Counts down to the next possible try, and enables the button then. Screen readers read out the beginning and the end.
 * @param {number} seconds
 * @param {HTMLButtonElement | null} button
 */
export function countdown(seconds, button) {
  const end = performance.now() + seconds * 1000;
  const shown = el("span", { "aria-hidden": "true" });
  const spoken = el("span", { class: "offscreen" }, `You can try again in ${duration(seconds)}.`);
  const tick = () => {
    const left = Math.ceil((end - performance.now()) / 1000);
    shown.textContent = left > 0 ? `You can try again in ${duration(left)}.` : "You can try again now.";
    if (left > 0) return;
    clearInterval(timer);
    if (!shown.isConnected) return;
    spoken.textContent = "You can try again now.";
    if (button) button.disabled = false;
    announce("You can try again now.");
  };
  if (button) button.disabled = true;
  const timer = setInterval(tick, 1000);
  tick();
  return el("span", { class: "muted" }, shown, spoken);
}

// @ts-check
// The card of one check on the report: where it is, what it came to, and the way to its full page.

import { el } from "./dom.js";
import { duration } from "./format.js";
import { lost, verdictLine } from "./parts.js";
import { counted, doing } from "./steps.js";

/** @typedef {import("./api.js").Answer} Answer */
/** @typedef {import("./queue.js").Stage<Answer>} Stage */
/** @typedef {import("./view.js").Verdict} Verdict */

/** What a card needs to know of its check. verdict is that of an answer, null where what makes it did not load. @typedef {{slug: string, title: string, input: string, glyph: Node | null, stage: Stage, seen: import("./steps.js").Seen, began: number, took: number, verdict: Verdict | null}} Check */

/** @typedef {"waiting" | "running" | "done" | "failed" | "limited" | "cancelled"} State */

/** @param {Stage} stage @returns {State} */
export function stateOf(stage) {
  if (stage.state !== "answered") return stage.state;
  return stage.reply.ok ? "done" : "failed";
}

/** Whether a stage is the last one. @param {Stage} stage */
export function ended(stage) {
  return stage.state === "answered" || stage.state === "cancelled" || (stage.state === "limited" && stage.final);
}

/** How long something took, to a tenth of a second. @param {number} ms */
export const seconds = (ms) => (ms < 50 ? "under 0.1 s" : `${(ms / 1000).toFixed(1)} s`);

/** The page of the tool, with the same input. @param {{slug: string, input: string}} check */
export function linkTo({ slug, input }) {
  return `/tools/${slug}?${new URLSearchParams({ input })}`;
}

/**
 * @param {Check} check
 * @param {() => void} again tries the check again
 * @returns {{node: HTMLElement, show: () => void, tick: () => void}} show draws the check's stage, tick its clock
 */
export function makeCard(check, again) {
  const { slug, title, input, glyph } = check;
  const said = el("div", { class: "said" });
  const clock = el("span", { class: "took" });
  const retry = el("button", { type: "button", class: "quiet", hidden: true }, "Try again", el("span", { class: "offscreen" }, `: ${title}`));
  retry.addEventListener("click", again);
  const heading = el("h3", { id: `card-${slug}`, tabindex: "-1" }, glyph, title);
  const node = el("article", { class: "tool-card", "data-slug": slug, "aria-labelledby": `card-${slug}` },
    heading, el("p", { class: "asked mono", title: input }, input), said,
    el("div", { class: "foot" }, clock, retry, el("a", { href: linkTo(check), rel: "nofollow" }, "Full answer", el("span", { class: "offscreen" }, ` of ${title}`))));

  function show() {
    node.setAttribute("data-state", stateOf(check.stage));
    // The button that has the focus must not vanish under it.
    if (retry === document.activeElement) heading.focus();
    retry.hidden = !repeatable(check.stage);
    said.replaceChildren(...sentence(check));
    tick();
  }

  function tick() {
    const text = clockText(check);
    if (clock.textContent !== text) clock.textContent = text;
    const pause = said.querySelector(".pause");
    if (pause) pause.textContent = pauseText(check.stage);
    const now = said.querySelector(".now");
    if (now) now.textContent = nowText(check);
  }

  return { node, show, tick };
}

/** @param {Stage} stage whether asking again may come to something else */
function repeatable(stage) {
  if (stage.state === "answered") return !stage.reply.ok && ![400, 413, 501].includes(stage.reply.status);
  return ended(stage);
}

/** @param {Check} check */
function clockText({ stage, began, took }) {
  if (stage.state === "running") return `Running ${((performance.now() - began) / 1000).toFixed(1)} s`;
  if (stage.state === "answered") return stage.reply.ok ? `Answered in ${seconds(took)}` : `After ${seconds(took)}`;
  return { waiting: "Waiting", limited: "Limited", cancelled: "Cancelled" }[stage.state];
}

/** @param {Stage} stage */
function pauseText(stage) {
  const left = "until" in stage && stage.until !== undefined ? Math.ceil((stage.until - performance.now()) / 1000) : 0;
  if (stage.state === "limited" && stage.final) return left > 0 ? ` It can run again in ${duration(left)}.` : " It can run again now.";
  if (left <= 0) return " It waits for its turn.";
  return stage.state === "limited" ? ` Trying again in ${duration(left)}.` : ` It starts in ${duration(left)}.`;
}

/** What a running check is busy with, and what it has found. @param {Check} check */
function nowText({ seen }) {
  return seen.count === 0 ? `${doing(seen.stage)}…` : `${doing(seen.stage)}… ${counted(seen)} so far.`;
}

/** @param {Check} check @returns {Node[]} what there is to say */
function sentence({ stage, verdict }) {
  switch (stage.state) {
    case "running":
      return [el("p", { class: "remark now" })];
    case "answered":
      if (stage.reply.ok) return [verdict ? verdictLine(verdict) : lost("The answer is there, but the part of this page that reads it did not load.")];
      return [remark(stage.reply.error ?? "The service gave no reason.", false, stage.reply.status === 501 ? "Not run." : "No answer.")];
    case "limited":
      return [remark(stage.final ? given(stage.reply) : limits, true)];
    case "waiting":
      return stage.until === undefined ? [] : [remark("The service asks for a pause.", true)];
    case "cancelled":
      return [remark("Cancelled before there was an answer.", false)];
  }
  return [];
}

const limits = "The service limits requests.";

/**
 * Why a check was given up. The words of a 429 tell how long to wait as of then; the card counts down.
 * @param {Answer | undefined} reply
 */
function given(reply) {
  if (!reply) return "The service asks for a long pause, so this check was not sent.";
  return reply.status === 429 ? limits : reply.error ?? limits;
}

/**
 * What is said where there is no verdict.
 * @param {string} text
 * @param {boolean} pause whether the time that is left is told too
 * @param {string} [title]
 */
function remark(text, pause, title) {
  return el("p", { class: "remark" }, title && el("strong", {}, `${title} `), text, pause && el("span", { class: "pause" }));
}

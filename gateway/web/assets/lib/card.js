// @ts-check
// The card of one check on the report: where it is, what it came to with a few facts and a small picture, and its whole
// answer, which opens in place.

import { cardFacts } from "./card-facts.js";
import { el } from "./dom.js";
import { linkTo } from "./fitting.js";
import { duration, relative } from "./format.js";
import { ladder, unanswered } from "./ladder.js";
import { lost, verdictLine } from "./parts.js";
import { counted, doing } from "./steps.js";
import { thumb } from "./thumb.js";
import { attempt } from "./view.js";

/** @typedef {import("./api.js").Answer} Answer */
/** @typedef {import("./queue.js").Stage<Answer>} Stage */
/** @typedef {import("./view.js").Verdict} Verdict */

/**
 * What a card needs of its check. @typedef {{slug: string, title: string, input: string, options: Record<string, string
 * | number>, key?: string, glyph: Node | null, stage: Stage, style: string, seen: import("./steps.js").Seen, began:
 * number, took: number, at: number, judge: import("./view.js").Judge | null, verdict: Verdict | null, past:
 * import("./compare.js").Past | null}} Check options are those of the tool that are not the usual ones; key
 * distinguishes cards of one tool; style is the address of the stylesheet of its view, empty for none; at is when it
 * was answered; verdict is the conclusion of an answer or a failure; past is what was kept of it before its answer
 */

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
export const seconds = (ms) => (ms < 50 ? "< 0.1 s" : `${(ms / 1000).toFixed(1)} s`);

/** A page by its host and path. @param {string} text */
const bare = (text) => text.replace(/^https?:\/\//, "").replace(/\/$/, "");

/**
 * @param {Check} check
 * @param {string} target of the whole report: what is asked about is said where it is something else
 * @param {() => void} again runs the check again
 * @returns {{node: HTMLElement, show: () => void, tick: () => void, reveal: () => void}} show draws the check's stage,
 *   tick its clock, reveal opens it for a visitor who followed a link to it
 */
export function makeCard(check, target, again) {
  const { slug, title, input, options, key = slug, glyph } = check;
  const own = bare(input) !== bare(target);
  const said = el("div", { class: "said" });
  const whole = el("div", { class: "whole", id: `whole-${key}`, hidden: true });
  const clock = el("span", { class: "took" });
  const what = () => el("span", { class: "offscreen" }, `: ${title}`);
  const retry = el("button", { type: "button", class: "quiet", hidden: true }, "Try again", what());
  const unfold = el(
    "button",
    { type: "button", class: "quiet unfold", "aria-expanded": "false", "aria-controls": `whole-${key}`, hidden: true },
    "Open",
    what(),
  );
  const page = el("a", { href: linkTo(slug, input, options), rel: "nofollow" }, "Tool page", what());
  const heading = el("h3", { id: `card-${key}`, tabindex: "-1" }, glyph, title);
  const node = el(
    "article",
    { class: "tool-card", "data-slug": slug, "aria-labelledby": `card-${key}` },
    heading,
    own && el("p", { class: "card-input mono", title: input }, input),
    said,
    whole,
    el("div", { class: "foot" }, clock, retry, unfold, page),
  );
  retry.addEventListener("click", again);
  unfold.addEventListener("click", () => (whole.hidden ? open() : close()));

  /** Shows the answer that is there. What draws it is fetched now; nothing is asked again. */
  async function open() {
    const { stage } = check;
    if (stage.state !== "answered" || !stage.reply.ok) return;
    unfold.setAttribute("aria-busy", "true");
    const made = await draw(stage.reply).catch((failure) => {
      console.warn(failure);
      return [lost("The part of this page that displays the answer did not load.")];
    });
    unfold.removeAttribute("aria-busy");
    // Run again in the meantime.
    if (check.stage !== stage) return;
    whole.replaceChildren(...made);
    place(true);
  }

  async function reveal() {
    if (whole.hidden) await open();
    // Open it has a row of its own.
    if (!whole.hidden) heading.scrollIntoView();
  }

  /** @param {Answer} reply @returns {Promise<Node[]>} */
  async function draw(reply) {
    const { wholeAnswer } = await import("./card-open.js");
    return wholeAnswer(check, reply);
  }

  function close() {
    place(false);
    whole.replaceChildren();
  }

  /** @param {boolean} on */
  function place(on) {
    whole.hidden = !on;
    said.hidden = on;
    node.classList.toggle("open", on);
    unfold.setAttribute("aria-expanded", String(on));
    unfold.replaceChildren(on ? "Close" : "Open", what());
    show();
  }

  function show() {
    const done = stateOf(check.stage) === "done";
    node.setAttribute("data-state", stateOf(check.stage));
    if (!done && !whole.hidden) close();
    const opened = done && !whole.hidden;
    // The button that has the focus must not vanish under it.
    if (retry === document.activeElement && !repeatable(check.stage) && !opened) heading.focus();
    retry.hidden = !repeatable(check.stage) && !opened;
    retry.replaceChildren(opened ? "Run again" : "Try again", what());
    unfold.hidden = !done || !check.judge;
    said.replaceChildren(...sentence(check), ...phases(check), ...soFar(check), ...evidence(check));
    tick();
  }

  function tick() {
    const text = whole.hidden ? clockText(check) : `Answered ${relative(check.at)}`;
    if (clock.textContent !== text) clock.textContent = text;
    const pause = said.querySelector(".pause");
    if (pause) pause.textContent = pauseText(check.stage);
    const now = said.querySelector(".now");
    if (now) now.textContent = nowText(check);
    if (check.stage.state === "running") said.querySelector(".phases")?.replaceChildren(newest(check) ?? "");
  }

  return { node, show, tick, reveal };
}

/** A few facts of an answer, and its picture. @param {Check} check @returns {Node[]} */
function evidence({ slug, stage, judge }) {
  if (stage.state !== "answered" || !stage.reply.ok || !judge) return [];
  const { data } = stage.reply;
  const rows = attempt(() => cardFacts(slug, judge.facts(data)), []);
  const picture = attempt(() => thumb(slug, data), null);
  return [
    ...(picture ? [el("div", { class: "thumb-box" }, picture)] : []),
    ...(rows.length > 0
      ? [
          el(
            "dl",
            { class: "card-facts" },
            ...rows.map(([name, fact]) => el("div", {}, el("dt", {}, name), el("dd", { title: fact }, fact))),
          ),
        ]
      : []),
  ];
}

/** @param {Stage} stage whether asking again may come to something else */
function repeatable(stage) {
  if (stage.state === "answered") return !stage.reply.ok && ![400, 413, 501].includes(stage.reply.status);
  return ended(stage);
}

/** @param {Check} check */
function clockText({ stage, began, took }) {
  if (stage.state === "running") return `Running ${((performance.now() - began) / 1000).toFixed(0)} s`;
  if (stage.state === "answered") return stage.reply.ok ? `Answered in ${seconds(took)}` : `After ${seconds(took)}`;
  return { waiting: "Waiting", limited: "Limited", cancelled: "Cancelled" }[stage.state];
}

/** @param {Stage} stage */
function pauseText(stage) {
  const left = "until" in stage && stage.until !== undefined ? Math.ceil((stage.until - performance.now()) / 1000) : 0;
  if (stage.state === "limited" && stage.final)
    return left > 0 ? ` It can run again in ${duration(left)}.` : " It can run again now.";
  if (left <= 0) return " Waiting for its turn.";
  return stage.state === "limited" ? ` Trying again in ${duration(left)}.` : ` Starting in ${duration(left)}.`;
}

/** What a running check is busy with, and what it has found. @param {Check} check */
function nowText({ seen }) {
  if (seen.conclusion) return `${seen.conclusion.message} Still checking…`;
  return seen.count === 0 ? `${doing(seen.stage)}…` : `${doing(seen.stage)}… ${counted(seen)} so far.`;
}

/** @param {Check} check @returns {Node[]} what there is to say */
function sentence({ stage, verdict }) {
  switch (stage.state) {
    case "running":
      return [el("p", { class: "remark now" })];
    case "answered":
      if (verdict) return [verdictLine(verdict)];
      if (stage.reply.ok) return [lost("Answered, but this page could not read the answer.")];
      return [
        remark(
          stage.reply.error ?? "The service gave no reason.",
          false,
          stage.reply.status === 501 ? "Not run." : "No answer.",
        ),
      ];
    case "limited":
      return [remark(stage.final ? given(stage.reply) : limits, true)];
    case "waiting":
      return stage.until === undefined ? [] : [remark(limits, true)];
    case "cancelled":
      return [remark("Cancelled before an answer came.", false)];
  }
  return [];
}

/** The newest connection of a check, and where it stopped once the check has ended. @param {Check} check */
const newest = ({ stage, seen }) => ladder(seen, ended(stage), 1);

/** How far a check has come that waits, or had come where no answer came. @param {Check} check @returns {Node[]} */
function phases(check) {
  const { stage } = check;
  if (stage.state === "running") return [el("p", { class: "phases" })];
  const silent = stage.state === "answered" ? !stage.reply.ok || unanswered(stage.reply) : ended(stage);
  const line = silent ? newest(check) : null;
  return line ? [el("p", { class: "phases" }, line)] : [];
}

/** What a check had found that ended without an answer. @param {Check} check @returns {Node[]} */
function soFar({ stage, seen }) {
  // What is refused was not found out.
  if (
    !ended(stage) ||
    seen.count === 0 ||
    (stage.state === "answered" && (stage.reply.ok || stage.reply.status === 400))
  )
    return [];
  return [el("p", { class: "hint" }, `Found before that (incomplete): ${counted(seen)}.`)];
}

const limits = "The service is limiting requests.";

/**
 * Why a check was given up. The sentence of a 429 holds the wait as of then; the card counts down instead.
 * @param {Answer | undefined} reply
 */
function given(reply) {
  if (!reply) return "The service is limiting requests for a while, so this check was not run.";
  return reply.status === 429 ? limits : (reply.error ?? limits);
}

/**
 * What is said where there is no verdict.
 * @param {string} text
 * @param {boolean} pause whether the time that is left is shown too
 * @param {string} [title]
 */
function remark(text, pause, title) {
  return el(
    "p",
    { class: "remark" },
    title && el("strong", {}, `${title} `),
    text,
    pause && el("span", { class: "pause" }),
  );
}

// @ts-check
// The top of a report: what deserves attention, and where every check is. Its space is reserved, so that nothing below it
// moves while answers come in.

import { attention } from "./attention.js";
import { ended, linkTo, stateOf } from "./card.js";
import { el } from "./dom.js";
import { listed, plural } from "./format.js";
import { mark } from "./parts.js";

/** @typedef {import("./card.js").Check & {group: string, concerns: import("./view.js").Concern[] | null}} Check concerns are null where there is no answer that could be read */
/** @typedef {ReturnType<typeof attention<Judged>>[number]} Entry */
/** @typedef {Check & {concerns: import("./view.js").Concern[]}} Judged */

/** More than these are folded away, and fewer are shown where there is no room. */
const mostShown = 5;

/**
 * All concerns, worst first.
 * @param {Check[]} checks
 */
export function concernsOf(checks) {
  return attention(/** @type {Judged[]} */ (checks.filter((check) => check.concerns !== null)));
}

/**
 * What the list of concerns is, in one sentence.
 * @param {Check[]} checks
 */
export function headline(checks) {
  const open = checks.filter((check) => !ended(check.stage)).length;
  if (open > 0) return `${checks.length - open} of ${plural(checks.length, "check")} ended so far.`;
  const judged = checks.filter((check) => check.concerns !== null).length;
  if (judged === 0) return "There is no answer to look at.";
  const found = concernsOf(checks).length;
  if (found > 0) return `${plural(found, "finding")} in ${plural(judged, "answer")}, the worst first.`;
  return `Nothing that ${judged === 1 ? "this check looks" : `these ${judged} checks look`} at needs attention.`;
}

/**
 * Which checks gave nothing to look at, or not all there is, in sentences.
 * @param {Check[]} checks
 * @returns {string[]}
 */
export function missing(checks) {
  const off = checks.filter((check) => check.stage.state === "answered" && check.stage.reply.status === 501);
  const silent = checks.filter((check) => ended(check.stage) && ["failed", "limited"].includes(stateOf(check.stage)) && !off.includes(check));
  const cut = checks.filter((check) => check.stage.state === "answered" && check.stage.reply.data?.truncated);
  return [
    who(silent, "could not answer"),
    who(checks.filter((check) => stateOf(check.stage) === "done" && check.concerns === null), "answered what this page could not read"),
    who(checks.filter((check) => check.stage.state === "cancelled"), "gave no answer before the report was cancelled"),
    cut.length > 0 ? `More came than an answer holds, so a part is missing in ${plural(cut.length, "answer")}: ${listed(cut.map((check) => check.title))}.` : "",
    off.length > 0 ? `Not enabled here: ${listed(off.map((check) => check.title))}.` : "",
  ].filter((sentence) => sentence !== "");
}

/** @param {Check[]} checks @param {string} what */
function who(checks, what) {
  return checks.length === 0 ? "" : `${plural(checks.length, "check")} ${what}: ${listed(checks.map((check) => check.title))}.`;
}

/**
 * @param {Check[]} checks
 * @returns {{node: HTMLElement, update: () => void}}
 */
export function makeOverview(checks) {
  const list = el("ol", { class: "concerns" });
  const rest = el("ol", { class: "concerns" });
  const label = el("summary");
  const fold = el("details", { class: "more", hidden: true }, label, rest);
  const first = el("p", { class: "headline" });
  const last = el("div", { class: "missing" });
  // Few checks find little: they get less room.
  const size = checks.length > 8 ? "many" : checks.length > 3 ? "some" : "few";
  const box = el("section", { id: "attention", class: size, "aria-labelledby": "attention-title" }, el("h2", { id: "attention-title" }, "What deserves attention"), first, list, fold, last);
  const contents = el("ul");
  const node = el("div", { class: "overview" }, box, el("nav", { class: "contents", "aria-label": "Checks of this report" }, contents));
  /** @type {Map<string, HTMLLIElement>} */
  const lines = new Map();
  let width = 0;

  function update() {
    contents.replaceChildren(...checks.map(contentsLine));
    const nothing = checks.every((check) => ended(check.stage)) && checks.some((check) => check.concerns) && concernsOf(checks).length === 0;
    first.classList.toggle("nothing", nothing);
    first.replaceChildren(...(nothing ? [mark("good")] : []), headline(checks));
    last.replaceChildren(...missing(checks).map((sentence) => el("p", {}, sentence)));
    box.toggleAttribute("data-open", checks.some((check) => !ended(check.stage)));
    arrange(concernsOf(checks).map(line));
  }

  /** @param {Entry} entry */
  function line(entry) {
    const key = [entry.tone, entry.text, ...entry.from.map((check) => check.slug)].join("\n");
    const made = lines.get(key) ?? concernLine(entry);
    lines.set(key, made);
    return made;
  }

  /**
   * Shows as many as there is room for.
   * @param {HTMLLIElement[]} all
   */
  function arrange(all) {
    const focused = document.activeElement;
    const unfolded = fold.open;
    fold.open = false;
    split(all, 0);
    const room = box.offsetHeight;
    for (let shown = Math.min(mostShown, all.length); shown >= Math.min(1, all.length); shown--) {
      split(all, shown);
      if (shown === 0 || box.offsetHeight <= room) break;
    }
    fold.open = unfolded;
    if (focused instanceof HTMLElement && box.contains(focused)) focused.focus({ preventScroll: true });
  }

  /** @param {HTMLLIElement[]} all @param {number} shown */
  function split(all, shown) {
    list.replaceChildren(...all.slice(0, shown));
    rest.replaceChildren(...all.slice(shown));
    rest.start = shown + 1;
    fold.hidden = shown === all.length;
    label.textContent = shown === 0 ? "" : `${all.length - shown} more`;
  }

  new ResizeObserver(() => {
    if (box.offsetWidth === width) return;
    width = box.offsetWidth;
    arrange([...list.children, ...rest.children].map((child) => /** @type {HTMLLIElement} */ (child)));
  }).observe(box);

  return { node, update };
}

/** @param {Entry} entry */
function concernLine({ tone, text, from }) {
  const links = from.flatMap((check, i) => [i > 0 && ", ", el("a", { href: linkTo(check), rel: "nofollow" }, check.title)]);
  return el("li", {}, mark(tone), el("p", {}, text, " ", el("span", { class: "from" }, ...links)));
}

/** What a state looks like in the list of checks, and how it is read out. @type {Record<import("./card.js").State, [string, string]>} */
const signs = { waiting: ["", "Waiting: "], running: ["", "Running: "], done: ["i", "Answered: "], failed: ["–", "No answer: "], limited: ["–", "Limited: "], cancelled: ["–", "Cancelled: "] };

/** @param {Check} check */
function contentsLine({ slug, title, stage, verdict }) {
  const state = stateOf(stage);
  const [sign, word] = signs[state];
  const bullet = verdict ? mark(verdict.tone) : el("span", { class: "mark" }, el("span", { "aria-hidden": "true" }, sign), el("span", { class: "offscreen" }, word));
  return el("li", { "data-state": state }, bullet, el("a", { href: `#card-${slug}` }, title));
}

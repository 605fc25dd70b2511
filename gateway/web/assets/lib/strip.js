// @ts-check
// The strip of tools on the page of a target: each with the link that runs it there, and what it came to in this
// browser.

import { el } from "./dom.js";
import { fit, linkTo, suitsOf } from "./fitting.js";
import { relative } from "./format.js";
import { mark } from "./parts.js";
import { recognise } from "./recognise.js";
import { lastVerdict } from "./store.js";

/**
 * Fits the strip to a target. The tool of the page stays whatever the target is.
 * @param {HTMLElement} strip
 * @param {string} target
 */
export function showStrip(strip, target) {
  const found = recognise(target);
  for (const item of strip.querySelectorAll("li")) show(item, found, target);
  strip.dataset.ready = "";
  const [list, at] = [strip.querySelector("ul"), strip.querySelector("[aria-current]")];
  if (!list || !(at instanceof HTMLElement)) return;
  // The first stays where it is: the tool of the page comes into the middle of what is beside it.
  const first = list.querySelector("li")?.offsetWidth ?? 0;
  list.scrollLeft = at.offsetLeft - first - (list.clientWidth - first - at.offsetWidth) / 2;
  // What is in sight of a tool on either side of the first is wide enough to be touched, or nothing is (WCAG 2.2,
  // 2.5.8).
  const [start, ...others] = [...list.querySelectorAll("li:not([hidden])")].map((item) => item.getBoundingClientRect());
  const begin = list.getBoundingClientRect().left;
  const slim = (/** @type {number} */ width) => width > 0 && width < touchable;
  const fits = (/** @type {number} */ back) =>
    others.every(({ left, right }) => !slim(right + back - start.right) && !slim(begin - left - back));
  list.scrollLeft -= Array.from({ length: 80 }, (_, back) => back).find(fits) ?? 0;
}

/** The least width of what is touched, in pixels, and a little. */
const touchable = 26;

/**
 * @param {HTMLLIElement} item
 * @param {import("./recognise.js").Found | null} found
 * @param {string} target
 */
function show(item, found, target) {
  const { slug = "", kind = "", suits = "" } = item.dataset;
  const link = /** @type {HTMLAnchorElement} */ (item.querySelector("a"));
  const input = link.ariaCurrent ? target : found && fit(found, { kind, suits: suitsOf(suits) })?.input;
  item.hidden = !input;
  if (!input) return;
  link.href = linkTo(slug, input);
  const last = lastVerdict(slug, input);
  link.title = last ? `${last.verdict} (${relative(last.at)})` : "";
  link.querySelector(".mark")?.replaceWith(last ? mark(last.tone) : el("span", { class: "mark" }));
}

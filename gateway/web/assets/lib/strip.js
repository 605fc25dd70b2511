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
  list.scrollLeft = startFor(list, at);
}

/**
 * Where the strip is scrolled to: a whole tool begins beside the first, which stays where it is, and the tool of the
 * page is in sight, with one before it where there is room.
 * @param {HTMLElement} list
 * @param {HTMLElement} at
 */
function startFor(list, at) {
  const [start, ...others] = /** @type {HTMLElement[]} */ ([...list.querySelectorAll("li:not([hidden])")]);
  if (!start || start.contains(at)) return 0;
  const own = others.findIndex((item) => item.contains(at));
  const room = list.clientWidth - start.offsetWidth;
  const before = others[own - 1];
  const roomy = before && others[own].offsetLeft + others[own].offsetWidth - before.offsetLeft <= room;
  return (roomy ? before : others[own]).offsetLeft - start.offsetWidth - list.offsetLeft;
}

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

// @ts-check
// Building nodes. Data only ever becomes text: there is no way in here from a string to markup.

import { dateTime } from "./format.js";

/** @typedef {Node | string | null | undefined | false} Child what is null, undefined or false is left out */
/**
 * @typedef {Record<string, string | number | boolean | null | undefined>} Attributes true is an attribute without a
 *   value; false, null and undefined are none
 */

/**
 * Makes an element.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/**
 * Makes an element of an SVG picture. Colours are classes of site.css: an inline style would be against the page's
 * policy.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {SVGElementTagNameMap[K]}
 */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/**
 * @template {Element} T
 * @param {T} node
 * @param {Attributes} attributes
 * @param {Child[]} children
 * @returns {T}
 */
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) {
    if (child !== false && child !== null && child !== undefined) node.append(child);
  }
  return node;
}

/**
 * Draws the children of an element, each anew only where it says something else than before: most of a page stays as it
 * is while answers come, and keeps the focus.
 * @param {Element} parent
 * @returns {(items: [key: string, make: () => Element][]) => void}
 */
export function keyed(parent) {
  /** @type {string[]} */
  let keys = [];
  return (items) => {
    items.forEach(([key, make], i) => {
      const old = parent.children[i];
      if (!old) parent.append(make());
      else if (keys[i] !== key) old.replaceWith(make());
    });
    while (parent.children.length > items.length) parent.lastElementChild?.remove();
    keys = items.map(([key]) => key);
  };
}

/**
 * Gives the element of the page with that id, which must be there.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const node = document.getElementById(id);
  if (!node) throw new Error(`this page has no #${id}`);
  return node;
}

/**
 * Has the button that starts a run say that one goes on. It keeps its place and the focus.
 * @param {HTMLElement} button
 * @param {boolean} on
 */
export function setBusy(button, on) {
  button.dataset.idle ??= button.textContent ?? "";
  button.textContent = on ? "Running…" : button.dataset.idle;
  if (on) button.setAttribute("aria-busy", "true");
  else button.removeAttribute("aria-busy");
}

let ids = 0;

/**
 * An id that no other element of the page has.
 * @param {string} stem
 * @returns {string}
 */
export function freshId(stem) {
  ids += 1;
  return `${stem}-${ids}`;
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let saying;

/**
 * Has screen readers say something that sighted visitors see happen, in the place of what has not been said yet.
 * @param {string} text
 */
export function announce(text) {
  const live = byId("live");
  clearTimeout(saying);
  // The same words twice in a row are two events: an empty moment in between makes the second one heard.
  live.textContent = "";
  saying = setTimeout(() => {
    live.textContent = text;
  }, 50);
}

/**
 * A clock that counts up in an element while something runs.
 * @param {HTMLElement} node
 * @param {0 | 1} [digits] behind the point: tenths keep a slow phone busy where there is much else to draw
 * @returns {() => number} stops the clock and gives the milliseconds that passed
 */
export function startClock(node, digits = 1) {
  const start = performance.now();
  const show = () => {
    node.textContent = `${((performance.now() - start) / 1000).toFixed(digits)} s`;
  };
  show();
  const timer = setInterval(show, digits ? 100 : 1000);
  return () => {
    clearInterval(timer);
    node.textContent = "";
    return performance.now() - start;
  };
}

/**
 * On paper opens what is folded, and says when it was printed and from where.
 * @param {HTMLElement} root
 */
export function unfoldOnPaper(root) {
  /** @type {Set<HTMLDetailsElement>} */
  const opened = new Set();
  addEventListener("beforeprint", () => {
    root.dataset.printed = `${dateTime(new Date().toISOString())}, from ${location.href.replace(/#.*/s, "")}`;
    for (const fold of /** @type {NodeListOf<HTMLDetailsElement>} */ (root.querySelectorAll("details"))) {
      if (!fold.open) opened.add(fold);
      fold.open = true;
    }
  });
  addEventListener("afterprint", () => {
    for (const fold of opened) fold.open = false;
    opened.clear();
  });
}

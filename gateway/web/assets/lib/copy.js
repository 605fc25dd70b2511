// @ts-check
// Copying: one listener for every copy button of the page.

import { announce, el, svg } from "./dom.js";

/**
 * What a button copies; a function may need time to make it, and gives null where it could not. @typedef {string | (()
 * => string | Promise<string | null>)} Text
 */

/** @type {WeakMap<Element, Text>} */
const texts = new WeakMap();

/**
 * A small button that copies a text.
 * @param {Text} text
 * @param {string} what for screen readers: "Copy " and this
 * @returns {HTMLButtonElement}
 */
export function copyButton(text, what) {
  const button = el("button", { type: "button", class: "copy", title: "Copy", "aria-label": `Copy ${what}` }, icon());
  texts.set(button, text);
  return button;
}

/**
 * Makes any button copy a text when it is pressed.
 * @param {HTMLButtonElement} button
 * @param {Text} text
 * @returns {HTMLButtonElement}
 */
export function copies(button, text) {
  texts.set(button, text);
  return button;
}

document.addEventListener("click", async (event) => {
  const button = event.target instanceof Element ? event.target.closest("button") : null;
  const source = button && texts.get(button);
  if (!button || source === undefined || source === null) return;
  const text = typeof source === "function" ? await source() : source;
  if (text === null) return;
  const done = await copy(text);
  announce(done ? "Copied." : "Copying failed. Select the text and copy it by hand.");
  button.classList.add(done ? "copied" : "failed");
  setTimeout(() => button.classList.remove("copied", "failed"), 1500);
});

/** @param {string} text @returns {Promise<boolean>} whether it is on the clipboard */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/**
 * The old way, for pages over plain http from another host, where browsers offer no clipboard.
 * @param {string} text
 * @returns {boolean}
 */
function copyBySelection(text) {
  const focused = document.activeElement;
  const area = el("textarea", { class: "offscreen", "aria-hidden": "true", tabindex: "-1" });
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return done;
}

function icon() {
  return svg(
    "svg",
    { viewBox: "0 0 16 16", width: 14, height: 14, "aria-hidden": "true", class: "icon" },
    svg("rect", { x: 5.5, y: 5.5, width: 8, height: 8, rx: 1.5 }),
    svg("path", { d: "M10.5 5.5v-2a1 1 0 0 0-1-1h-6a1 1 0 0 0-1 1v6a1 1 0 0 0 1 1h2" }),
    svg("path", { class: "tick", d: "M7 9.6l1.8 1.8 3.2-3.6" }),
  );
}

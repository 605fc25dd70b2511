// @ts-check
// What every page has: the choice of theme, and "/" for the main field.

import { load, save } from "../lib/store.js";

const themes = document.querySelectorAll('input[name="theme"]');
const chosen = load("theme", "auto");
for (const radio of /** @type {NodeListOf<HTMLInputElement>} */ (themes)) {
  radio.checked = radio.value === chosen;
  radio.addEventListener("change", () => choose(radio.value));
}

/** @param {string} theme auto, light or dark */
function choose(theme) {
  save("theme", theme === "auto" ? null : theme);
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
  const field = document.querySelector("[data-main-field]");
  if (!(field instanceof HTMLInputElement)) return;
  event.preventDefault();
  field.focus();
  field.select();
});

/** @param {EventTarget | null} target */
function typing(target) {
  return (
    target instanceof HTMLElement && target.matches("input:not([type=radio]), textarea, select, [contenteditable]")
  );
}

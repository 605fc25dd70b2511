// @ts-check
// The page on the API: its lines ask the service that the page came from, can be copied, and a link to a tool opens its
// fold.

import { copyButton } from "../lib/copy.js";

for (const origin of document.querySelectorAll("[data-origin]")) origin.textContent = location.origin;

for (const box of document.querySelectorAll(".code")) {
  const fold = box.closest("details");
  const name = fold?.querySelector("h3")?.textContent;
  box.append(
    copyButton(() => box.querySelector("pre")?.textContent ?? "", name ? `the request of ${name}` : "this text"),
  );
}

window.addEventListener("hashchange", openNamed);
openNamed();

/** Opens the fold that the address names. */
function openNamed() {
  const fold = document.getElementById(location.hash.slice(1));
  if (!(fold instanceof HTMLDetailsElement)) return;
  fold.open = true;
  fold.scrollIntoView();
}

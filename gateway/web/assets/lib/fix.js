// @ts-check
// How a finding is repaired: what to do, the text to paste, and a check whether the finding is still there.

import { keyOfFinding } from "./compare.js";
import { el } from "./dom.js";
import { code } from "./parts.js";

/** @typedef {import("./view.js").Finding} Finding */
/** @typedef {import("./compare.js").Known & Pick<Finding, "paste">} Fixable */
/** @typedef {{asked: import("./view.js").Asked, before: Fixable[]}} Run the request that found it, and all it found */

/** What a text to paste is. @type {Record<NonNullable<Finding["paste"]>["kind"], string>} */
const kinds = {
  dns: "The DNS record, as a line of a zone file",
  nginx: "For the server block of nginx",
  apache: "For the configuration of Apache",
  caddy: "For the site block of Caddy",
  text: "To paste",
};

/**
 * The text that repairs a finding, and the button that checks whether it is still there.
 * @param {Fixable} finding with a paste
 * @param {Run} run
 * @param {Node | null} [lines] the same text in another form, shown in its place
 * @returns {HTMLElement}
 */
export function fixPart(finding, run, lines) {
  const { kind, text } = finding.paste ?? { kind: "text", text: "" };
  return el(
    "div",
    { class: "fix", "data-fix": keyOfFinding(finding) },
    ...(lines
      ? [lines]
      : [el("p", { class: "command-label" }, kinds[kind] ?? kinds.text), code(text, "line to paste")]),
    checkAgain(finding, run),
  );
}

/**
 * The button and its result. The focus stays on the button; screen readers hear the result.
 * @param {Fixable} finding
 * @param {Run} run
 */
function checkAgain(finding, run) {
  const button = el("button", { type: "button", class: "quiet" }, "Check again");
  const said = el("div", { role: "status", class: "fate" });
  button.addEventListener("click", async () => {
    if (button.ariaDisabled === "true") return;
    button.ariaDisabled = "true";
    said.replaceChildren("Checking…");
    const result = await import("./again.js").then(
      ({ again }) => again(finding, run),
      () => ({ nodes: ["The part of this page that checks again did not load. Reload the page."], wait: 0 }),
    );
    said.replaceChildren(...result.nodes);
    setTimeout(() => (button.ariaDisabled = null), result.wait);
  });
  return el("div", { class: "check-again" }, button, said);
}

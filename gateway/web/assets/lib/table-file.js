// @ts-check
// A table of the page as a file. It is loaded on demand.

import { csv } from "./csv.js";
import { download, fileName } from "./download.js";

/** What stands in a cell beside its content: buttons, drawings, and remarks in small print. */
const aside = "button, svg, [aria-hidden='true'], .hint, .column-hint";

/** What begins on a line of its own. */
const blocks = "li, div, p, br, tr, dt, dd";

/** @param {Node} node @returns {string} its words, a line for each block */
function lines(node) {
  if (node instanceof Text) return node.data.replace(/\s+/g, " ");
  if (!(node instanceof Element) || node.matches(aside)) return "";
  const inside = [...node.childNodes].map(lines).join("");
  return node.matches(blocks) ? `\n${inside}\n` : inside;
}

/** @param {Element} cell @returns {string} what it says on one line */
const words = (cell) =>
  lines(cell)
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean)
    .join("; ");

/**
 * @param {HTMLTableElement} table
 * @returns {string}
 */
const tableFile = (table) => csv([...table.rows].map((row) => [...row.cells].map(words)));

/**
 * Hands a table, or rows, to the visitor, named by the page's target and what they show.
 * @param {HTMLTableElement | (() => (string | number | null)[][])} rows
 * @param {string} caption
 */
export function save(rows, caption) {
  const name = fileName(document.title.split(" · ")[0], caption);
  download(`${name}.csv`, "text/csv", typeof rows === "function" ? csv(rows()) : tableFile(rows));
}

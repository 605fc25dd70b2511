// @ts-check
// Handing a file to the visitor.

import { el } from "./dom.js";

/**
 * A file's name without an extension, of what it is about: characters that file systems mind become hyphens.
 * @param {...string} words
 * @returns {string}
 */
export function fileName(...words) {
  return words
    .join("-")
    .replace(/^https?:\/\//, "")
    .replace(/[^\p{L}\p{N}.]+/gu, "-")
    .replace(/^[-.]+|[-.]+$/g, "")
    .slice(0, 80);
}

/**
 * Hands a text, or a picture, to the visitor as a file.
 * @param {string} name
 * @param {string} type
 * @param {string | Blob} content
 */
export function download(name, type, content) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

// @ts-check
// The sentences of a tool by code, as this instance's catalogue has them: formats of Go's fmt with the verbs %s, %d and
// %[n]s. A test of the gateway holds the files against the catalogue.

import { gap, literal } from "./seen-typed.js";

/** @typedef {{conclusions: Record<string, string>, findings: Record<string, string>}} Sentences */

const verb = /%%|%(?:\[(\d)\])?[sd]/g;

/**
 * The sentences of a tool; null where there are none or they did not load.
 * @param {string} slug one that the page has
 * @returns {Promise<Sentences | null>}
 */
export async function loadSentences(slug) {
  try {
    const response = await fetch(new URL(`../tools/${slug}/sentences.json`, import.meta.url));
    return response.ok ? await response.json() : null;
  } catch {
    return null;
  }
}

/**
 * The format of a code, null where the catalogue has no such code.
 * @param {Record<string, string>} formats
 * @param {string} code
 */
export const formatOf = (formats, code) => (Object.hasOwn(formats, code) ? formats[code] : null);

/**
 * A format as its literal texts and the arguments between them, by number from 0. @param {string} format @returns
 * {(string | number)[]}
 */
function partsOf(format) {
  const parts = [];
  let [next, end] = [0, 0];
  for (const { 0: found, 1: n, index } of format.matchAll(verb)) {
    parts.push(format.slice(end, index));
    end = index + found.length;
    if (found === "%%") parts.push("%");
    else {
      next = n ? Number(n) : next + 1;
      parts.push(next - 1);
    }
  }
  return [...parts, format.slice(end)];
}

/**
 * The arguments that a sentence was made of; null where it is none of the format.
 * @param {string} format
 * @param {string} sentence
 * @returns {(string | null)[] | null} null for one that the format does not show
 */
export function argumentsOf(format, sentence) {
  const seen = new Set();
  const pattern = partsOf(format).map((part) => {
    if (typeof part === "string") return literal(part);
    const known = seen.has(part);
    seen.add(part);
    return known ? `\\k<a${part}>` : `(?<a${part}>[^]*?)`;
  });
  const groups = new RegExp(`^${pattern.join("")}$`).exec(sentence)?.groups;
  if (seen.size === 0) return sentence === format.replaceAll("%%", "%") ? [] : null;
  return groups ? Array.from({ length: Math.max(...seen) + 1 }, (_, i) => groups[`a${i}`] ?? null) : null;
}

/**
 * A sentence of a format; what is not among the arguments is left out.
 * @param {string} format
 * @param {(string | null | undefined)[]} values
 */
export const sentenceOf = (format, values) =>
  partsOf(format)
    .map((part) => (typeof part === "string" ? part : (values[part] ?? gap)))
    .join("")
    .replace(/…\.$/, gap);

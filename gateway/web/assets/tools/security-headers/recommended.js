// @ts-check
// What a control recommends: the header as it is to be sent, apart from the words around it, which nobody wants to
// paste.

/** @typedef {{recommendation: string | null, set?: {name: string, value: string}}} Recommending */

/** @param {string} text a part of a sentence, perhaps in brackets @returns {string} a sentence of its own */
function sentence(text) {
  const words = text
    .trim()
    .replace(/^\((.*)\)$/s, "$1")
    .replace(/[:;,]$/, "")
    .trim();
  return words && `${words[0].toUpperCase()}${words.slice(1)}${/[.!?]$/.test(words) ? "" : "."}`;
}

/**
 * The header to send, and what else to know or do. Where no header is recommended all of it is words.
 * @param {Recommending} control
 * @returns {{name: string, value: string, words: string}} name and value are empty without a header
 */
export function recommended({ recommendation, set }) {
  const text = recommendation ?? "";
  if (!set) return { name: "", value: "", words: sentence(text) };
  const line = `${set.name}: ${set.value}`;
  const at = text.indexOf(line);
  // Of a text that was cut only the beginning is there.
  const around = at < 0 ? [] : [text.slice(0, at), text.slice(at + line.length)];
  return { ...set, words: around.map(sentence).filter(Boolean).join(" ") };
}

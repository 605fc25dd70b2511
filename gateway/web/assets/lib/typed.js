// @ts-check
// What a field says while someone types in it: that an address cannot be checked from here. It is loaded once someone
// types.

import { announce } from "./dom.js";
import { unfit } from "./public.js";
import { recognise } from "./recognise.js";

/** The sentence that the note has from here; what else it says is not ours to take away. */
let told = "";

/**
 * @param {HTMLInputElement} field
 * @param {HTMLElement} note the place of the sentence
 */
export function noteUnfit(field, note) {
  const sentence = unfit(recognise(field.value)?.host);
  if (note.textContent === sentence || (sentence === "" && note.textContent !== told)) return;
  note.textContent = told = sentence;
  if (sentence !== "") announce(sentence);
}

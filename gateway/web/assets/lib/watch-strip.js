// @ts-check
// The strip of the latest rounds, a mark each: its shape says what its colour says.

import { el } from "./dom.js";
import { listed, number, plural } from "./format.js";
import { clock, kinds, stateOf } from "./watch-words.js";

/** @typedef {import("./watch-record.js").Entry} Entry */
/** @typedef {import("./watch-words.js").State} State */
/** @typedef {{kind: State | "trouble", text: string}} Mark trouble is what works, with a warning */

/** So many are drawn: as many as have room on a phone. */
export const mostMarks = 24;

/** @type {Record<State, string>} */
const words = { works: "works", fails: "fails", unknown: "unknown", unmeasured: "not measured" };

/**
 * The latest entries as marks, and what those before came to.
 * @param {Entry[]} entries
 * @param {number} forgotten how many more there were that are no longer kept
 * @returns {{marks: Mark[], before: string}} before is empty for none
 */
export function stripOf(entries, forgotten) {
  const marks = entries.slice(-mostMarks).map(markOf);
  const rest = entries.slice(0, -mostMarks).filter((e) => e.kind !== "pause");
  if (rest.length + forgotten === 0) return { marks, before: "" };
  const counts = /** @type {[State, string][]} */ (Object.entries(words)).flatMap(([state, word]) => {
    const n = rest.filter((e) => stateOf(e) === state).length;
    return n > 0 ? [`${number(n)} ${word}`] : [];
  });
  const lost = forgotten > 0 ? [`${number(forgotten)} no longer kept`] : [];
  return {
    marks,
    before: `Before these ${number(rest.length + forgotten)}: ${listed([...counts, ...lost])}.`,
  };
}

/** @param {Entry} entry @returns {Mark} */
function markOf(entry) {
  const state = stateOf(entry);
  const trouble = state === "works" && (entry.got?.tone === "warn" || entry.got?.tone === "bad");
  const what =
    entry.got && state !== "unknown" ? `${words[state]} (${entry.got.state})` : kinds[entry.kind] || "unknown";
  const until = entry.kind === "pause" ? ` to ${clock(entry.until)}` : "";
  return { kind: trouble ? "trouble" : state, text: `${clock(entry.at)}${until}: ${what}` };
}

/** @param {Mark[]} marks @returns {HTMLElement} */
export function drawStrip(marks) {
  return el(
    "ol",
    { class: "watch-strip", "aria-label": `The latest ${plural(marks.length, "round")}` },
    ...marks.map(({ kind, text }) =>
      el("li", { class: `is-${kind}`, title: text }, el("span", { class: "offscreen" }, text)),
    ),
  );
}

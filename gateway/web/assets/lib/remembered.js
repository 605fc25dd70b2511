// @ts-check
// What the browser remembers, put in order: by target, what each check last came to and what has changed since the
// first.

import { recognise } from "./recognise.js";

/** @typedef {import("./store.js").Known} Known */
/** @typedef {{target: string, at: number, checks: Known[]}} Remembered the checks and targets newest first */

/**
 * The target that an input is about: the host of a URL or of host:port, an AS number as it is.
 * @param {string} input
 * @returns {string}
 */
export function targetOf(input) {
  const found = recognise(input);
  return (found?.host ?? found?.text ?? input).toLowerCase();
}

/**
 * @param {Known[]} answers newest first
 * @param {{target: string, at: number}[]} recents targets that were asked about, newest first
 * @returns {Remembered[]}
 */
export function remembered(answers, recents) {
  /** @type {Map<string, Remembered>} */
  const targets = new Map();
  const of = (/** @type {string} */ input, /** @type {number} */ at) => {
    const target = targetOf(input);
    const known = targets.get(target) ?? { target, at, checks: [] };
    known.at = Math.max(known.at, at);
    targets.set(target, known);
    return known;
  };
  // A tool without an input is about the visitor, and no target.
  for (const known of answers) if (known.key[1] !== "") of(known.key[1], known.at).checks.push(known);
  for (const { target, at } of recents) of(target, at);
  return [...targets.values()].sort((a, b) => b.at - a.at);
}

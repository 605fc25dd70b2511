// @ts-check
// HTTP statuses as the pages show them.

import { el } from "./dom.js";
import { badge } from "./parts.js";

/** @typedef {import("./view.js").Tone} Tone */

/**
 * @param {number} status
 * @returns {Tone}
 */
export function statusTone(status) {
  return status >= 500 ? "bad" : status >= 400 ? "warn" : status >= 300 ? "info" : "good";
}

/**
 * A status as a badge, followed by the server's own words, which may be long.
 * @param {number} status
 * @param {string | null} [text]
 * @returns {HTMLElement}
 */
export function statusShown(status, text) {
  return el("span", {}, badge(statusTone(status), String(status)), text && ` ${text}`);
}

/**
 * A status with the server's own words, for a sentence: "404 Not Found".
 * @param {{status: number | null, statusText: string | null}} answer
 * @returns {string}
 */
export function answered({ status, statusText }) {
  return status === null ? "no answer" : `${status} ${statusText ?? ""}`.trim();
}

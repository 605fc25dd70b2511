// @ts-check
// HTTP statuses in plain words (RFC 9110, RFC 6585, RFC 7725).

import { el } from "./dom.js";
import { badge } from "./parts.js";

/** @typedef {import("./view.js").Tone} Tone */

const moved = "The page has moved permanently. Browsers and search engines remember the new address.";
const elsewhere = "The page is temporarily elsewhere. Keep using the old address.";

/** @type {Record<number, string>} */
const meanings = {
  204: "The request succeeded, and there is nothing to show.",
  301: moved,
  302: elsewhere,
  303: "The answer is at another address.",
  307: elsewhere,
  308: moved,
  304: "Nothing has changed since the copy that the client says it has.",
  400: "The server does not understand the request.",
  401: "Visitors must sign in first.",
  403: "The server refuses the request. Some servers refuse only automated checks and let browsers in.",
  404: "There is no page at this address.",
  405: "The server does not accept this request method here.",
  406: "The server has no version of the page that this client accepts.",
  410: "The page was removed on purpose and will not come back.",
  421: "The request reached a server that is not responsible for this host.",
  429: "The server received too many requests from this client and asks it to wait.",
  451: "The page is withheld for legal reasons.",
  500: "The server's own program failed.",
  502: "A server in front got no usable answer from the one behind it.",
  503: "The server is overloaded or under maintenance. That should pass.",
  504: "A server in front got no answer in time from the one behind it.",
};

/** What a whole class means, by its first digit. */
const classes = [
  "",
  "This is only an interim answer.",
  "The request succeeded.",
  "The answer is elsewhere.",
  "The server rejects the request.",
  "The server failed.",
];

/**
 * @param {number} status
 * @returns {string} a sentence or two
 */
export function statusMeaning(status) {
  if (status >= 520 && status <= 526)
    return "Cloudflare is in front of the site and got no usable answer from the site's own server.";
  return meanings[status] ?? classes[Math.floor(status / 100)] ?? "This is not a standard status.";
}

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

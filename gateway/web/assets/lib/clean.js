// @ts-check
// What a tool's field makes of something typed or pasted.

import { bracketed, isIPv6, recognise, visible, web } from "./recognise.js";

/** @typedef {import("./recognise.js").Found} Found */
/** @typedef {import("./recognise.js").InputKind} InputKind */
/** @typedef {import("./recognise.js").Meaning} Meaning */

/** What a field takes as it is; the API explains what is wrong with the rest. */
const word = /^[^\s/:@<>"'`,;()[\]{}|]+$/;
const withPort = /^(?:[^\s/:@<>"'`,;()[\]{}|]+|\[[0-9a-f:.]+\])(?::\d*)?$/i;
/** @type {Record<InputKind, (text: string) => boolean>} */
const taken = {
  domain: (text) => word.test(text),
  host: (text) => word.test(text) || isIPv6(text),
  hostPort: (text) => withPort.test(text) || isIPv6(text),
  tlsHost: (text) => withPort.test(text) || isIPv6(text),
  url: (text) =>
    /^https?:\/\/[^\s/?#@<>"'`,;(){}|\\]+(?:[/?#][^\s]*)?$/i.test(text) &&
    !/^\w+:\/\/[^/?#]*\[(?:\.|dot)\]/i.test(text),
  address: (text) => word.test(text) || isIPv6(text),
  network: (text) => word.test(text) || isIPv6(text),
  registration: (text) => word.test(text) || isIPv6(text),
};

/**
 * What a field of that kind makes of a text: what it takes stays, else the input is taken out of it and the note says
 * so.
 * @param {string} kind of a descriptor
 * @param {string} text
 * @returns {{value: string, note: string | null}}
 */
export function clean(kind, text) {
  const value = visible(text).trim();
  const asIs = taken[/** @type {InputKind} */ (kind)];
  if (!asIs || asIs(value)) return { value, note: null };
  const found = recognise(value);
  const input = found && inputFor(/** @type {InputKind} */ (kind), found);
  if (!found || !input || input === value) return { value, note: null };
  return { value: input, note: note(kind, value, found, input) };
}

/**
 * @param {InputKind} kind
 * @param {Found} found
 * @returns {string | null | undefined}
 */
function inputFor(kind, found) {
  const { host } = found;
  // A port that no one named is not for us to choose.
  if (kind === "hostPort" && found.kind !== "url" && found.kind !== "hostPort") return host;
  if (kind !== "url" || found.inputs.url !== undefined || host === null) return found.inputs[kind];
  return web("https", found.kind === "hostPort" ? found.text : bracketed({ host }));
}

/** @type {Partial<Record<Meaning, string>>} */
const nouns = { url: "web address", email: "e-mail address", hostPort: "host and port", address: "address" };

/**
 * @param {string} kind
 * @param {string} value
 * @param {Found} found
 * @param {string} input
 */
function note(kind, value, found, input) {
  if (kind === "url" && found.kind === "url" && /^https?:\/\/[^\s/?#]*@/i.test(value))
    return "Left out the user name and password in the web address.";
  if (kind === "url" && found.kind !== "email" && !/\s|:\/\//.test(value)) return `Completed ${value} to ${input}.`;
  const noun = /\s/.test(value) || (kind === "url" && found.kind === "url") ? "text" : (nouns[found.kind] ?? "text");
  return `Using ${input} from the ${noun} that you entered.`;
}

// @ts-check
// Codes of the API in words, for cards and files that people read. Whatever else a fact holds is data, and stays as it
// is.

import { explain, isCode } from "./dns-codes.js";

/** @type {Record<string, string>} */
const words = {
  ENODATA: "none",
  CERT_HAS_EXPIRED: "it has expired",
  CERT_NOT_YET_VALID: "it is not valid yet",
  DEPTH_ZERO_SELF_SIGNED_CERT: "it is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "its root is not trusted",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "its issuer is not trusted",
  CERT_REVOKED: "it was revoked",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "an intermediate certificate is missing",
  ERR_TLS_CERT_ALTNAME_INVALID: "it is for another name",
  INVALID_PURPOSE: "it is not for servers",
  PERMITTED_VIOLATION: "its authority may not issue for this name",
  UNHANDLED_CRITICAL_EXTENSION: "it has an extension that clients do not understand",
  INVALID_CA: "its issuer is not a certificate authority",
  CA_MD_TOO_WEAK: "its chain is signed with SHA-1 or MD5",
  PATH_LENGTH_EXCEEDED: "its chain is longer than one of its authorities allows",
};

/**
 * @param {string} text
 * @returns {string}
 */
export function inWords(text) {
  if (Object.hasOwn(words, text)) return words[text];
  if (isCode(text)) return explain(text);
  return text.replace(/ \(([A-Z_]+)\)$/, (all, code) => (Object.hasOwn(words, code) ? `: ${words[code]}` : all));
}

/**
 * A code of a tool's own in small letters: "chain not in order".
 * @param {string} code
 * @returns {string}
 */
export const codeWords = (code) => code.replaceAll("_", " ").toLowerCase();

/**
 * The facts of a check with their codes in words.
 * @param {import("./view.js").Facts} facts
 * @returns {import("./view.js").Facts}
 */
export function factsInWords(facts) {
  return Object.fromEntries(
    Object.entries(facts).map(([name, fact]) => [
      name,
      Array.isArray(fact) ? fact.map((text) => inWords(String(text))) : inWords(String(fact ?? "")),
    ]),
  );
}

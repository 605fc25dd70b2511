// @ts-check
// Codes of the API in words, for cards and files that people read. Whatever else a fact holds is data, and stays as it is.

/** @type {Record<string, string>} */
const words = {
  ENODATA: "none", ENOTFOUND: "the name does not exist", ESERVFAIL: "the name servers fail", EREFUSED: "refused", EFORMERR: "not understood",
  ENOTIMP: "not supported", EBADRESP: "a malformed answer", ETIMEOUT: "no answer in time", ECONNREFUSED: "not reachable", EBUSY: "could not be asked",
  CERT_HAS_EXPIRED: "it has expired", CERT_NOT_YET_VALID: "it is not valid yet", DEPTH_ZERO_SELF_SIGNED_CERT: "self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "from a private authority", UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "from an unknown authority", CERT_REVOKED: "it was revoked",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "the chain is incomplete", ERR_TLS_CERT_ALTNAME_INVALID: "for another name", INVALID_PURPOSE: "not made for servers",
  PERMITTED_VIOLATION: "from an authority that may not vouch for this name", UNHANDLED_CRITICAL_EXTENSION: "an extension that clients do not understand",
  INVALID_CA: "issued by a certificate that is no authority", CA_MD_TOO_WEAK: "signed with SHA-1 or MD5", PATH_LENGTH_EXCEEDED: "the chain is too long",
};

/**
 * @param {string} text
 * @returns {string}
 */
export function inWords(text) {
  if (Object.hasOwn(words, text)) return words[text];
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
  return Object.fromEntries(Object.entries(facts).map(([name, fact]) => [name, Array.isArray(fact) ? fact.map((text) => inWords(String(text))) : inWords(String(fact ?? ""))]));
}

// @ts-check
// The codes of facts in words, for cards and files that people read. What is no code stays as it is.

import { day } from "./format.js";

/** @type {Record<string, string>} */
const words = {
  ENODATA: "none", ENOTFOUND: "the name does not exist", ESERVFAIL: "the name servers fail", EREFUSED: "refused", EFORMERR: "not understood",
  ENOTIMP: "not supported", EBADRESP: "a damaged answer", ETIMEOUT: "no answer in time", ECONNREFUSED: "not reachable", EBUSY: "could not be asked",
  CERT_HAS_EXPIRED: "it has expired", CERT_NOT_YET_VALID: "it is not valid yet", DEPTH_ZERO_SELF_SIGNED_CERT: "self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "from a private authority", UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "from an unknown authority", CERT_REVOKED: "it was revoked",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "the chain is incomplete", ERR_TLS_CERT_ALTNAME_INVALID: "for another name",
  allowAll: "everything may be visited", disallowAll: "nothing may be visited", rules: "some paths are closed",
  pass: "in order", fail: "a fault", warn: "a weakness", info: "could be better", missing: "missing", error: "could not be looked up",
};

const code = /^(?:E[A-Z]{4,}|[A-Z]{2,}(?:_[A-Z0-9]+)+)$/;

/**
 * @param {string} text
 * @returns {string}
 */
export function inWords(text) {
  if (Object.hasOwn(words, text)) return words[text];
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text)) return day(text);
  if (code.test(text)) return text.replace(/^E(?=[A-Z]+$)/, "").replaceAll("_", " ").toLowerCase();
  return text.replace(/ \(([A-Z]{2,}(?:_[A-Z0-9]+)+)\)$/, (_, inner) => `: ${inWords(inner)}`).replace(/^(pass|fail|warn|info|missing|error)(?=: )/, (state) => words[state]);
}

/**
 * The facts of a check with their codes in words.
 * @param {import("./view.js").Facts} facts
 * @returns {import("./view.js").Facts}
 */
export function factsInWords(facts) {
  return Object.fromEntries(Object.entries(facts).map(([name, fact]) => [name, Array.isArray(fact) ? fact.map((text) => inWords(String(text))) : inWords(String(fact ?? ""))]));
}

// @ts-check
// What the codes of a DNS answer mean, for every view that shows them.

/** @typedef {{code: number, name: string, text: string}} ExtendedError RFC 8914 */

/** @type {Record<string, string>} */
const clauses = {
  ENODATA: "the name exists, but has no record of this type",
  ENOTFOUND: "the name does not exist",
  ESERVFAIL: "the domain’s name servers fail, or its DNSSEC signatures are not valid",
  EREFUSED: "the resolver refused to answer",
  EFORMERR: "the resolver could not read the query",
  ENOTIMP: "the resolver does not support this kind of query",
  EBADRESP: "the answer was malformed, or its aliases form a loop",
  ETIMEOUT: "no answer came in time",
  ECONNREFUSED: "the resolver could not be reached",
  EBUSY: "this service was too busy to query",
};

/** The names that the DNS has for them. @type {Record<string, string>} */
const names = {
  ENODATA: "NODATA",
  ENOTFOUND: "NXDOMAIN",
  ESERVFAIL: "SERVFAIL",
  EREFUSED: "REFUSED",
  EFORMERR: "FORMERR",
  ENOTIMP: "NOTIMP",
};

/** A short form, for where the clause stands already. @param {string} code */
export const briefly = (code) => (code === "ENODATA" ? "no such record" : (names[code] ?? clauses[code] ?? code));

/**
 * A code in words that follow a colon.
 * @param {string} code
 * @returns {string}
 */
export function explain(code) {
  return `${clauses[code] ?? "the query failed"}${names[code] ? ` (${names[code]})` : ""}`;
}

/**
 * What a resolver adds about itself, in its own words.
 * @param {ExtendedError[]} list
 * @returns {string[]}
 */
export function extras(list) {
  return list.map((e) => `${e.name} (extended error ${e.code})${e.text && `: “${e.text}”`}`);
}

// @ts-check
// The answers of public resolvers: what is compared with an earlier run.

import { explain } from "../../lib/dns-codes.js";

/** @typedef {import("api").components["schemas"]["DnsResolverCheck"]} DnsResolverCheck */
/** @typedef {import("api").components["schemas"]["ResolverAnswer"]} Resolver */

/** The code of an answer without records, null where it has some. @param {Pick<Resolver, "outcome" | "errorCode">} r */
export const codeOf = ({ outcome, errorCode }) =>
  errorCode ?? (outcome === "nodata" ? "ENODATA" : outcome === "nxdomain" ? "ENOTFOUND" : null);

/** The records of a resolver, or why it has none. @param {Resolver} r */
function fact(r) {
  const code = codeOf(r);
  if (r.values.length > 0 || code === null) return r.values;
  return code === "ENODATA" ? "none" : explain(code);
}

/** @type {import("../../lib/view.js").Judge<DnsResolverCheck>} */
export default {
  facts: (d) => Object.fromEntries(d.resolvers.map((r) => [r.name, fact(r)])),
};

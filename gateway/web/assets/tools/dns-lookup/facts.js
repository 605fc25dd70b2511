// @ts-check
// The DNS records of a name: what is compared with an earlier answer.

import { explain } from "../../lib/dns-codes.js";
import { typesOf, written } from "./types.js";

/** @typedef {import("./types.js").DnsLookup} DnsLookup */

/** The records of a type, or why there are none. @param {DnsLookup} d @param {import("./types.js").Type} t */
function fact(d, t) {
  const error = d.errors[t];
  if (!error) return written(d, t);
  return error === "ENODATA" ? "none" : explain(error);
}

/** @type {import("../../lib/view.js").Judge<DnsLookup>} */
export default {
  facts: (d) => Object.fromEntries(typesOf(d).map((t) => [t, fact(d, t)])),
};

// @ts-check
// dns-lookup: the records of a name, how long the answers may still be kept, and what failed.

import { remarks } from "../../lib/dns-codes.js";
import { inWords } from "../../lib/words.js";
import { typesOf, written } from "./types.js";

/** @param {any} d */
export function sum(d) {
  const { records, errors, details } = d;
  const types = typesOf(d);
  const chain = types
    .map((t) => details[t].cnameChain)
    .concat([records.CNAME ?? []])
    .sort((a, b) => b.length - a.length)[0];
  return {
    types,
    chain,
    found: types.filter((t) => t !== "CNAME" && records[t].length > 0),
    failed: types.filter((t) => !["ENODATA", "ENOTFOUND", undefined].includes(errors[t])),
    gone: ["NO_SUCH_NAME", "ALIAS_TARGET_MISSING"].includes(d.conclusion?.code),
    said: [...new Set(types.flatMap((t) => remarks(details[t].extendedErrors)))],
  };
}

/** @type {import("../../lib/view.js").Judge} */
export default {
  facts: (d) => Object.fromEntries(typesOf(d).map((t) => [t, d.errors[t] ? inWords(d.errors[t]) : written(d, t)])),
};

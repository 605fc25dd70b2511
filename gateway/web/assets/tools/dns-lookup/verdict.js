// @ts-check
// dns-lookup: the records of a name, how long the answers may still be kept, and what failed.

import { explain, remarks } from "../../lib/dns-codes.js";
import { counted, listed, plural } from "../../lib/format.js";
import { inWords } from "../../lib/words.js";
import { typesOf, written } from "./types.js";

/** @param {any} d */
export function sum(d) {
  const { records, errors, details, domain } = d;
  const types = typesOf(d);
  const chain = types.map((t) => details[t].cnameChain).concat([records.CNAME ?? []]).sort((a, b) => b.length - a.length)[0];
  return {
    types,
    chain,
    who: chain.length > 0 ? `${domain} is an alias of ${chain.at(-1)}, which` : domain,
    found: types.filter((t) => t !== "CNAME" && records[t].length > 0),
    failed: types.filter((t) => !["ENODATA", "ENOTFOUND", undefined].includes(errors[t])),
    gone: Object.values(errors).includes("ENOTFOUND"),
    said: [...new Set(types.flatMap((t) => remarks(details[t].extendedErrors)))],
  };
}

/** @param {any} d @returns {import("../../lib/view.js").Verdict} */
function verdict(d) {
  const { types, chain, who, found, failed, gone } = sum(d);
  if (failed.length === types.length) return { tone: "bad", text: `${d.domain} could not be looked up: ${explain(d.errors[failed[0]])}.` };
  if (types.length === 1 && types[0] === "CNAME" && chain.length > 0) return { tone: "good", text: `${d.domain} is an alias of ${chain.at(-1)}.` };
  if (gone && found.length === 0) return { tone: "bad", text: `${who} does not exist in the DNS.` };
  const count = found.reduce((n, t) => n + d.records[t].length, 0);
  const kinds = `of ${plural(found.length, "type")}: ${listed(found)}`;
  const all = found.length === 1 ? `has ${plural(count, `${found[0]} record`)}` : `has ${plural(count, "record")} ${kinds}`;
  const some = d.truncated ? `has records ${kinds}; ${counted(count, true, "record")}` : all;
  const has = count > 0 ? some : "has none of the records asked for";
  if (failed.length > 0) return { tone: "warn", text: `${who} ${has}; the lookup of ${listed(failed)} failed: ${explain(d.errors[failed[0]])}.` };
  return { tone: count > 0 ? "good" : "warn", text: `${who} ${has}.` };
}

/** @type {import("../../lib/view.js").Judge} */
export default {
  verdict,
  concerns(d) {
    const { tone, text } = verdict(d);
    const concerns = sum(d).said.map((s) => ({ tone: /** @type {"warn" | "bad"} */ ("warn"), text: `The resolver says about ${d.domain}: ${s}.` }));
    return tone === "bad" || tone === "warn" ? [{ tone, text, broken: tone === "bad" }, ...concerns] : concerns;
  },
  facts: (d) => Object.fromEntries(typesOf(d).map((t) => [t, d.errors[t] ? inWords(d.errors[t]) : written(d, t)])),
};

// @ts-check
// The registration of a domain name, or of the network of an address.

import { dateTime, day, relative } from "../../lib/format.js";
import { statusMeaning } from "./status.js";

/** How many days before its end a registration deserves attention. */
const soon = 30;

/** The name as people read it. @param {any} d */
const name = (d) => d.domain?.unicodeName || d.registrableDomain || d.query;

/** How far the end of the registration is. @param {any} d @returns {"good" | "warn" | "bad"} */
export function endTone(d) {
  const left = Date.parse(d.domain.events.expires ?? "") - Date.now();
  return left < 0 ? "bad" : left < soon * 86_400_000 ? "warn" : "good";
}

/** What keeps the name from working, or soon may; worst first. @param {any} d @returns {import("../../lib/view.js").Concern[]} */
function troubles(d) {
  return d.domain.status.flatMap((/** @type {string} */ status) => {
    const { tone, text } = statusMeaning(status);
    return tone === "off" ? [] : [{ tone, text: `The status of ${name(d)} is “${status}”. ${text}` }];
  }).sort(worstFirst);
}

/** @param {{tone: string}} a @param {{tone: string}} b */
const worstFirst = (a, b) => "bad warn info".indexOf(a.tone) - "bad warn info".indexOf(b.tone);

/** @param {any} d */
function absence(d) {
  const what = d.queryType === "ip" ? `the network of ${d.query}` : name(d);
  if (d.reason === "noRdapService") return `No registry that offers registration data (RDAP) is known for ${what}, so its registration cannot be looked up.`;
  return d.queryType === "ip" ? `The registry has no registration for ${what}; reserved blocks look the same.`
    : `The registry has no registration for ${what}; reserved and blocked names look the same.`;
}

/** @param {any} d @returns {string} */
function end(d) {
  const at = d.domain.events.expires;
  return at ? `${endTone(d) === "bad" ? "ended" : "ends"} on ${day(at)} (${relative(at)})` : "";
}

/** @param {any} d @returns {import("../../lib/view.js").Verdict} */
function domainVerdict(d) {
  const { registrar, events } = d.domain;
  const text = `${name(d)} ${events.registered ? "has been" : "is"} registered${registrar?.name ? ` through ${registrar.name}` : ""}${events.registered ? ` since ${day(events.registered)}` : ""}`
    + `${end(d) ? `; the registration ${end(d)}` : "; the registry does not publish when the registration ends"}.`;
  const [worst] = troubles(d);
  return worst && endTone(d) !== "bad" ? { tone: worst.tone, text: `${text} ${worst.text}` } : { tone: endTone(d), text };
}

/** @type {import("../../lib/view.js").Judge} */
export default {
  verdict: (d) => {
    if (d.domain) return domainVerdict(d);
    return { tone: d.reason === "noRdapService" ? "warn" : "info", text: d.network ? `${d.query} belongs to the network ${d.network.name || d.network.handle}, ${d.network.startAddress} to ${d.network.endAddress}.` : absence(d) };
  },

  concerns: (d) => {
    if (!d.domain) return d.found ? [] : [{ tone: "info", text: absence(d) }];
    const list = troubles(d);
    const tone = endTone(d);
    if (tone !== "good") list.push({ tone, broken: tone === "bad", text: `The registration of ${name(d)} ${end(d)}.` });
    if (d.domain.dnssec.signed === false) list.push({ tone: "info", text: `The delegation of ${name(d)} is not signed with DNSSEC, so resolvers cannot detect forged answers.` });
    return list.sort(worstFirst);
  },

  facts: ({ found, reason, domain, network }) => ({
    Registered: found ? "yes" : reason === "notFound" ? "the registry has no such registration" : "not known", Registrar: domain?.registrar?.name ?? "", Status: (domain ?? network)?.status ?? [], "Name servers": domain?.nameservers ?? [],
    Expires: domain?.events.expires ? dateTime(domain.events.expires) : "", Updated: domain?.events.updated ? dateTime(domain.events.updated) : "", Signed: { true: "yes", false: "no" }[String(domain?.dnssec.signed)] ?? "", Network: network?.cidrs ?? [], "Network name": network?.name ?? "",
  }),
};

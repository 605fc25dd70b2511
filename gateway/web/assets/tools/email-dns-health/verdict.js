// @ts-check
// email-dns-health: six panels, the SPF tree with what each branch costs, and records to publish where something is wrong.

import { listed } from "../../lib/format.js";
import { severityWord } from "../../lib/severity.js";

/** Whether a check has an issue. @param {any} check @param {string} code */
export const has = (check, code) => check.issues.some((/** @type {any} */ i) => i.code === code);

/** @typedef {import("../../lib/view.js").Tone} Tone */

const titles = { mx: "MX", spf: "SPF", dmarc: "DMARC", dkim: "DKIM", mtaSts: "MTA-STS", tlsRpt: "TLS reporting" };

export const parts = /** @type {[string, string][]} */ (Object.entries(titles));

/** @type {Record<string, Tone>} */
export const tones = { pass: "good", info: "info", warn: "warn", fail: "bad", error: "warn" };

/** @param {any[]} issues */
export const bySeverity = (issues) => ["fail", "warn", "info"].flatMap((s) => issues.filter((i) => i.severity === s));

/** @type {import("../../lib/view.js").Judge} */
export default {
  verdict(d) {
    if (has(d.checks.mx, "DOMAIN_NOT_FOUND")) return { tone: "bad", text: `${d.domain} does not exist.` };
    const say = (/** @type {string} */ status, /** @type {string} */ one, /** @type {string} */ many) => {
      const names = parts.filter(([key]) => d.checks[key].status === status).map(([, name]) => name);
      return names.length > 0 ? `${listed(names)} ${names.length === 1 ? one : many}` : "";
    };
    const said = [say("fail", "has a problem", "have problems"), say("error", "could not be looked up", "could not be looked up"), say("warn", "has a warning", "have warnings"), say("missing", "is missing", "are missing")].filter(Boolean);
    const fine = d.overall === "pass" ? [d.note?.replace(/\.$/, "") ?? `Mail for ${d.domain} is set up well`] : [];
    return { tone: tones[d.overall] ?? "info", text: fine.length > 0 ? `${[...fine, ...said].join("; ")}.` : `${d.domain}: ${said.join("; ")}.` };
  },
  concerns(d) {
    const own = /** @type {Record<string, string>} */ ({
      DOMAIN_NOT_FOUND: `${d.domain} does not exist in the DNS.`,
      SPF_ALLOWS_ALL: d.checks.spf.all === "+all" ? `Anyone can send mail as ${d.domain}: its SPF record ends in +all.` : "",
      DMARC_POLICY_NONE: `Mail forged in the name of ${d.domain} is delivered like any other: its DMARC policy is none.`,
    });
    const all = parts.flatMap(([key, name]) => d.checks[key].issues.map((/** @type {any} */ i) => ({ ...i, broken: key === "mx" && i.severity === "fail", text: own[i.code] || `${name} of ${d.domain}: ${i.message}` })));
    return bySeverity(all).filter((i) => i.severity !== "info").map((i) => ({ tone: i.severity === "fail" ? "bad" : "warn", broken: i.broken, text: i.text }));
  },
  facts: (d) => Object.fromEntries([
    ...parts.flatMap(([key, name]) => [[name, severityWord(d.checks[key].status)], [`${name} record`, d.checks[key].record ?? []]]),
    ["MX addresses", d.checks.mx.hosts.flatMap((/** @type {any} */ h) => h.addresses)], ["SPF lookups", String(d.checks.spf.lookups)], ["MTA-STS policy", d.checks.mtaSts.policy ?? []],
  ]),
};

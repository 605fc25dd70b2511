// @ts-check
// The mail records of a domain: the checks by name, and what is compared with an earlier answer.

import { severityWord } from "../../lib/severity.js";

/** @typedef {import("api").components["schemas"]["EmailDnsHealth"]} EmailDnsHealth */
/** @typedef {EmailDnsHealth["checks"]} Checks */
/** @typedef {Checks["mx"]["issues"][number]} Issue */

/** Whether a check has an issue. @param {{issues: {code: string}[]}} check @param {string} code */
export const has = (check, code) => check.issues.some((i) => i.code === code);

/** @typedef {import("../../lib/view.js").Tone} Tone */

const titles = { mx: "MX", spf: "SPF", dmarc: "DMARC", dkim: "DKIM", mtaSts: "MTA-STS", tlsRpt: "TLS reporting" };

export const parts = /** @type {[keyof Checks, string][]} */ (Object.entries(titles));

/** @type {Record<string, Tone>} */
export const tones = { pass: "good", info: "info", warn: "warn", fail: "bad", error: "warn" };

/** The issues, the worst first. @param {Issue[]} issues */
export const bySeverity = (issues) => ["fail", "warn", "info"].flatMap((s) => issues.filter((i) => i.severity === s));

/** @type {import("../../lib/view.js").Judge<EmailDnsHealth>} */
export default {
  facts: (d) =>
    Object.fromEntries([
      ...parts.flatMap(([key, name]) => [
        [name, severityWord(d.checks[key].status)],
        [`${name} record`, d.checks[key].record ?? []],
      ]),
      ["MX addresses", d.checks.mx.hosts.flatMap((h) => h.addresses)],
      ["SPF lookups", String(d.checks.spf.lookups)],
      ["MTA-STS policy", d.checks.mtaSts.policy ?? []],
    ]),
};

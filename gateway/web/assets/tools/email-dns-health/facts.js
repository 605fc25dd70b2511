// @ts-check
// The mail records of a domain: the checks by name, and what is compared with an earlier answer.

import { groupOf, lookOf } from "../../lib/severity.js";

/** @typedef {import("api").components["schemas"]["EmailDnsHealth"]} EmailDnsHealth */
/** @typedef {EmailDnsHealth["checks"]} Checks */
/** @typedef {Checks["mx"]["issues"][number]} Issue */

/** Whether a check has an issue. @param {{issues: {code: string}[]}} check @param {string} code */
export const has = (check, code) => check.issues.some((i) => i.code === code);

/** @typedef {import("../../lib/view.js").Tone} Tone */

const titles = { mx: "MX", spf: "SPF", dmarc: "DMARC", dkim: "DKIM", mtaSts: "MTA-STS", tlsRpt: "TLS reporting" };

export const parts = /** @type {[keyof Checks, string][]} */ (Object.entries(titles));

/**
 * The tone and the word of a check's status. What is missing is as bad as its worst issue.
 * @param {EmailDnsHealth} d
 * @param {Pick<Checks["mx"], "status" | "issues">} check
 * @returns {[Tone | "off", string]}
 */
export function lookOfCheck(d, { status, issues }) {
  const group = groupOf(
    d,
    issues.map((i) => i.code),
  );
  const [tone, word] = lookOf(status, group);
  return [status === "missing" ? lookOf(bySeverity(issues)[0]?.severity ?? "info", group)[0] : tone, word];
}

/** The tone of an issue. @param {EmailDnsHealth} d @param {Issue} issue @returns {Tone} */
export const toneOfIssue = (d, { code, severity }) => /** @type {Tone} */ (lookOf(severity, groupOf(d, [code]))[0]);

/** How the codes of a check begin: MTASTS_ of MTA-STS. @param {string} name as in parts */
export const prefixOf = (name) => (name === "TLS reporting" ? "TLSRPT_" : `${name.replace("-", "")}_`);

/** The issues, the worst first. @param {Issue[]} issues */
export const bySeverity = (issues) => ["fail", "warn", "info"].flatMap((s) => issues.filter((i) => i.severity === s));

/** @type {import("../../lib/view.js").Judge<EmailDnsHealth>} */
export default {
  blindTo: (d, code) =>
    parts.some(([key, name]) => code.startsWith(prefixOf(name)) && d.checks[key].status === "error"),
  facts: (d) =>
    Object.fromEntries([
      ...parts.flatMap(([key, name]) => [
        [name, lookOfCheck(d, d.checks[key])[1]],
        [`${name} record`, d.checks[key].record ?? []],
      ]),
      ["MX addresses", d.checks.mx.hosts.flatMap((h) => h.addresses)],
      ["SPF lookups", String(d.checks.spf.lookups)],
      ["MTA-STS policy", d.checks.mtaSts.policy ?? []],
    ]),
};

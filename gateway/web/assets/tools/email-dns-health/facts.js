// @ts-check
// email-dns-health: the checks by name, and what is worth comparing with an earlier answer.

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
  facts: (d) =>
    Object.fromEntries([
      ...parts.flatMap(([key, name]) => [
        [name, severityWord(d.checks[key].status)],
        [`${name} record`, d.checks[key].record ?? []],
      ]),
      ["MX addresses", d.checks.mx.hosts.flatMap((/** @type {any} */ h) => h.addresses)],
      ["SPF lookups", String(d.checks.spf.lookups)],
      ["MTA-STS policy", d.checks.mtaSts.policy ?? []],
    ]),
};

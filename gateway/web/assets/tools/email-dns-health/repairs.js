// @ts-check
// Records to publish where one is missing or wrong, made from the answer alone. What only the domain's owner can know
// is in the words beside them.

import { plural } from "../../lib/format.js";
import { has } from "./facts.js";

/** @typedef {import("./facts.js").EmailDnsHealth} EmailDnsHealth */
/** @typedef {import("./facts.js").Checks} Checks */
/**
 * @typedef {{what: string, why: string, notes?: string[], name?: string, type?: string, text?: string, file?: [string,
 *   string]}} Repair file is an address and what to serve there
 */

/** Where the MTA-STS policy of a domain is served. @param {string} domain */
export const policyURL = (domain) => `${"https:"}//mta-sts.${domain}/.well-known/mta-sts.txt`;

const mailbox = "The mailbox must exist.";

/**
 * @param {EmailDnsHealth} d
 * @param {Date} [now]
 * @returns {Repair[]}
 */
export function repairs({ domain, checks: { mx, spf, dmarc, mtaSts, tlsRpt } }, now = new Date()) {
  if (has(mx, "DOMAIN_NOT_FOUND")) return [];
  // An address or the root in place of a name is a fault of its own, which no other record may repeat.
  const hosts = [...new Set(mx.hosts.map((h) => h.exchange))].filter((h) => /\.[^.]*[a-z][^.]*$/.test(h));
  const silent = mx.nullMx || mx.status === "missing" || has(mx, "MX_IMPLICIT");
  const at = { domain, hosts: silent ? [] : hosts, cut: mx.truncated === true, silent };
  return [
    mxRepair(at, mx),
    ...(shorterSPF(at, spf) ?? [spfRepair(at, spf)]),
    dmarcRepair(at, dmarc, spf),
    stsRepair(at, mtaSts, now),
    tlsRepair(at, tlsRpt),
  ].filter((r) => r !== null);
}

/**
 * A repair as the service's own record has it, so that both are one.
 * @param {Repair} repair
 * @param {string} [line] of a zone file
 * @returns {Repair}
 */
export function published(repair, line) {
  const [, name, type, text] = /^(\S+)\. IN ([A-Z]+) "([^"\\]*)"$/.exec(line ?? "") ?? [];
  return text ? { ...repair, name, type, text } : repair;
}

/**
 * @typedef {{domain: string, hosts: string[], cut: boolean, silent: boolean}} Mail cut has more hosts than
 *   these; silent names no mail server
 */

/** @param {Mail} mail @param {Checks["mx"]} mx @returns {Repair | null} */
function mxRepair({ domain, silent }, mx) {
  if (mx.nullMx || !silent) return null;
  return {
    what: "MX",
    name: domain,
    type: "MX",
    text: "0 .",
    why: "States that the domain accepts no mail. If it should, publish its mail server’s name instead.",
  };
}

/** @param {Mail} mail @param {Checks["spf"]} spf @returns {Repair | null} */
function spfRepair({ domain, hosts, silent }, spf) {
  const record = { what: "SPF", name: domain, type: "TXT" };
  if (spf.status === "missing" && silent)
    return {
      ...record,
      text: "v=spf1 -all",
      why: "Right if the domain sends no mail; otherwise list the senders before -all.",
    };
  if (spf.status === "missing" && hosts.length > 0) {
    return {
      ...record,
      text: "v=spf1 mx ~all",
      why:
        "Lets the servers that receive the mail send it too. Add everyone else who sends for you (include:…, " +
        "ip4:…), then end it with -all.",
    };
  }
  if (spf.lookups > 10) {
    return {
      what: "SPF",
      why:
        `The record needs ${spf.lookups} DNS lookups; at most 10 are allowed. Most expensive: ` +
        `${costs(spf.tree.children)}. Remove the senders that you no longer use.`,
    };
  }
  // A record that was cut cannot be the start of another.
  if (!spf.record || spf.truncated || /redirect=/i.test(spf.record)) return null;
  const gone = [...spf.tree.children].filter((c) => spf.voidLookups > 2 && c.void).map((c) => c.term);
  if (gone.length > 0) {
    return {
      ...record,
      text: spf.record
        .split(" ")
        .filter((t) => !gone.includes(t))
        .join(" "),
      why: "The same record without the terms that find nothing. If one of them is misspelled, correct it instead.",
    };
  }
  const open = spf.record.replace(/ [+?]?all(?= |$)/i, " ~all") + (has(spf, "SPF_NO_ALL") ? " ~all" : "");
  if (open === spf.record) return null;
  // An end alone would cover the servers that receive the mail, too.
  const text = hosts.length > 0 ? open.replace(/^(v=spf1) ~all$/i, "$1 mx ~all") : open;
  return {
    ...record,
    text,
    why: "List everyone who sends for you, then change ~all to -all.",
  };
}

/**
 * The shorter record of the answer, its parts before it.
 * @param {Mail} mail
 * @param {Checks["spf"]} spf
 * @returns {Repair[] | null}
 */
function shorterSPF({ domain }, spf) {
  if (!spf.suggestion) return null;
  const { record, parts, lookups, notes } = spf.suggestion;
  const dear =
    spf.lookups > 10
      ? [`Better still, remove senders that you no longer use. Most expensive: ${costs(spf.tree.children)}.`]
      : [];
  return [
    ...parts.map((part, i) => ({
      what: `SPF, part ${i + 1}`,
      name: part.name,
      type: "TXT",
      text: part.record,
      why: "The record below includes it.",
    })),
    {
      what: "SPF",
      name: domain,
      type: "TXT",
      text: record,
      why:
        `Lets the same senders pass, with ${plural(lookups, "DNS lookup")} (at most 10) and ` +
        `${plural(record.length, "character")} (at most 450).`,
      notes: [...notes, ...dear],
    },
  ];
}

/** The most expensive terms of an SPF record with their lookups. @param {Checks["spf"]["tree"]["children"]} terms */
function costs(terms) {
  const sums = /** @type {Map<string, number>} */ (new Map());
  for (const { term, lookups } of terms) sums.set(term, (sums.get(term) ?? 0) + lookups);
  return [...sums]
    .filter(([, n]) => n > 0)
    .sort((a, b) => b[1] - a[1])
    .slice(0, 5)
    .map(([term, n]) => `${term} (${n})`)
    .join(", ");
}

/** @param {Mail} mail @param {Checks["dmarc"]} dmarc @param {Checks["spf"]} spf @returns {Repair | null} */
function dmarcRepair({ domain, hosts, silent }, dmarc, spf) {
  const record = { what: "DMARC", name: `_dmarc.${domain}`, type: "TXT" };
  const rua = hosts.length > 0 ? `; rua=mailto:dmarc@${domain}` : "";
  if (dmarc.status === "missing") {
    // A record that receivers cannot read is to be corrected, and may be stricter than a new one.
    if (has(dmarc, "DMARC_VERSION") || has(dmarc, "DMARC_LEADING_BLANK")) return null;
    const sendsNone = spf.record && spf.all === "-all" && spf.tree.children.length === 1;
    const mute = silent && (spf.status === "missing" || sendsNone);
    return mute
      ? {
          ...record,
          text: "v=DMARC1; p=reject",
          why: "Right if the domain neither sends nor receives mail: receivers then reject all mail in its name.",
        }
      : {
          ...record,
          text: `v=DMARC1; p=none${rua}`,
          why:
            "Start in monitoring mode. Once reports show that all your mail passes, raise p to quarantine, then to " +
            "reject. " +
            (rua ? mailbox : "Name a mailbox at another domain, which must agree to it, in rua=mailto:… to get them."),
        };
  }
  if (!dmarc.record || dmarc.truncated || dmarc.foundAt !== domain || dmarc.status === "fail") return null;
  const stricter = dmarc.record
    .replace(/(;\s*p\s*=\s*)none\b/i, "$1quarantine")
    .replace(/;\s*t\s*=\s*y\s*(?=;|$)/i, "");
  const text = has(dmarc, "DMARC_NO_REPORTS") ? stricter.replace(/[;\s]*$/, "") + rua : stricter;
  if (text === dmarc.record) return null;
  return {
    ...record,
    text,
    why:
      stricter === dmarc.record
        ? `Asks for reports on who sends in your name. ${mailbox}`
        : "Makes receivers act on forged mail. First make sure from the reports that all your mail passes.",
  };
}

/** @param {Mail} mail @param {Checks["mtaSts"]} sts @param {Date} now @returns {Repair | null} */
function stsRepair({ domain, hosts, cut }, sts, now) {
  const wanted = ["missing", "fail"].includes(sts.status) || sts.mode === "testing";
  // A policy that could not be fetched may be right.
  if (!wanted || hosts.length === 0 || cut || has(sts, "MTASTS_CERTIFICATE") || has(sts, "MTASTS_POLICY_UNREACHABLE"))
    return null;
  const mode = sts.mode === "testing" || sts.mode === "enforce" ? "enforce" : "testing";
  const policy = [
    "version: STSv1",
    `mode: ${mode}`,
    ...hosts.map((h) => `mx: ${h}`),
    `max_age: ${Math.max(86400, sts.maxAge ?? 1209600)}`,
    "",
  ].join("\n");
  return {
    what: "MTA-STS",
    name: `_mta-sts.${domain}`,
    type: "TXT",
    text: `v=STSv1; id=${now.toISOString().replace(/\D/g, "").slice(0, 14)}`,
    file: [policyURL(domain), policy],
    why:
      "Publish the file first, as text/plain and with a valid certificate. " +
      (mode === "testing"
        ? "Change testing to enforce once TLS reports show no failures."
        : "Senders that follow MTA-STS then deliver only to these servers, and only over valid TLS."),
  };
}

/** @param {Mail} mail @param {Checks["tlsRpt"]} rpt @returns {Repair | null} */
function tlsRepair({ domain, hosts }, rpt) {
  if (hosts.length === 0 || !["missing", "fail"].includes(rpt.status)) return null;
  return {
    what: "TLS reporting",
    name: `_smtp._tls.${domain}`,
    type: "TXT",
    text: `v=TLSRPTv1; rua=mailto:tls-reports@${domain}`,
    why: `Asks senders to report when encryption fails. ${mailbox}`,
  };
}

// @ts-check
// The mail records of a domain: six panels, the SPF tree with the lookups of each branch, and records to publish where
// something is wrong.

import { el } from "../../lib/dom.js";
import { duration, plural } from "../../lib/format.js";
import { fixPart } from "../../lib/fix.js";
import { policyWords, takers } from "./policy.js";
import { policyURL, published, repairs } from "./repairs.js";
import { bimi, exchanges, keysFound } from "./hosts.js";
import { badge, code, cut, facts, folded, mark, more, notice, section, value, values } from "../../lib/parts.js";
import { sh } from "../../lib/shell.js";
import { lookOf } from "../../lib/severity.js";
import { bySeverity, has, lookOfCheck, parts, prefixOf, toneOfIssue } from "./facts.js";

/** @typedef {import("../../lib/view.js").Tone} Tone */
/** @typedef {import("./facts.js").EmailDnsHealth} EmailDnsHealth */
/** @typedef {import("./facts.js").Checks} Checks */
/** @typedef {Checks[keyof Checks]} Check */

const jobs = [
  "where mail goes",
  "who may send",
  "policy on forgery",
  "signing key",
  "forced encryption",
  "failure reports",
];

/** The results of an SPF record for all other senders (RFC 7208, section 2.6). @type {Record<string, string>} */
const others = { "-": "fail", "~": "softfail", "?": "neutral", "+": "pass" };

/** @param {EmailDnsHealth} d @param {number} n */
function panel(d, n) {
  const { checks } = d;
  const check = checks[parts[n][0]];
  return el(
    "section",
    { class: "mail-panel" },
    el("h3", {}, parts[n][1], el("span", { class: "mail-job" }, jobs[n]), badge(...lookOfCheck(d, check))),
    el("p", {}, check.summary),
    check.issues.length > 0 &&
      el(
        "ul",
        { class: "mail-issues" },
        ...bySeverity(check.issues).map((i) =>
          el(
            "li",
            {},
            mark(toneOfIssue(d, i)),
            el("span", {}, i.message, " ", el("span", { class: "muted" }, `${i.reference}; ${i.code}`)),
          ),
        ),
      ),
    evidence(checks, n),
    cut(check, "A part of this was cut: the domain publishes more than the service passes on."),
  );
}

/**
 * A panel while others are looked up: the result of the check, without its evidence.
 * @param {Pick<Check, "status" | "summary"> | undefined} check undefined where it has not ended
 * @param {number} n
 */
function panelSoFar(check, n) {
  return el(
    "section",
    { class: "mail-panel" },
    el(
      "h3",
      {},
      parts[n][1],
      el("span", { class: "mail-job" }, jobs[n]),
      check ? badge(...lookOf(check.status, "safer")) : badge("off", "being looked up"),
    ),
    check ? el("p", {}, check.summary) : el("p", { class: "muted" }, "…"),
  );
}

/** The record of a check and its details. @param {Checks} checks @param {number} n */
function evidence(checks, n) {
  const [key] = parts[n];
  const check = checks[key];
  const rows = details[key](checks).filter(([, fact]) => fact);
  if (!check.record && rows.length === 0) return null;
  return more(
    check.record ? "Record and details" : "Details",
    check.record && code(check.record, `${parts[n][1]} record`),
    rows.length > 0 && facts(rows),
    key === "mtaSts" && checks.mtaSts.policy && more("Policy file", code(checks.mtaSts.policy, "policy file")),
  );
}

/** @param {string[] | undefined} items */
const list = (items) => (items && items.length > 0 ? values(items) : null);

/** The details of each check. @type {Record<keyof Checks, (checks: Checks) => [string, Node | string | null][]>} */
const details = {
  mx: () => [],
  spf: ({ spf: { all } }) => [["All others", all && `${all} (${others[all[0]]})`]],
  dkim: ({ dkim: { selector, keyType, keyBits } }) => [
    ["Selector", selector],
    ["Key", keyType && `${keyType}${keyBits ? `, ${keyBits} bits` : ""}`],
  ],
  mtaSts: ({ mtaSts: { mode, mxPatterns, maxAge } }) => [
    ["Mode", mode],
    ["Mail servers", list(mxPatterns)],
    ["Max age", maxAge === null ? null : duration(maxAge)],
  ],
  dmarc: ({ dmarc: c }) =>
    !c.record
      ? []
      : [
          ["Policy", policyWords(c)],
          ["Subdomains", `${c.subdomainPolicy}; nonexistent ones ${c.nonexistentSubdomainPolicy}`],
          ["Alignment", `DKIM ${c.alignment.dkim}, SPF ${c.alignment.spf}`],
          ["Organizational domain", c.organizationalDomain],
          ["Reports to", list(c.reportAddresses)],
          ["Failure reports to", list(c.failureReportAddresses)],
          ["Other domains", list(takers(c))],
        ],
  tlsRpt: ({ tlsRpt }) => [["Reports to", list(tlsRpt.reportAddresses)]],
};

/** @param {string} name @param {number} n @param {number} most */
function meter(name, n, most) {
  const text = `${n} of at most ${most}`;
  return el(
    "div",
    { class: "mail-meter" },
    el("span", {}, name),
    el("span", {}, text),
    el("meter", {
      value: n,
      max: Math.max(n, most),
      high: most,
      low: most,
      optimum: 0,
      "aria-label": `${name}: ${text}`,
    }),
  );
}

/** @param {Checks["spf"]["tree"]} node @param {number} [depth] @returns {HTMLElement} */
function branch(node, depth = 0) {
  const { term, domain, lookups, voidLookups, record, error, children, truncated } = node;
  const head = [
    el("span", { class: "mono" }, term),
    domain && !term.includes(domain) && ` (${domain})`,
    " ",
    lookups > 0 && badge("off", plural(lookups, "lookup")),
    voidLookups > 0 && badge("warn", `${voidLookups} void`),
    error && badge("warn", error),
    truncated && badge("info", "cut: there is more"),
  ];
  return el(
    "li",
    {},
    ...(record
      ? [
          el(
            "details",
            { open: depth < 2 || voidLookups > 0 },
            el("summary", {}, ...head),
            value(record, { what: "record" }),
            children.length > 0 && el("ul", {}, ...children.map((c) => branch(c, depth + 1))),
          ),
        ]
      : head),
  );
}

/** The record that a repair is of; one that is too long has several parts. @param {{what: string}} repair */
const recordOf = ({ what }) => what.replace(/,.*/, "");

/** The record for want of which forged mail passes; empty where it does not. @param {EmailDnsHealth} d */
const forged = ({ conclusion, checks }) =>
  conclusion?.code === "MAIL_FORGEABLE" ? (has(checks.spf, "SPF_ALLOWS_ALL") ? "SPF" : "DMARC") : "";

/**
 * @param {import("./repairs.js").Repair} r
 * @param {boolean} open
 * @param {EmailDnsHealth} d
 * @param {import("../../lib/view.js").Asked} asked
 */
function repair(r, open, d, asked) {
  const finding = (d.findings ?? []).find((f) => f.paste?.kind === "dns" && f.code.startsWith(prefixOf(r.what)));
  const { what, why, notes = [], name, type, text = "", file } = published(r, finding?.paste?.text);
  return el(
    "details",
    { class: "mail-repair", "data-record": recordOf(r), open },
    el("summary", {}, el("h3", {}, what)),
    el("p", {}, why),
    notes.length > 0 ? el("ul", {}, ...notes.map((note) => el("li", {}, note))) : null,
    name
      ? facts([
          ["Name", value(name)],
          ["Type", type],
          ["Value", value(text)],
        ])
      : null,
    ...(file ? [el("p", {}, "File at ", value(file[0])), code(file[1], "policy file")] : []),
    finding ? fixPart(finding, { asked, before: d.findings }) : null,
  );
}

/**
 * The command for the first exchange.
 * @param {Checks["mx"]} mx
 * @returns {import("../../lib/view.js").Command[]}
 */
function servers({ hosts }) {
  const first = hosts.find((h) => h.addressNames?.length > 0);
  return first
    ? [
        {
          label: "TLSA records of the first mail server, and the name of its address",
          command: sh`dig +noall +answer ${`_25._tcp.${first.exchange}`} TLSA -x ${first.addressNames[0].address}`,
        },
      ]
    : [];
}

/** @type {import("../../lib/view.js").View<EmailDnsHealth>} */
export default {
  live(seen) {
    const known = new Map(seen.list("check").map((c) => [c.name, c]));
    return [
      section(
        "What the domain publishes",
        el("div", { class: "mail-panels" }, ...parts.map(([key], n) => panelSoFar(known.get(key), n))),
      ),
    ];
  },
  show(d, asked) {
    const all = repairs(d);
    const open = all.find((r) => recordOf(r) === forged(d)) ?? all[0];
    const panels = section(
      "What the domain publishes",
      el("div", { class: "mail-panels" }, ...parts.map((_, n) => panel(d, n))),
    );
    const records =
      all.length > 0 ? section("Records to publish", ...all.map((r) => repair(r, r === open, d, asked))) : null;
    return [
      d.note && d.overall !== "pass" ? notice("info", d.note) : null,
      // What to do comes first where there is something to do.
      ...(d.overall === "pass" ? [panels, records] : [records, panels]),
      d.checks.spf.record
        ? folded(
            "SPF tree",
            `${plural(d.checks.spf.lookups, "DNS lookup")}, 10 allowed`,
            meter("DNS lookups", d.checks.spf.lookups, 10),
            meter("Lookups without an answer (void)", d.checks.spf.voidLookups, 2),
            el("ul", { class: "mail-tree" }, branch(d.checks.spf.tree)),
          )
        : null,
      d.checks.mx.hosts.length > 0 ? exchanges(d) : null,
      keysFound(d),
      bimi(d),
    ];
  },
  lessons: () => [
    "SPF, DKIM and DMARC let receivers detect forged mail of a domain. MX says where mail for " +
      "the domain goes; MTA-STS and TLS reporting protect its encryption on the way there.",
  ],

  terminal: (_, { domain, checks: { dkim, mx } }) => [
    { label: "Mail exchanges", command: sh`dig +noall +answer ${domain} MX` },
    {
      label: "SPF, DMARC, MTA-STS, TLS reporting",
      command: `dig +noall +answer ${["", "_dmarc.", "_mta-sts.", "_smtp._tls."]
        .concat(dkim.selector ? `${dkim.selector}._domainkey.` : [])
        .map((p) => sh`${p + domain} TXT`)
        .join(" ")}`,
    },
    ...servers(mx),
    { label: "The MTA-STS policy", command: sh`curl ${policyURL(domain)}` },
  ],
  sources: ({ domain, checks: { mtaSts } }) => [
    {
      name: "DNS, by a recursive resolver",
      zone: domain,
      told: "Fetched now, or from our cache, which keeps answers for at most a minute.",
    },
    ...(mtaSts.policy === null ? [] : [{ name: "The policy's web server", url: policyURL(domain) }]),
  ],
};

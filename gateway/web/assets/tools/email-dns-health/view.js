// @ts-check
// email-dns-health: six panels, the SPF tree with what each branch costs, and records to publish where something is
// wrong.

import { el } from "../../lib/dom.js";
import { duration, listed, plural } from "../../lib/format.js";
import { applied, policyWords, takers } from "./policy.js";
import { policyURL, repairs } from "./repairs.js";
import { bimi, exchanges, keysFound } from "./hosts.js";
import { badge, code, cut, facts, folded, mark, more, notice, section, value, values } from "../../lib/parts.js";
import { sh } from "../../lib/shell.js";
import { severityWord } from "../../lib/severity.js";
import { bySeverity, has, parts, tones } from "./facts.js";

/** @typedef {import("../../lib/view.js").Tone} Tone */

const jobs = [
  "where mail goes",
  "who may send",
  "policy on forgery",
  "signing key",
  "forced encryption",
  "failure reports",
];

/** The results that an SPF record asks for everybody else (RFC 7208, section 2.6). @type {Record<string, string>} */
const others = { "-": "fail", "~": "softfail", "?": "neutral", "+": "pass" };

/** What is missing is as bad as what it leads to. @param {any} check @returns {Tone | "off"} */
function toneOf({ status, issues }) {
  if (status !== "missing") return tones[status] ?? "off";
  return tones[["fail", "warn"].find((s) => issues.some((/** @type {any} */ i) => i.severity === s)) ?? "info"];
}

/** @param {any} check @param {string} key @param {number} n */
function panel(check, key, n) {
  return el(
    "section",
    { class: "mail-panel" },
    el(
      "h3",
      {},
      parts[n][1],
      el("span", { class: "mail-job" }, jobs[n]),
      badge(toneOf(check), severityWord(check.status)),
    ),
    el("p", {}, check.summary),
    check.issues.length > 0 &&
      el(
        "ul",
        { class: "mail-issues" },
        ...bySeverity(check.issues).map((i) =>
          el(
            "li",
            {},
            mark(tones[i.severity] ?? "info"),
            el("span", {}, i.message, " ", el("span", { class: "muted" }, `${i.reference}; ${i.code}`)),
          ),
        ),
      ),
    evidence(check, key, n),
    cut(check, "A part of this was cut: the domain publishes more than the service passes on."),
  );
}

/**
 * A panel while others are looked up: what the check came to, without its evidence.
 * @param {any} check undefined where it is still out
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
      check ? badge(toneOf({ ...check, issues: [] }), severityWord(check.status)) : badge("off", "being looked up"),
    ),
    check ? el("p", {}, check.summary) : el("p", { class: "muted" }, "…"),
  );
}

/** What a panel was judged by. @param {any} check @param {string} key @param {number} n */
function evidence(check, key, n) {
  const rows = details(key, check).filter(([, fact]) => fact);
  if (!check.record && rows.length === 0) return null;
  return more(
    check.record ? "Record and details" : "Details",
    check.record && code(check.record, `${parts[n][1]} record`),
    rows.length > 0 && facts(rows),
    check.policy && key === "mtaSts" && more("Policy file", code(check.policy, "policy file")),
  );
}

/** @param {string} key @param {any} c @returns {[string, Node | string | null][]} */
function details(key, c) {
  const list = (/** @type {string[]} */ items) => (items?.length > 0 ? values(items) : null);
  if (key === "spf") return [["Everyone else", c.all && `${c.all} (${others[c.all[0]]})`]];
  if (key === "dkim")
    return [
      ["Selector", c.selector],
      ["Key", c.keyType && `${c.keyType}${c.keyBits ? `, ${c.keyBits} bits` : ""}`],
    ];
  if (key === "mtaSts")
    return [
      ["Mode", c.mode],
      ["Mail servers", list(c.mxPatterns)],
      ["Max age", c.maxAge === null ? null : duration(c.maxAge)],
    ];
  if (key === "dmarc" && c.record)
    return [
      ["Policy", policyWords(c)],
      ["Subdomains", `${c.subdomainPolicy}; nonexistent ones ${c.nonexistentSubdomainPolicy}`],
      ["Alignment", `DKIM ${c.alignment.dkim}, SPF ${c.alignment.spf}`],
      ["Organizational domain", c.organizationalDomain],
      ["Reports to", list(c.reportAddresses)],
      ["Failure reports to", list(c.failureReportAddresses)],
      ["Other domains", list(takers(c))],
    ];
  return [["Reports to", list(c.reportAddresses)]];
}

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

/** @param {any} node @param {number} [depth] @returns {HTMLElement} */
function branch(node, depth = 0) {
  const { term, domain, lookups, voidLookups, record, error, ignored, children, truncated } = node;
  const head = [
    el("span", { class: "mono" }, term),
    domain && !term.includes(domain) && ` (${domain})`,
    " ",
    lookups > 0 && badge("off", plural(lookups, "lookup")),
    voidLookups > 0 && badge("warn", `${voidLookups} void`),
    error && badge(ignored || node.void ? "warn" : "bad", error),
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
            children.length > 0 && el("ul", {}, ...children.map((/** @type {any} */ c) => branch(c, depth + 1))),
          ),
        ]
      : head),
  );
}

/** @param {import("./repairs.js").Repair} r @param {boolean} open */
function repair({ what, why, notes = [], name, type, text = "", file }, open) {
  return el(
    "details",
    { class: "mail-repair", open },
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
  );
}

/** What to do about a domain whose mail is not in order; empty where it is. @param {any} d */
function remedy(d) {
  if (d.overall === "pass") return "";
  if (has(d.checks.mx, "DOMAIN_NOT_FOUND"))
    return "What to do: check the spelling of the name, and whether it is still registered.";
  const names = [
    ...new Set(
      repairs(d)
        .filter((r) => r.name)
        .map((r) => r.what.replace(/,.*/, "")),
    ),
  ];
  if (names.length > 0) return `What to do: publish the records for ${listed(names)} that are listed below.`;
  return d.overall === "error"
    ? "What to do: run the check again in a few minutes."
    : "What to do: correct what the panels below name as a problem or a warning.";
}

/**
 * Commands for what is asked of the first exchange. @param {any} mx @returns {import("../../lib/view.js").Command[]}
 */
function servers({ hosts }) {
  const first = hosts.find((/** @type {any} */ h) => h.addressNames?.length > 0);
  return first
    ? [
        {
          label: "TLSA records of the first mail server, and the name of its address",
          command: sh`dig +noall +answer ${`_25._tcp.${first.exchange}`} TLSA -x ${first.addressNames[0].address}`,
        },
      ]
    : [];
}

/** @type {import("../../lib/view.js").View} */
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
  show(d) {
    const list = repairs(d);
    return [
      d.note && d.overall !== "pass" ? notice("info", d.note) : null,
      section(
        "What the domain publishes",
        el("div", { class: "mail-panels" }, ...parts.map(([key], n) => panel(d.checks[key], key, n))),
      ),
      list.length > 0 ? section("Records to publish", ...list.map((one, i) => repair(one, i === 0))) : null,
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
  meaning(d) {
    const {
      domain,
      checks: { spf, dmarc, dkim, mx },
    } = d;
    const policy = applied(dmarc);
    const asked = policy === "reject" ? "refuse" : policy === "quarantine" ? "set aside" : "";
    return [
      remedy(d),
      "SPF, DKIM and DMARC let receivers tell a domain’s genuine mail from forged mail. MX says where mail for " +
        "the domain goes; MTA-STS and TLS reporting protect its encryption on the way there.",
      has(spf, "SPF_ALLOWS_ALL")
        ? `Since SPF lets everybody send, forged mail passes for genuine mail of ${domain}, whatever the DMARC ` +
          "policy says."
        : asked
          ? `Receivers are asked to ${asked} mail that only pretends to come from ${domain}.`
          : `Nothing asks receivers to stop mail that only pretends to come from ${domain}.`,
      !dkim.selector && !mx.nullMx
        ? `${dkim.found?.length > 0 ? "The DKIM keys that were found were not judged, since it is not visible from outside which of them are " + "in use" : "The DKIM key was not checked, since keys cannot be listed from outside"}. ` +
          "The selector in use is the s= value in the DKIM-Signature header of any mail from the domain."
        : "",
    ].filter(Boolean);
  },
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

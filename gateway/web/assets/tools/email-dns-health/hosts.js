// @ts-check
// What is shown beside the checks: the mail exchanges with their names and TLSA records, DKIM keys at the selectors of
// large senders, and BIMI.

import { el } from "../../lib/dom.js";
import { plural } from "../../lib/format.js";
import { badge, code, cut, facts, folded, mark, more, none, table, value, values } from "../../lib/parts.js";
import { bySeverity, toneOfIssue } from "./facts.js";

/** @typedef {import("./facts.js").EmailDnsHealth} EmailDnsHealth */
/** @typedef {import("./facts.js").Checks["mx"]["hosts"][number]} Host */

/** @param {EmailDnsHealth} d */
export function exchanges({ checks: { mx } }) {
  return folded(
    "Mail exchanges",
    plural(mx.hosts.length, "host"),
    el(
      "p",
      {},
      "This is what the DNS says; no mail server was contacted. To see whether they accept mail " +
        "over TLS, and with which certificate, use the TLS certificate check.",
    ),
    table({
      caption: "Senders try the lowest priority number first.",
      columns: [
        { title: "Host" },
        { title: "Priority", numeric: true },
        { title: "Addresses and their names" },
        { title: "TLSA", hint: "the key that senders with DANE expect" },
      ],
      rows: mx.hosts.map((h) => [
        el("div", {}, value(h.exchange || "."), starttls(h)),
        String(h.priority),
        el("div", {}, addresses(h), cut(h)),
        tlsa(h),
      ]),
    }),
    cut(mx),
  );
}

/** A link to the TLS check, for a host with an address. @param {Host} h */
function starttls({ exchange, addresses }) {
  if (addresses.length === 0) return null;
  const href = `/tools/ssl-checker?input=${encodeURIComponent(`${exchange}:25`)}`;
  return el(
    "p",
    { class: "hint" },
    el("a", { href, "aria-label": `Check its TLS (STARTTLS): ${exchange}, port 25` }, "Check its TLS (STARTTLS)"),
  );
}

/** @param {Host} h */
function addresses({ addresses, addressNames = [] }) {
  if (addresses.length === 0) return none();
  const names = new Map(addressNames.map((n) => [n.address, n]));
  return el("ul", { class: "values" }, ...addresses.map((a) => el("li", {}, value(a), reverse(names.get(a)))));
}

/** @param {Host["addressNames"][number] | undefined} named */
function reverse(named) {
  if (!named) return null;
  const { hostname, confirmed } = named;
  const words = confirmed === null ? "not known" : !hostname ? "no name" : confirmed ? "confirmed" : "not confirmed";
  return el(
    "div",
    { class: "mail-reverse" },
    hostname && el("span", { class: "mono" }, hostname),
    hostname && " ",
    badge(confirmed === true ? "good" : "info", words),
  );
}

/** @param {Host} h */
function tlsa({ tlsa = [], tlsaAuthenticated: signed }) {
  if (tlsa.length === 0) return none();
  return el(
    "div",
    {},
    badge(signed ? "good" : "info", signed ? "signed" : "no DNSSEC seen"),
    values(
      tlsa.map((r) => `${r.usage} ${r.selector} ${r.matching} ${r.data}`),
      { what: "TLSA record" },
    ),
  );
}

/** @param {EmailDnsHealth} d */
export function keysFound({ domain, checks: { dkim } }) {
  if (!(dkim.tried?.length > 0)) return null;
  const tried = more("The selectors that were tried", el("p", { class: "mono" }, dkim.tried.join(", ")));
  if (dkim.found.length === 0) {
    return folded(
      "DKIM keys",
      "none found",
      el(
        "p",
        {},
        `We tried ${plural(dkim.tried.length, "common selector")} and found no key. The domain may use another one.`,
      ),
      tried,
    );
  }
  return folded(
    "DKIM keys",
    plural(dkim.found.length, "key"),
    el(
      "p",
      {},
      `We tried ${plural(dkim.tried.length, "common selector")}. There may be other keys, and which of them are in ` +
        "use cannot be seen from outside.",
    ),
    table({
      caption: "Choose a selector to check its key.",
      columns: [{ title: "Selector" }, { title: "Key" }, { title: "Alias of" }],
      rows: dkim.found.map((f) => [
        el(
          "a",
          {
            href: `/tools/email-dns-health?${new URLSearchParams({ input: domain, dkimSelector: f.selector })}`,
          },
          f.selector,
        ),
        `${f.keyType}, ${f.keyBits} bits`,
        f.cname ? value(f.cname) : none(),
      ]),
    }),
    cut(dkim),
    tried,
  );
}

/** @param {EmailDnsHealth} d */
export function bimi(d) {
  const { bimi, bimiReason } = d;
  if (!bimi) return bimiReason ? folded("Logo (BIMI)", "", el("p", {}, bimiReason)) : null;
  return folded(
    "Logo (BIMI)",
    "",
    el("p", {}, bimi.summary),
    bimi.issues.length > 0 &&
      el(
        "ul",
        { class: "mail-issues" },
        ...bySeverity(bimi.issues).map((i) => el("li", {}, mark(toneOfIssue(d, i)), el("span", {}, i.message))),
      ),
    code(bimi.record, "BIMI record"),
    facts([
      ["Published at", bimi.foundAt],
      ["Logo", bimi.logo],
      ["Certificate", bimi.evidence],
    ]),
    cut(bimi),
  );
}

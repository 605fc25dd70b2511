// @ts-check
// What email-dns-health looks up beside the records that it judges: the exchanges with their names and TLSA records,
// DKIM keys at the selectors of large senders, and BIMI. Answers that were kept from before have none of it.

import { el } from "../../lib/dom.js";
import { plural } from "../../lib/format.js";
import { badge, code, cut, facts, folded, mark, more, none, table, value, values } from "../../lib/parts.js";
import { bySeverity, tones } from "./facts.js";

/** @param {any} d */
export function exchanges({ checks: { mx } }) {
  return folded(
    "Mail exchanges",
    plural(mx.hosts.length, "host"),
    el(
      "p",
      {},
      "No mail server was contacted: this is what the DNS says about them. To see whether they accept mail " +
        "over TLS, and with which certificate, use the TLS certificate check.",
    ),
    table({
      caption: "In the order in which senders try them: the lowest priority number first.",
      columns: [
        { title: "Host" },
        { title: "Priority", numeric: true },
        { title: "Addresses and their names" },
        { title: "TLSA", hint: "the key that senders with DANE expect" },
      ],
      rows: mx.hosts.map((/** @type {any} */ h) => [
        el("div", {}, value(h.exchange || "."), starttls(h)),
        String(h.priority),
        el("div", {}, addresses(h), cut(h)),
        tlsa(h),
      ]),
    }),
    cut(mx),
  );
}

/** A server that can be asked has a name and an address. @param {any} h */
function starttls({ exchange, addresses }) {
  if (addresses.length === 0) return null;
  const href = `/tools/ssl-checker?input=${encodeURIComponent(`${exchange}:25`)}`;
  return el(
    "p",
    { class: "hint" },
    el("a", { href, "aria-label": `Check its TLS (STARTTLS): ${exchange}, port 25` }, "Check its TLS (STARTTLS)"),
  );
}

/** @param {any} h */
function addresses({ addresses, addressNames = [] }) {
  if (addresses.length === 0) return none();
  const names = new Map(addressNames.map((/** @type {any} */ n) => [n.address, n]));
  return el(
    "ul",
    { class: "values" },
    ...addresses.map((/** @type {string} */ a) => el("li", {}, value(a), reverse(names.get(a)))),
  );
}

/** @param {any} named */
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

/** @param {any} h */
function tlsa({ tlsa = [], tlsaAuthenticated: signed }) {
  if (tlsa.length === 0) return none();
  return el(
    "div",
    {},
    badge(signed ? "good" : "info", signed ? "signed" : "no DNSSEC seen"),
    values(
      tlsa.map((/** @type {any} */ r) => `${r.usage} ${r.selector} ${r.matching} ${r.data}`),
      { what: "TLSA record" },
    ),
  );
}

/** @param {any} d */
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
        `No key was found by trying ${plural(dkim.tried.length, "selector")} of large senders. The domain may ` +
          "well use another.",
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
      `Found by trying ${plural(dkim.tried.length, "selector")} of large senders. There may be others, and it ` +
        "is not visible from outside which are in use.",
    ),
    table({
      caption: "Choose a selector to check its key.",
      columns: [{ title: "Selector" }, { title: "Key" }, { title: "Alias of" }],
      rows: dkim.found.map((/** @type {any} */ f) => [
        el(
          "a",
          {
            href: `/tools/email-dns-health?input=${encodeURIComponent(domain)}&dkimSelector=${encodeURIComponent(f.selector)}`,
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

/** @param {any} d */
export function bimi({ bimi, bimiReason }) {
  if (!bimi) return bimiReason ? folded("Logo (BIMI)", "", el("p", {}, bimiReason)) : null;
  return folded(
    "Logo (BIMI)",
    "",
    el("p", {}, bimi.summary),
    bimi.issues.length > 0 &&
      el(
        "ul",
        { class: "mail-issues" },
        ...bySeverity(bimi.issues).map((i) =>
          el("li", {}, mark(tones[i.severity] ?? "info"), el("span", {}, i.message)),
        ),
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

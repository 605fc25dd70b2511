// @ts-check
// The registration of a domain name, or of the network of an address.

import { spanRange } from "../../lib/addresses.js";
import { el } from "../../lib/dom.js";
import { findingOf, inFull } from "../../lib/findings.js";
import { day, dateTime, listed, plural } from "../../lib/format.js";
import { remarks } from "../../lib/notes.js";
import { cut, facts, mark, more, none, notice, section, table, value, values } from "../../lib/parts.js";
import { addressLinks, heldBack, networkRows, rdapAddress, toolLink } from "../../lib/network.js";
import { findingOfStatus, statusWords } from "./status.js";
import { timeline } from "../../lib/picture.js";
import { addressPicture } from "../../lib/ranges.js";
import { sh } from "../../lib/shell.js";
import { attempt, concernOf } from "../../lib/view.js";

/** @typedef {import("api").components["schemas"]["WhoisLookup"]} WhoisLookup */
/** @typedef {NonNullable<WhoisLookup["domain"]>} Domain */
/** @typedef {keyof Domain["events"]} Event */

/** @param {WhoisLookup} d @param {Domain} domain */
function datesPart(d, { events }) {
  /** @type {import("../../lib/view.js").Tone} */
  const tone = findingOf(d, "EXPIRED") ? "bad" : findingOf(d, "EXPIRES_SOON") ? "warn" : "good";
  const known = /** @type {[Event, string][]} */ ([
    ["registered", "Registered"],
    ["transferred", "Transferred"],
    ["updated", "Updated"],
    ["expires", tone === "bad" ? "Expired" : "Expires"],
    ["registrarExpires", "Registrar’s expiry"],
  ]).flatMap(([key, title]) => (events[key] ? [{ key, title, at: events[key] }] : []));
  if (known.length === 0) return section("Dates", none("The registry publishes no dates."));
  const span = events.registered && events.expires ? { from: events.registered, to: events.expires, tone } : undefined;
  const moments = known.map(({ key, title, at }) => ({ at, title, tone: key === "expires" ? tone : undefined }));
  return section(
    "Dates",
    timeline(moments, {
      label: `${known.map(({ title, at }) => `${title} ${day(at)}`).join("; ")}; today ${day(Date.now())}.`,
      span,
      write: day,
    }),
    facts(known.map(({ title, at }) => [title, dateTime(at)])),
  );
}

/** @param {WhoisLookup} d @param {Domain} domain */
function registrationPart(d, domain) {
  const { name: ascii, unicodeName, handle, registrar: r } = domain;
  return section(
    "Registration",
    d.query !== d.registrableDomain &&
      el("p", {}, `${d.query} has no registration of its own; it belongs to ${d.registrableDomain}.`),
    facts([
      ["Domain name", value(ascii, { what: "domain name" })],
      ["In its native script", unicodeName === ascii ? null : unicodeName],
      ["Handle", handle],
      ["Registrar", r?.name ?? none("not published")],
      ["Registrar’s IANA ID", r?.ianaId],
      ["Registrar’s website", r?.url],
      ["Abuse contact", r?.abuseEmail ?? none("not published")],
      ["Abuse phone", r?.abusePhone],
      ["Withheld data", heldBack(domain.redactions).join("; ")],
    ]),
    cut(domain, "Part of this registration was cut: the registry sent more than this service passes on."),
  );
}

/** @param {WhoisLookup} d @param {string[]} list */
function statusPart(d, list) {
  if (list.length === 0) return null;
  return section(
    "Status",
    facts(
      list.map((s) => {
        const finding = findingOfStatus(d, s);
        const text = finding ? inFull(finding) : statusWords(s);
        return [s, el("span", { class: "sentence" }, finding && mark(concernOf(finding).tone), ` ${text}`)];
      }),
    ),
  );
}

/** @param {string[]} names */
function serversPart(names) {
  const items = names.map((ns) =>
    el("li", {}, value(ns, { what: "name server" }), " ", toolLink("dns-lookup", ns, "look up", `look up ${ns}`)),
  );
  return section(
    "Name servers",
    items.length > 0 ? el("ul", { class: "values" }, ...items) : none("The registry lists none."),
  );
}

/** @param {Domain["dnssec"]} dnssec */
function dnssecPart(dnssec) {
  const { signed, ds } = dnssec;
  const words =
    signed === null
      ? "The registry does not publish whether the delegation is signed."
      : signed
        ? "The delegation is signed: resolvers can detect forged answers."
        : "The delegation is not signed: resolvers cannot detect forged answers.";
  const records = ds.map((r) => `${r.keyTag} ${r.algorithm} ${r.digestType} ${r.digest}`);
  return section(
    "DNSSEC",
    el("p", {}, words),
    records.length > 0 &&
      el("p", {}, "DS records, the fingerprints of the zone’s keys (key tag, algorithm, digest type, digest):"),
    records.length > 0 && values(records, { what: "DS record" }),
    cut(dnssec),
  );
}

/** What data of a contact is withheld, and why. @param {Domain["contacts"][number]} c */
function held(c) {
  if (!c.redacted) return "none stated";
  const lines = heldBack(c.redactions);
  return lines.length > 0
    ? el("ul", { class: "values" }, ...lines.map((line) => el("li", {}, line)))
    : "yes, according to the registry, without a reason";
}

/** @param {Domain["contacts"]} contacts */
function contactsPart(contacts) {
  const columns = [{ title: "Role" }, { title: "Organization" }, { title: "Country" }, { title: "Withheld data" }];
  const rows = contacts.map((c) => [
    listed(c.truncated ? [...c.roles, "more"] : c.roles),
    c.organization ?? none("not published"),
    c.country ?? none("not published"),
    held(c),
  ]);
  return section(
    "Contacts",
    el(
      "p",
      {},
      `${rows.length > 0 ? "" : "None are published. "}Personal data is never shown here, even if a ` +
        "registry publishes it.",
    ),
    rows.length > 0 && table({ caption: "Contacts", columns, rows, hideCaption: true }),
  );
}

/** @param {string} query @param {NonNullable<WhoisLookup["network"]>} n */
function networkParts(query, n) {
  const place = attempt(
    () => addressPicture(query, [spanRange("Registered network", n.startAddress, n.endAddress, n.cidrs)]),
    null,
  );
  return [place && section("Address range", place), section("Network", facts(networkRows(n)))];
}

/**
 * The notices of this service on what could not be looked up. That there is no registration is the conclusion.
 * @param {WhoisLookup} d
 */
const ours = (d) => (d.reason === "notFound" ? [] : d.notices.filter((n) => n.fromService));

/** @param {WhoisLookup["notices"]} list */
function noticesPart(list) {
  return list.length === 0
    ? null
    : more(
        `${plural(list.length, "notice")} from the registry`,
        ...list.flatMap((n) => [el("h3", {}, n.title || "Notice"), el("p", {}, n.description)]),
      );
}

/** @type {import("../../lib/view.js").View<WhoisLookup>} */
export default {
  show: (d) => [
    ...remarks(d, /^STATUS_/),
    ...ours(d).map((n) => notice("warn", n.description)),
    ...(d.domain
      ? [
          datesPart(d, d.domain),
          registrationPart(d, d.domain),
          statusPart(d, d.domain.status),
          serversPart(d.domain.nameservers),
          dnssecPart(d.domain.dnssec),
          contactsPart(d.domain.contacts),
        ]
      : []),
    ...(d.network ? networkParts(d.query, d.network) : []),
    noticesPart(d.notices.filter((n) => !n.fromService)),
    cut(d),
    d.queryType === "ip" ? addressLinks(d.query, "whois-lookup") : null,
  ],

  lessons: (d) =>
    d.found && d.domain
      ? [
          "A name is registered for a fixed time, through a registrar, with the registry of its " +
            "top-level domain. It stays with its holder as long as it is renewed in time.",
        ]
      : [],

  terminal: (_asked, d) => {
    const ip = d.queryType === "ip";
    const what = d.registrableDomain ?? d.query;
    return [
      { label: "With the older WHOIS protocol", command: sh`whois ${what}` },
      {
        label: "As data (RDAP), through a public redirector",
        command: sh`curl -sL ${rdapAddress(ip ? "ip" : "domain", what)}`,
      },
      ip
        ? { label: "The name of the address", command: sh`dig +short -x ${what}` }
        : { label: "The name servers in the DNS", command: sh`dig +short NS ${what}` },
    ];
  },

  sources: (d) => d.sources,
};

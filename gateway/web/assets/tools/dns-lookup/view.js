// @ts-check
// The DNS records of a name, how long the answers may still be kept, and what failed.

import { briefly, explain, extras } from "../../lib/dns-codes.js";
import { el, svg } from "../../lib/dom.js";
import { counted, duration, listed, ms, plural } from "../../lib/format.js";
import { remarks } from "../../lib/notes.js";
import { badge, cut, facts, fileButton, folded, more, section, table, value } from "../../lib/parts.js";
import { quote, sh } from "../../lib/shell.js";
import { label, meaningOf } from "./explain.js";
import { mailbox } from "./mailbox.js";
import { count, detail, groups, titles, typesOf, written } from "./types.js";

/** @typedef {import("./types.js").DnsLookup} DnsLookup */
/** @typedef {import("./types.js").Type} Type */

/** More types than this fill a page. */
const usual = 7;

/** What the notches of a bar stand for, in seconds: a minute, an hour, a day. */
const notches = [60, 3600, 86400];

/** Where a time stands between 0 and a week. @param {number} seconds */
const share = (seconds) => Math.min(1, Math.log(1 + seconds / 60) / Math.log(1 + 10080));

/**
 * How long an answer may still be kept, as a bar. Its pale end is the time spent in this service's cache.
 * @param {{ttl: number | null, ageMs: number}} detail
 */
function life({ ttl: left, ageMs }) {
  const ttl = left ?? 0;
  const bar = (/** @type {number} */ seconds, /** @type {string} */ fill) =>
    svg("rect", { class: fill, width: Math.max(1, share(seconds) * 200), height: 8 });
  return el(
    "dd",
    { class: "lookup-life" },
    `${duration(left)} left`,
    svg(
      "svg",
      { viewBox: "0 0 200 8", preserveAspectRatio: "none", "aria-hidden": "true" },
      bar(604800, "fill-line"),
      bar(ttl + ageMs / 1000, "fill-soft"),
      bar(ttl, "fill-1"),
      ...notches.map((s) => svg("rect", { class: "fill-raised", x: share(s) * 200, width: 1, height: 8 })),
    ),
  );
}

/** With more types than these only the first groups are open. */
const mostShown = 9;

/**
 * The records by type, each with what it means and the rest of its life, in groups.
 * @param {DnsLookup} d
 * @param {Type[]} shown
 */
function recordsPart(d, shown) {
  const row = (/** @type {Type} */ t) =>
    el(
      "div",
      {},
      el("dt", {}, el("strong", {}, t), " ", titles[t]),
      el("dd", {}, list(d, t), cut(detail(d, t)), hint(meaningOf(d, t))),
      life(detail(d, t)),
    );
  const parts = groups
    .map(([title, types]) => ({ title, types: types.filter((t) => shown.includes(t)) }))
    .filter(({ types }) => types.length > 0);
  const rows = (/** @type {Type[]} */ types) => el("dl", { class: "facts lookup-records" }, ...types.map(row));
  // Of many types only the most common are open.
  const open = shown.length > mostShown ? 2 : parts.length;
  return section(
    "Records",
    fileButton(() => rowsForFile(d, shown), "Records"),
    ...parts.flatMap(({ title, types }, i) =>
      i < open ? [el("h3", {}, title), rows(types)] : [more(`${title}: ${listed(types)}`, rows(types))],
    ),
    el(
      "p",
      { class: "hint" },
      "A bar shows how long the answer may still be cached (TTL), on a logarithmic scale up to one week, with " +
        "notches at a minute, an hour and a day. A pale end is time already spent in this service’s cache.",
    ),
  );
}

/** A row for each record. @param {DnsLookup} d @param {Type[]} shown @returns {(string | number | null)[][]} */
const rowsForFile = (d, shown) => [
  ["Type", "Record", "Time left (s)"],
  ...shown.flatMap((t) => written(d, t).map((text) => [t, text, detail(d, t).ttl])),
];

/** @param {string} text */
const hint = (text) => (text ? el("p", { class: "hint" }, text) : null);

/** The types without records in one line, since most names lack most of them. @param {DnsLookup} d */
function absentPart(d) {
  const absent = typesOf(d).filter((t) => d.errors[t] === "ENODATA");
  return absent.length > 0
    ? el(
        "p",
        { class: "lookup-absent" },
        `No records of ${absent.length === 1 ? "this type" : "these types"}: ${listed(absent)}.`,
      )
    : null;
}

/** More records of a type than these are folded away. */
const mostRecords = 8;

/** @param {DnsLookup} d @param {Type} t */
function list(d, t) {
  const lines = written(d, t).map((text, i) => {
    const tag = label(d.records, t, i);
    return el("li", {}, value(text, { what: t }), tag && badge("info", tag));
  });
  const rest = lines.splice(mostRecords);
  return el(
    "div",
    {},
    el("ul", { class: "values" }, ...lines),
    rest.length > 0 && more(`${rest.length} more`, el("ul", { class: "values" }, ...rest)),
  );
}

/** @param {NonNullable<DnsLookup["records"]["SOA"]>[number]} soa */
function authority(soa) {
  const time = (/** @type {number} */ s) =>
    value(`${duration(s)} (${s} s)`, { mono: false, copied: `${s}`, what: "seconds" });
  return folded(
    "Start of authority (SOA)",
    `serial ${soa.serial}`,
    facts([
      ["Primary name server", value(soa.nsname)],
      ["Contact", value(mailbox(soa.hostmaster))],
      ["Serial number", value(soa.serial)],
      ["Refresh", time(soa.refresh)],
      ["Retry", time(soa.retry)],
      ["Expire", time(soa.expire)],
      ["Negative TTL", time(soa.minttl)],
    ]),
  );
}

/** @param {DnsLookup} d */
function answers(d) {
  const { errors } = d;
  const types = typesOf(d);
  const columns = [
    { title: "Type" },
    { title: "Answer" },
    { title: "Code" },
    { title: "Time left", numeric: true },
    { title: "DNSSEC validated" },
    { title: "Resolver" },
    { title: "Time", numeric: true },
    { title: "Age in our cache" },
  ];
  const words = types.map((t) =>
    [
      errors[t] ? explain(errors[t]) : counted(count(d, t), detail(d, t).truncated, "record"),
      ...extras(detail(d, t).extendedErrors),
    ].join("; "),
  );
  const rows = types.map((t, i) => {
    const a = detail(d, t);
    // A failure of every type would repeat one sentence.
    const answer = errors[t] && words[i] === words[i - 1] ? briefly(errors[t]) : words[i];
    return [
      t,
      el("span", { class: "lookup-answer" }, answer),
      a.rcode ?? "none",
      duration(a.ttl),
      a.authenticated ? badge("good", "yes") : "no",
      a.resolver ?? "—",
      ms(a.durationMs),
      a.cached ? duration(a.ageMs / 1000) : "fresh",
    ];
  });
  return table({ caption: "How each question was answered", columns, rows, hideCaption: true });
}

/** The longest chain of aliases. @param {DnsLookup} d */
const aliases = (d) =>
  typesOf(d)
    .map((t) => detail(d, t).cnameChain)
    .concat([d.records.CNAME ?? []])
    .sort((a, b) => b.length - a.length)[0];

/** @type {import("../../lib/view.js").View<DnsLookup>} */
export default {
  show(d) {
    const [types, chain] = [typesOf(d), aliases(d)];
    const shown = types.filter((t) => count(d, t) > 0);
    return [
      ...remarks(d, /^CAA_/),
      chain.length > 0
        ? section(
            "Alias chain",
            el("ol", { class: "lookup-path" }, ...[d.domain, ...chain].map((n) => el("li", {}, value(n)))),
          )
        : null,
      shown.length > 0 ? recordsPart(d, shown) : null,
      absentPart(d),
      d.records.SOA?.[0] ? authority(d.records.SOA[0]) : null,
      folded("How each question was answered", plural(types.length, "record type"), answers(d)),
    ];
  },
  terminal: (_, d) => {
    const types = typesOf(d);
    const [first] = types;
    const few = types.map((t) => sh`${d.domain} ${t}`).join(" ");
    const many = `for type in ${types.map(quote).join(" ")}; do ${sh`dig +noall +answer ${d.domain} "$type"`}; done`;
    return [
      {
        label: types.length > 1 ? `All ${types.length} types` : `Records of type ${first}`,
        command: types.length > usual ? many : `dig +noall +answer ${few}`,
      },
      {
        label: "One type, with status code and signatures, from a resolver of your choice",
        command: sh`dig @1.1.1.1 +dnssec ${d.domain} ${first}`,
      },
    ];
  },
  // A resolver has two rows where only a part of its answers came from the cache.
  sources: (d) => {
    const types = typesOf(d);
    const asked = types.map((t) => {
      const { resolver, ageMs, cached } = detail(d, t);
      return { types: [t], server: resolver ?? "system", ageMs, cached };
    });
    const rows = asked.filter((a, i) => asked.findIndex((b) => b.server === a.server && b.cached === a.cached) === i);
    return rows.map((row) => {
      const same = asked.filter((a) => a.server === row.server && a.cached === row.cached);
      return {
        ...row,
        name:
          "Recursive resolver, for " +
          `${same.length === types.length ? "all types" : listed(same.flatMap((a) => a.types))}`,
        ageMs: Math.max(...same.map((a) => a.ageMs)),
      };
    });
  },
};

// @ts-check
// The answers of public resolvers. Equal answers share a number and a colour.

import { explain, extras } from "../../lib/dns-codes.js";
import { el, svg } from "../../lib/dom.js";
import { linkTo } from "../../lib/fitting.js";
import { findingOf } from "../../lib/findings.js";
import { duration, listed, ms, plural } from "../../lib/format.js";
import { remarks } from "../../lib/notes.js";
import { badge, cut, folded, none, notice, section, table, value, values } from "../../lib/parts.js";
import { fit, label, picture } from "../../lib/picture.js";
import { sh } from "../../lib/shell.js";
import { codeOf } from "./facts.js";

/** @typedef {import("./facts.js").DnsResolverCheck} DnsResolverCheck */
/** @typedef {import("./facts.js").Resolver} Resolver */
/** @typedef {NonNullable<DnsResolverCheck["authoritative"]>["servers"][number]} Server */
/**
 * @typedef {{sign: string, colour: string, title: string, values: string[], ids: string[], truncated?: boolean}} Group
 */
/** @typedef {Pick<Resolver, "id" | "name"> & Partial<Resolver>} Shown a resolver that may not have answered yet */
/** @typedef {{groups: DnsResolverCheck["groups"], resolvers: Shown[]}} Answers */

/** @type {Record<string, string>} */
const outcomes = { nodata: "no such record", nxdomain: "the name does not exist" };

/** @param {Server} s */
const serverAnswer = (s) =>
  s.outcome === "error"
    ? (s.reason ?? "")
    : s.alias !== null
      ? `an alias of ${s.alias}, whose own servers were not asked`
      : s.values.length > 0
        ? el("div", {}, values(s.values, { what: "records" }), cut(s))
        : outcomes[s.outcome];

/** The domain’s own name servers, and the answer of each. @param {DnsResolverCheck} d */
function ownServers(d) {
  if (!d.authoritative)
    return section(
      "The domain’s own name servers",
      none("could not be found, so the resolvers are not compared with them"),
    );
  const [all, faulty] = [d.authoritative.servers.length, failing(d).length];
  const without = all === 1 ? ", no usable answer" : `, ${faulty} without a usable answer`;
  return folded(
    "The domain’s own name servers",
    plural(all, "server") + (faulty === 0 ? "" : without),
    table({
      caption: `The answers of name servers of ${d.authoritative.zone}`,
      columns: [
        { title: "Name server" },
        { title: "Address" },
        { title: `${d.recordType} records` },
        { title: "TTL", numeric: true },
        { title: "Time", numeric: true },
      ],
      rows: d.authoritative.servers.map((s) => [
        s.name,
        s.address === null ? none("not asked") : el("span", { class: "resolver-address" }, value(s.address)),
        serverAnswer(s),
        duration(s.ttl),
        s.address === null ? "" : ms(s.durationMs),
      ]),
    }),
  );
}

/** Those of the domain’s own name servers without a usable answer. @param {DnsResolverCheck} d */
const failing = (d) => (d.authoritative?.servers ?? []).filter((s) => s.outcome === "error");

/** The domain’s own name servers that were queried, with their addresses. @param {DnsResolverCheck} d */
const queried = (d) =>
  (d.authoritative?.servers ?? []).flatMap(({ name, address }) => (address === null ? [] : [{ name, address }]));

/** How a resolver’s answer compares with the domain’s own servers. @param {DnsResolverCheck} d @param {Resolver} r */
function comparison(d, r) {
  if (r.matchesAuthoritative === true) return badge("good", "same as the domain’s own servers");
  if (d.changing?.resolvers.includes(r.id)) return badge("info", "may be older");
  return r.matchesAuthoritative === false ? badge("info", "differs from the domain’s own servers") : null;
}

/** The different answers; resolvers that failed come last. @param {Answers} d @returns {Group[]} */
function groups(d) {
  const list = d.groups.map((g, i) => ({
    sign: `${i + 1}`,
    colour: g.values.length > 0 ? `fill-${i + 1}` : "fill-6",
    values: g.values,
    ids: g.resolvers,
    truncated: g.truncated,
    title:
      g.values.length > 0
        ? g.values[0] + (g.values.length > 1 ? ` +${g.values.length - 1}` : "") + (g.truncated ? " and more" : "")
        : "no record",
  }));
  const failed = d.resolvers.filter((r) => r.outcome === "error").map((r) => r.id);
  return failed.length > 0
    ? [...list, { sign: "✗", colour: "fill-warn", values: [], ids: failed, title: "failed" }]
    : list;
}

/** @param {Answers} d @param {Group} g */
const givers = (d, g) => listed(d.resolvers.filter((r) => g.ids.includes(r.id)).map((r) => r.name));

/** @param {Answers} d @param {Group[]} columns */
function grid(d, columns) {
  const suspects = d.resolvers.some((r) => r.filteredSuspected);
  return picture({
    label: `${columns.map((g) => `${g.sign}, ${g.title}: ${givers(d, g)}`).join("; ")}.`,
    caption:
      "Each resolver’s answer; equal answers share a number and a " +
      `colour.${suspects ? " A question mark: this resolver may be filtering." : ""}`,
    height: 40 + 36 * d.resolvers.length,
    draw: (width) => {
      const each = Math.min(220, (width - 92) / columns.length);
      const x = (/** @type {number} */ i) => 92 + i * each;
      return [
        ...columns.flatMap((g, i) => [
          label(x(i) + 2, 13, g.sign, "strong"),
          label(x(i) + 2, 31, fit(g.title, each - 8), "soft mono"),
        ]),
        ...d.resolvers.flatMap((r, row) => [
          label(0, 40 + row * 36 + 21, r.name, "strong"),
          ...columns.flatMap((g, i) => {
            const own = g.ids.includes(r.id);
            const cell = svg("rect", {
              class: own ? g.colour : "fill-sunken",
              x: x(i),
              y: 40 + row * 36,
              width: each - 4,
              height: 32,
              rx: 4,
            });
            return own
              ? [
                  cell,
                  label(
                    x(i) + each / 2 - 2,
                    40 + row * 36 + 21,
                    g.sign + (r.filteredSuspected ? "?" : ""),
                    "resolver-sign strong middle",
                  ),
                ]
              : [cell];
          }),
        ]),
      ];
    },
  });
}

/** @param {DnsResolverCheck} d @param {Resolver} r @param {Group[]} all */
function answer(d, r, all) {
  const code = codeOf(r);
  const words = [code && explain(code), ...extras(r.extendedErrors)].filter(Boolean).join("; ");
  return el(
    "span",
    { class: "resolver-answer" },
    all.find((g) => g.ids.includes(r.id))?.sign,
    words && `: ${words}`,
    " ",
    r.filteredSuspected && badge("warn", "may be filtering"),
    " ",
    comparison(d, r),
  );
}

/**
 * The different answers, and the resolvers that gave each.
 * @param {Answers} d
 * @param {Group[]} all
 * @param {string} type
 */
const answersPart = (d, all, type) =>
  section(
    "Answers",
    table({
      caption: "The different answers",
      hideCaption: true,
      columns: [{ title: "Answer" }, { title: `${type} records` }, { title: "Given by" }],
      rows: all.map((g) => [
        g.sign,
        g.values.length > 0 ? el("div", {}, values(g.values, { what: type }), cut(g)) : none(g.title),
        givers(d, g),
      ]),
    }),
  );

/** Leads to the check of the chain of zones, which may be where lookups fail. @param {DnsResolverCheck} d */
function chainPart(d) {
  const broken = findingOf(
    d,
    "DNSSEC_FAILS",
    "DNSSEC_FAILS_AT_SOME_RESOLVERS",
    "NAME_SERVERS_UNREACHABLE",
    "NAME_SERVERS_UNREACHABLE_FOR_SOME",
    "UNRESOLVABLE",
  );
  if (!broken) return null;
  const link = el("a", { href: linkTo("dns-delegation", d.domain) }, "DNS delegation and DNSSEC");
  return notice("info", el("p", {}, "To see where the chain breaks, run ", link, "."));
}

/** The resolvers, in the order of an answer. @type {[Resolver["id"], string][]} */
const resolvers = [
  ["cloudflare", "Cloudflare"],
  ["google", "Google"],
  ["quad9", "Quad9"],
  ["opendns", "OpenDNS"],
];

/**
 * The answers so far in the shape of a whole one: a resolver without an answer is in no group.
 * @param {Resolver[]} known
 * @returns {Answers}
 */
function soFar(known) {
  /** @type {Map<string, DnsResolverCheck["groups"][number]>} */
  const alike = new Map();
  for (const { id, outcome, values, truncated } of known) {
    if (outcome === "error") continue;
    const key = [...values].sort().join("\n");
    const group = alike.get(key) ?? { values, truncated, resolvers: [] };
    alike.set(key, group);
    group.resolvers.push(id);
  }
  return {
    groups: [...alike.values()],
    resolvers: resolvers.map(([id, name]) => known.find((r) => r.id === id) ?? { id, name }),
  };
}

/** @type {import("../../lib/view.js").View<DnsResolverCheck>} */
export default {
  live(seen, asked) {
    const d = soFar(seen.list("resolver"));
    const all = groups(d);
    return [grid(d, all), answersPart(d, all, String(asked.options.recordType ?? "A"))];
  },
  show(d) {
    const all = groups(d);
    return [
      ...remarks(d, /^(?:PUBLIC_RESOLVER_FAILED|RESOLVER_NOT_ASKED)$/),
      grid(d, all),
      chainPart(d),
      answersPart(d, all, d.recordType),
      folded(
        "Resolvers",
        "answers, codes and times",
        table({
          caption: "Each resolver’s answer",
          hideCaption: true,
          columns: [
            { title: "Resolver" },
            { title: "Address" },
            { title: "Answer" },
            { title: "Time left (TTL)", numeric: true },
            { title: "DNSSEC validated" },
            { title: "Time", numeric: true },
            { title: "Age in our cache" },
          ],
          rows: d.resolvers.map((r) => [
            r.name,
            el("span", { class: "resolver-address" }, value(r.address)),
            answer(d, r, all),
            duration(r.ttl),
            r.authenticated ? badge("good", "yes") : "no",
            ms(r.durationMs),
            r.cached ? duration(r.ageMs / 1000) : "fresh",
          ]),
        }),
      ),
      ownServers(d),
    ];
  },
  terminal: (_, d) => [
    ...d.resolvers.map((r) => ({
      label: r.name,
      command: sh`dig @${r.address} +noall +comments +answer ${d.domain} ${d.recordType}`,
    })),
    ...queried(d).map((s) => ({
      label: s.name,
      command: sh`dig @${s.address} +norecurse +noall +comments +answer ${d.domain} ${d.recordType}`,
    })),
  ],
  sources: (d) => [
    ...d.resolvers.map((r) => ({
      name: r.name,
      server: r.address,
      ageMs: r.ageMs,
      cached: r.cached,
    })),
    ...queried(d).map((s) => ({ name: s.name, server: s.address })),
  ],
};

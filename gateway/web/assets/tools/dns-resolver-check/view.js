// @ts-check
// The answers of public resolvers. Equal answers share a number and a colour.

import { explain, remarks } from "../../lib/dns-codes.js";
import { el, svg } from "../../lib/dom.js";
import { linkTo } from "../../lib/fitting.js";
import { findingOf, inFull } from "../../lib/findings.js";
import { duration, listed, ms, plural } from "../../lib/format.js";
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

/** @type {Record<DnsResolverCheck["status"], string>} */
const meanings = {
  agree: "People behind any of these resolvers get the same answer. After a change, that is a sign that it has spread.",
  agreeAbsent:
    "No one gets such a record. If you have just published one, resolvers may keep the earlier “no” for a while.",
  partial: "The answers that came agree. A resolver that failed says nothing about the records: try again later.",
  mixedPresence:
    "Some people find this record and others do not. Often a change is on its way; a resolver may also be " +
    "filtering, or the domain’s name servers do not all hold the same records.",
  variation:
    "Large services give each resolver an address near it, so this is no fault as long as all the addresses " +
    "are yours or your provider’s.",
  conflict:
    "Records of this type should be the same everywhere. Either a change is on its way, or the domain’s name " +
    "servers hold different versions of it.",
  inconclusive:
    "One answer alone cannot be compared. The domain’s name servers may be failing, or our connection to the " +
    "resolvers may be disturbed.",
  unavailable:
    "Nothing can be concluded about the domain: its name servers may be failing, or our connection to the " +
    "resolvers may be disturbed.",
};

/**
 * What the answer means for the domain. What is wrong and what to do about it are the words of the findings.
 * @param {DnsResolverCheck} d
 */
function meaning(d) {
  const cause = findingOf(d, "DNSSEC_FAILS", "NAME_SERVERS_UNREACHABLE", "NAME_SERVERS_DIFFER");
  if (cause) return inFull(cause);
  if (findingOf(d, "CHANGE_IN_PROGRESS")) return "A resolver keeps the older answer until its TTL runs out. Just wait.";
  if (findingOf(d, "NAME_SERVERS_ANSWER_DIFFERENTLY"))
    return (
      "People behind any of these resolvers get the same answer. The domain’s own servers gave us another: after " +
      "a change, theirs is the newer one; services that answer by location always do this."
    );
  return meanings[d.status];
}

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
        { title: "Took", numeric: true },
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

/**
 * What it means that some of the domain’s own servers fail, or all while resolvers answer.
 * @param {DnsResolverCheck} d
 */
function partly(d) {
  const [all, faulty] = [d.authoritative?.servers.length ?? 0, failing(d).length];
  if (faulty === 0 || d.failure || d.status === "unavailable") return "";
  if (faulty === all)
    return (
      "None of the domain’s own name servers gave this service a usable answer. They may refuse only this " +
      "service; if they fail for everyone, resolvers lose the records too when their TTL runs out."
    );
  return (
    `${faulty} of the domain’s own ${all} name servers gave this service no usable answer. Resolvers then try ` +
    "the next one, which takes time."
  );
}

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
  const words = [code && explain(code), ...remarks(r.extendedErrors)].filter(Boolean).join("; ");
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

/** A way to the check of the chain of zones, where that may be at fault. @param {DnsResolverCheck} d */
function chainPart(d) {
  const broken = findingOf(
    d,
    "DNSSEC_FAILS",
    "NAME_SERVERS_UNREACHABLE",
    "NAME_SERVERS_DIFFER",
    "NAME_SERVERS_ANSWER_DIFFERENTLY",
  );
  if (!broken && d.status !== "mixedPresence" && d.status !== "unavailable") return null;
  const link = el("a", { href: linkTo("dns-delegation", d.domain) }, "DNS delegation and DNSSEC");
  return notice("info", el("p", {}, link, ` follows ${d.domain} from the root and shows where the chain breaks.`));
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
    const filtering = findingOf(d, "NAME_FILTERED");
    return [
      grid(d, all),
      filtering
        ? notice(
            "warn",
            `${filtering.message} Resolvers withhold names that they consider dangerous or are required to block. ` +
              "Either the resolver reports it itself, or it answers as filters do while others give another answer.",
          )
        : null,
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
            { title: "Took", numeric: true },
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
  meaning(d) {
    const ttl = Math.max(...d.resolvers.map((r) => r.ttl ?? 0));
    return [
      meaning(d),
      ttl > 0 && !d.changing
        ? `After a change, these resolvers may keep the old answer for up to ${duration(ttl)}.`
        : "",
      partly(d),
    ].filter(Boolean);
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

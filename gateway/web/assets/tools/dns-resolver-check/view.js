// @ts-check
// dns-resolver-check: who gives which answer. Equal answers share a number and a colour.

import { explain, remarks } from "../../lib/dns-codes.js";
import { el, svg } from "../../lib/dom.js";
import { duration, listed, ms, plural } from "../../lib/format.js";
import { badge, cut, folded, none, notice, section, table, value, values } from "../../lib/parts.js";
import { fit, label, picture } from "../../lib/picture.js";
import { sh } from "../../lib/shell.js";
import { absent } from "./facts.js";

/** @typedef {import("./facts.js").Group} Group */

/** @type {Record<string, string>} */
const meanings = {
  agree: "People behind any of these resolvers get the same answer. After a change, that is a sign that it has spread.",
  agreeAbsent:
    "Nobody gets such a record. If you have just published one, resolvers may keep the earlier “no” for a while.",
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

/** @type {Record<string, string>} what to do about the cause that failing resolvers give */
const causes = {
  dnssec:
    "Validating resolvers reject the domain’s answers, so most people cannot reach it. Sign the zone again, or " +
    "have the DS record at the registry match a key in the zone; if you do not use DNSSEC, have the DS record " +
    "removed.",
  unreachable:
    "The resolvers work, but get no answer from the domain’s name servers. Check that these run, that " +
    "firewalls let port 53 through over UDP and TCP, and that the registry lists the right ones.",
};

/** @param {any} d @returns {string} what the verdict comes to for the domain */
function meaning(d) {
  if (d.failure) return causes[d.failure];
  if (d.findings?.some((/** @type {any} */ f) => f.code === "NAME_SERVERS_DIFFER"))
    return (
      "Each name server of a domain should hold the same records. Check that the changed zone has reached all of " +
      "them: the serial number in the SOA record must increase with every change."
    );
  if (d.changing)
    return (
      `${d.authoritative?.servers.some((/** @type {any} */ s) => s.outcome !== "error") ? "The domain’s own servers have" : "Most resolvers seem to have"} ` +
      "the new answer, and a resolver keeps the older one until its TTL runs out. You only need to wait."
    );
  if (d.status === "agree" && d.resolvers.some((/** @type {any} */ r) => r.matchesAuthoritative === false))
    return (
      "People behind any of these resolvers get the same answer. The domain’s own servers gave us another: after " +
      "a change, theirs is the newer one; services that answer by location always do this."
    );
  return meanings[d.status];
}

/** @type {Record<string, string>} */
const outcomes = { nodata: "no such record", nxdomain: "the name does not exist" };

/** @param {any} s */
const serverAnswer = (s) =>
  s.outcome === "error"
    ? s.reason
    : s.alias !== null
      ? `an alias of ${s.alias}, whose own servers were not asked`
      : s.values.length > 0
        ? el("div", {}, values(s.values, { what: "records" }), cut(s))
        : outcomes[s.outcome];

/** @param {any} d the domain’s own name servers, and what each said */
function ownServers(d) {
  if (d.authoritative === undefined) return null; // an answer from before they were asked
  if (d.authoritative === null)
    return section(
      "The domain’s own name servers",
      none("could not be found, so the resolvers are not compared with them"),
    );
  const faulty = failing(d).length;
  return folded(
    "The domain’s own name servers",
    `${plural(d.authoritative.servers.length, "server")}${faulty === 0 ? "" : d.authoritative.servers.length === 1 ? ", no usable answer" : `, ${faulty} without a usable answer`}`,
    table({
      caption: `What name servers of ${d.authoritative.zone} say`,
      columns: [
        { title: "Name server" },
        { title: "Address" },
        { title: `${d.recordType} records` },
        { title: "TTL", numeric: true },
        { title: "Took", numeric: true },
      ],
      rows: d.authoritative.servers.map((/** @type {any} */ s) => [
        s.name,
        s.address === null ? none("not asked") : el("span", { class: "resolver-address" }, value(s.address)),
        serverAnswer(s),
        duration(s.ttl),
        s.address === null ? "" : ms(s.durationMs),
      ]),
    }),
  );
}

/** @param {any} d @returns {any[]} those of the domain’s own name servers that gave no usable answer */
const failing = (d) => (d.authoritative?.servers ?? []).filter((/** @type {any} */ s) => s.outcome === "error");

/** @param {any} d some of the domain’s own servers fail, or all while resolvers have an answer */
function partly(d) {
  const [all, faulty] = [d.authoritative?.servers.length ?? 0, failing(d).length];
  if (faulty === 0 || d.failure || d.status === "unavailable") return "";
  if (faulty === all)
    return (
      "None of the domain’s own name servers gave this service a usable answer. They may refuse only this " +
      "service; if they fail for everybody, resolvers lose the records too when their TTL runs out."
    );
  return (
    `${faulty} of the domain’s own ${all} name servers gave this service no usable answer. Resolvers then try ` +
    "the next one, which takes time."
  );
}

/** @param {any} d @returns {any[]} those of the domain’s own name servers that were asked */
const asked = (d) => (d.authoritative?.servers ?? []).filter((/** @type {any} */ s) => s.address !== null);

/** @param {any} d @param {any} r how a resolver’s answer compares with the domain’s own servers */
function comparison(d, r) {
  if (r.matchesAuthoritative === true) return badge("good", "same as the domain’s own servers");
  if (d.changing?.resolvers.includes(r.id)) return badge("info", "may be older");
  return r.matchesAuthoritative === false ? badge("info", "differs from the domain’s own servers") : null;
}

/** @param {any} d @returns {Group[]} those that gave no answer come last */
function groups(d) {
  const list = d.groups.map((/** @type {any} */ g, /** @type {number} */ i) => ({
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
  const failed = d.resolvers
    .filter((/** @type {any} */ r) => r.outcome === "error")
    .map((/** @type {any} */ r) => r.id);
  return failed.length > 0
    ? [...list, { sign: "✗", colour: "fill-bad", values: [], ids: failed, title: "failed" }]
    : list;
}

/** @param {any} d @param {Group} g */
const givers = (d, g) =>
  listed(d.resolvers.filter((/** @type {any} */ r) => g.ids.includes(r.id)).map((/** @type {any} */ r) => r.name));

/** @param {any} d @param {Group[]} columns */
function grid(d, columns) {
  const suspects = d.resolvers.some((/** @type {any} */ r) => r.filteredSuspected);
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
        ...d.resolvers.flatMap((/** @type {any} */ r, /** @type {number} */ row) => [
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

/** @param {any} d @param {any} r @param {Group[]} all */
function answer(d, r, all) {
  const code = r.errorCode ?? absent[r.outcome];
  const said = [code && explain(code), ...remarks(r.extendedErrors)].filter(Boolean).join("; ");
  return el(
    "span",
    { class: "resolver-answer" },
    all.find((g) => g.ids.includes(r.id))?.sign,
    said && `: ${said}`,
    " ",
    r.filteredSuspected && badge("warn", "may be filtering"),
    " ",
    comparison(d, r),
  );
}

/** The different answers, and who gave which. @param {any} d @param {Group[]} all @param {string} type */
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

/** Those that are asked, in the order of an answer. */
const resolvers = [
  ["cloudflare", "Cloudflare"],
  ["google", "Google"],
  ["quad9", "Quad9"],
  ["opendns", "OpenDNS"],
];

/**
 * The answers so far in the shape of a whole one: a resolver that is still out is in no group.
 * @param {any[]} known
 */
function soFar(known) {
  /** @type {Map<string, {values: string[], resolvers: string[], truncated?: boolean}>} */
  const alike = new Map();
  for (const { id, outcome, values, truncated } of known) {
    if (outcome === "error") continue;
    const key = [...values].sort().join("\n");
    const group = alike.get(key) ?? { values, truncated, resolvers: /** @type {string[]} */ ([]) };
    alike.set(key, group);
    group.resolvers.push(id);
  }
  return {
    groups: [...alike.values()],
    resolvers: resolvers.map(([id, name]) => known.find((r) => r.id === id) ?? { id, name, outcome: "waiting" }),
  };
}

/** @type {import("../../lib/view.js").View} */
export default {
  live(seen, asked) {
    const d = soFar(seen.list("resolver"));
    const all = groups(d);
    return [grid(d, all), answersPart(d, all, String(asked.options.recordType ?? "A"))];
  },
  show(d) {
    const all = groups(d);
    const filtering = d.resolvers
      .filter((/** @type {any} */ r) => r.filteredSuspected)
      .map((/** @type {any} */ r) => r.name);
    return [
      grid(d, all),
      filtering.length > 0
        ? notice(
            "warn",
            `${listed(filtering)} may be withholding this name from users, as resolvers do with names that ` +
              "they consider dangerous or are required to block. Either the resolver says so itself, or it " +
              "answers as filters do while others give a different answer.",
          )
        : null,
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
          rows: d.resolvers.map((/** @type {any} */ r) => [
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
    const ttl = Math.max(...d.resolvers.map((/** @type {any} */ r) => r.ttl));
    return [
      meaning(d),
      ttl > 0 && !d.changing
        ? `After a change, these resolvers may keep the old answer for up to ${duration(ttl)}.`
        : "",
      partly(d),
    ].filter(Boolean);
  },
  terminal: (_, d) => [
    ...d.resolvers.map((/** @type {any} */ r) => ({
      label: r.name,
      command: sh`dig @${r.address} +noall +comments +answer ${d.domain} ${d.recordType}`,
    })),
    ...asked(d).map((s) => ({
      label: s.name,
      command: sh`dig @${s.address} +norecurse +noall +comments +answer ${d.domain} ${d.recordType}`,
    })),
  ],
  sources: (d) => [
    ...d.resolvers.map((/** @type {any} */ r) => ({
      name: r.name,
      server: r.address,
      ageMs: r.ageMs,
      cached: r.cached,
    })),
    ...asked(d).map((s) => ({ name: s.name, server: s.address })),
  ],
};

// @ts-check
// dns-resolver-check: who gives which answer. Equal answers share a number and a colour.

import { explain, remarks } from "../../lib/dns-codes.js";
import { el, svg } from "../../lib/dom.js";
import { duration, listed, ms } from "../../lib/format.js";
import { badge, cut, none, notice, section, table, value, values } from "../../lib/parts.js";
import { fit, label, picture } from "../../lib/picture.js";
import { sh } from "../../lib/shell.js";
import { absent } from "./verdict.js";

/** @typedef {import("./verdict.js").Group} Group */

/** @type {Record<string, string>} */
const meanings = {
  agree: "People behind any of these resolvers get the same answer. After a change, that is the sign that it has arrived.",
  agreeAbsent: "Nobody gets such a record. If you published one just now, resolvers may keep the older “no” for a while.",
  partial: "The answers that came agree. A resolver that failed tells nothing about the records: try again later.",
  mixedPresence: "Some people find this record and others do not. Often a change is on its way; a resolver may also be filtering, or the domain’s name servers do not all hold the same.",
  variation: "Large services give each resolver an address near it, so this is no fault as long as all the addresses are yours or your provider’s.",
  conflict: "Records of this type should be the same everywhere. Either a change is on its way, or the domain’s name servers hold different versions of it.",
  inconclusive: "One answer cannot be compared. The domain’s name servers may fail, or the way from here to the resolvers is disturbed.",
  unavailable: "Nothing can be concluded about the domain: its name servers may fail, or the way from here to the resolvers is disturbed.",
};

/** @param {any} d @returns {Group[]} those that gave no answer come last */
function groups(d) {
  const list = d.groups.map((/** @type {any} */ g, /** @type {number} */ i) => ({
    sign: `${i + 1}`, colour: g.values.length > 0 ? `fill-${i + 1}` : "fill-6", values: g.values, ids: g.resolvers, truncated: g.truncated,
    title: g.values.length > 0 ? g.values[0] + (g.values.length > 1 ? ` +${g.values.length - 1}` : "") + (g.truncated ? " and more" : "") : "no record",
  }));
  const failed = d.resolvers.filter((/** @type {any} */ r) => r.outcome === "error").map((/** @type {any} */ r) => r.id);
  return failed.length > 0 ? [...list, { sign: "✗", colour: "fill-bad", values: [], ids: failed, title: "failed" }] : list;
}

/** @param {any} d @param {Group} g */
const givers = (d, g) => listed(d.resolvers.filter((/** @type {any} */ r) => g.ids.includes(r.id)).map((/** @type {any} */ r) => r.name));

/** @param {any} d @param {Group[]} columns */
function grid(d, columns) {
  const suspects = d.resolvers.some((/** @type {any} */ r) => r.filteredSuspected);
  return picture({
    label: `${columns.map((g) => `${g.sign}, ${g.title}: ${givers(d, g)}`).join("; ")}.`,
    caption: `Each resolver’s answer; equal answers share a number and a colour.${suspects ? " A question mark: this resolver may be filtering." : ""}`,
    height: 40 + 36 * d.resolvers.length,
    draw: (width) => {
      const each = Math.min(220, (width - 92) / columns.length);
      const x = (/** @type {number} */ i) => 92 + i * each;
      return [
        ...columns.flatMap((g, i) => [label(x(i) + 2, 13, g.sign, "strong"), label(x(i) + 2, 31, fit(g.title, each - 8), "soft mono")]),
        ...d.resolvers.flatMap((/** @type {any} */ r, /** @type {number} */ row) => [
          label(0, 40 + row * 36 + 21, r.name, "strong"),
          ...columns.flatMap((g, i) => {
            const own = g.ids.includes(r.id);
            const cell = svg("rect", { class: own ? g.colour : "fill-sunken", x: x(i), y: 40 + row * 36, width: each - 4, height: 32, rx: 4 });
            return own ? [cell, label(x(i) + each / 2 - 2, 40 + row * 36 + 21, g.sign + (r.filteredSuspected ? "?" : ""), "resolver-sign strong middle")] : [cell];
          }),
        ]),
      ];
    },
  });
}

/** @param {any} r @param {Group[]} all */
function answer(r, all) {
  const code = r.errorCode ?? absent[r.outcome];
  const said = [code && explain(code), ...remarks(r.extendedErrors)].filter(Boolean).join("; ");
  return el("span", { class: "resolver-answer" }, all.find((g) => g.ids.includes(r.id))?.sign, said && `: ${said}`, " ", r.filteredSuspected && badge("warn", "may be filtering"));
}

/** @type {import("../../lib/view.js").View} */
export default {
  show(d) {
    const all = groups(d);
    const filtering = d.resolvers.filter((/** @type {any} */ r) => r.filteredSuspected).map((/** @type {any} */ r) => r.name);
    return [
      grid(d, all),
      filtering.length > 0 ? notice("warn", `${listed(filtering)} may be withholding this name from its users, as resolvers do with names that they hold for dangerous or must block. Either it says so itself, or its answer is of the kind that filters give and others contradict it.`) : null,
      section("Answers", table({
        caption: "The different answers", hideCaption: true, columns: [{ title: "Answer" }, { title: `${d.recordType} records` }, { title: "Given by" }],
        rows: all.map((g) => [g.sign, g.values.length > 0 ? el("div", {}, values(g.values, { what: d.recordType }), cut(g)) : none(g.title), givers(d, g)]),
      })),
      section("Resolvers", table({
        caption: "Each resolver’s answer", hideCaption: true,
        columns: [{ title: "Resolver" }, { title: "Address" }, { title: "Answer" }, { title: "Time left (TTL)", numeric: true }, { title: "DNSSEC validated" }, { title: "Took", numeric: true }, { title: "Age in our cache" }],
        rows: d.resolvers.map((/** @type {any} */ r) => [r.name, el("span", { class: "resolver-address" }, value(r.address)), answer(r, all), duration(r.ttl), r.authenticated ? badge("good", "yes") : "no",
          ms(r.durationMs), r.cached ? duration(r.ageMs / 1000) : "fresh"]),
      })),
    ];
  },
  meaning(d) {
    const ttl = Math.max(...d.resolvers.map((/** @type {any} */ r) => r.ttl));
    return [meanings[d.status], ttl > 0 ? `After a change, the answers kept by these resolvers run out within ${duration(ttl)}.` : ""].filter(Boolean);
  },
  terminal: (_, d) => d.resolvers.map((/** @type {any} */ r) => ({ label: r.name, command: sh`dig @${r.address} +noall +comments +answer ${d.domain} ${d.recordType}` })),
  sources: (d) => d.resolvers.map((/** @type {any} */ r) => ({ name: r.name, server: r.address, ageMs: r.ageMs, cached: r.cached })),
};

// @ts-check
// dns-lookup: the records of a name, how long the answers may still be kept, and what failed.

import { explain, remarks } from "../lib/dns-codes.js";
import { el, svg } from "../lib/dom.js";
import { duration, listed, ms, plural } from "../lib/format.js";
import { badge, facts, more, notice, section, table, value } from "../lib/parts.js";
import { label, picture } from "../lib/picture.js";
import { sh } from "../lib/shell.js";
import { sum, titles, types, written } from "../verdicts/dns-lookup.js";

const marks = /** @type {[number, string][]} */ ([[60, "1 min"], [3600, "1 hour"], [86400, "1 day"], [604800, "1 week"]]);

/** Where a time stands between 0 and a week. @param {number} seconds */
const share = (seconds) => Math.min(1, Math.log(1 + seconds / 60) / Math.log(1 + 10080));

/** @param {any} d @param {string[]} shown */
function lives({ details }, shown) {
  const left = (/** @type {string} */ t) => duration(details[t].ttl);
  const bottom = shown.length * 40;
  return picture({
    label: `Time left: ${shown.map((t) => `${t} ${left(t)}`).join(", ")}.`,
    caption: "How long each answer may still be kept (TTL), on a logarithmic scale. A pale end was spent in this service’s cache.",
    height: bottom + 22,
    draw: (width) => {
      const bar = (/** @type {number} */ seconds, /** @type {number} */ i, /** @type {string} */ fill) => svg("rect", { class: fill, x: 0, y: i * 40 + 21, width: Math.max(2, share(seconds) * width), height: 10, rx: 2 });
      return [
        // On a narrow screen the last two words would meet.
        ...marks.filter((_, i) => i !== 2 || width > 360).flatMap(([s, name]) => [
          svg("line", { class: "line", x1: share(s) * width, x2: share(s) * width, y1: 0, y2: bottom }), label(share(s) * width, bottom + 16, name, share(s) === 1 ? "soft end" : "soft middle"),
        ]),
        ...shown.flatMap((t, i) => [
          label(0, i * 40 + 15, t, "strong"), label(width, i * 40 + 15, `${left(t)} left`, "end"),
          bar(details[t].ttl + details[t].ageMs / 1000, i, "fill-soft"), bar(details[t].ttl, i, "fill-1"),
        ]),
      ];
    },
  });
}

/** Tells what a text is for, by its own prefix. @param {string} text */
function purpose(text) {
  const token = text.match(/^[_-]*(MS(?==)|[a-z0-9][\w.-]*?(?=[_-](?:site-|domain-)?verif\w*[=:]))/i);
  return token ? `verification token (${token[1]})` : text.match(/^v=(spf1|DMARC1|DKIM1|STSv1|TLSRPTv1)\b/i)?.[1].replace(/v?1$/, "").toUpperCase();
}

/** @param {any} d @param {string} t */
function list(d, t) {
  return el("ul", { class: "values" }, ...written(d, t).map((r) => {
    const tag = t === "TXT" && purpose(r);
    return el("li", {}, value(r, { what: t }), tag && badge("info", tag));
  }));
}

/** @param {any} soa */
function authority(soa) {
  const time = (/** @type {number} */ s) => value(`${duration(s)} (${s} s)`, { mono: false, copied: `${s}`, what: "seconds" });
  return section("Start of authority (SOA)", facts([
    ["Primary name server", value(soa.nsname)], ["Contact, with a dot for its @", value(soa.hostmaster)], ["Serial number", value(soa.serial)],
    ["Copies look for changes every", time(soa.refresh)], ["after a failure again in", time(soa.retry)], ["and expire after", time(soa.expire)], ["Absence is kept for", time(soa.minttl)],
  ]));
}

/** @param {any} d */
function answers({ details, errors, records }) {
  const columns = [{ title: "Type" }, { title: "Answer" }, { title: "Code" }, { title: "Time left", numeric: true }, { title: "DNSSEC validated" }, { title: "Resolver" }, { title: "Took", numeric: true }, { title: "Age in our cache" }];
  const rows = types.map((t) => {
    const a = details[t];
    return [t, el("span", { class: "lookup-answer" }, [errors[t] ? explain(errors[t]) : plural(records[t].length, "record"), ...remarks(a.extendedErrors)].join("; ")), a.rcode ?? "none", duration(a.ttl),
      a.authenticated ? badge("good", "yes") : "no", a.resolver ?? "—", ms(a.durationMs), a.cached ? duration(a.ageMs / 1000) : "fresh"];
  });
  return table({ caption: "How each question was answered", columns, rows, hideCaption: true });
}

/** @type {import("../lib/view.js").View} */
export default {
  show(d) {
    const { chain, said, gone } = sum(d);
    const shown = types.filter((t) => d.records[t].length > 0);
    return [
      shown.length > 0 ? lives(d, shown) : null,
      ...said.map((text) => notice("warn", `The resolver adds: ${text}.`)),
      chain.length > 0 ? section("Path of aliases", el("ol", { class: "lookup-path" }, ...[d.domain, ...chain].map((n) => el("li", {}, value(n))))) : null,
      shown.length > 0 ? section("Records", facts(shown.map((t) => [`${t}, ${titles[t]}`, list(d, t)]))) : null,
      d.records.SOA[0] ? authority(d.records.SOA[0]) : null,
      (gone && shown.length === 0 ? more : section)("How each question was answered", answers(d)),
    ];
  },
  meaning(d) {
    const { found, failed, gone } = sum(d);
    const ttl = Math.max(...types.map((t) => d.details[t].ttl));
    const signed = types.filter((t) => d.details[t].authenticated);
    return [
      gone && found.length === 0 && "Neither website nor mail works at this name. Look for a typing error; if the name is yours, see whether it is still registered.",
      failed.length > 0 && "A failed lookup does not tell whether there are records. Try again, or see how other resolvers fare in the DNS resolver check.",
      found.length > 0 && "Browsers connect to the addresses in A and AAAA; mail goes to the servers in MX; TXT holds notes for other services.",
      ttl > 0 && `The resolver may repeat an answer for up to ${duration(ttl)}, so a change made now may stay unseen that long.`,
      signed.length > 0 && `DNSSEC: the resolver found the signatures for ${listed(signed)} in order.`,
    ].filter((p) => p !== false);
  },
  terminal: (_, { domain }) => [
    { label: "All seven types", command: `dig +noall +answer ${types.map((t) => sh`${domain} ${t}`).join(" ")}` },
    { label: "One type, with codes and signatures, from a resolver of your choice", command: sh`dig @1.1.1.1 +dnssec ${domain} A` },
  ],
};

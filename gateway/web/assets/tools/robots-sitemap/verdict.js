// @ts-check
// What a site tells crawlers: its robots.txt line by line, a path to try against it, and its sitemaps.

import { host, plural } from "../../lib/format.js";
import { exceptionWords, shutsOutSearch } from "./crawlers.js";

/** @typedef {import("./view.js").Group} Group */
/** @typedef {import("./view.js").Issue} Issue */
/** @typedef {import("./view.js").Sitemap} Sitemap */
/** @typedef {import("../../lib/view.js").Tone} Tone */

/** What a crawler may visit. @type {Record<string, string>} */
const rights = { allowAll: "everything", rules: "all but some paths", disallowAll: "nothing" };

/** A rule as robots.txt writes it. @param {import("./matcher.js").Rule} rule */
export const spell = (rule) => `${rule.type === "allow" ? "Allow" : "Disallow"}: ${rule.path}`;

/** More groups and names than these are in the JSON alone. */
export const mostGroups = 100;

export const mostNames = 20;

/** What kept the file back, where the server did: it says neither that there is one nor that there is none. @param {{issues: Issue[]}} file */
const refused = (file) => file.issues.find((i) => i.code === "ACCESS_REFUSED" || i.code === "RATE_LIMITED");

/** The code of that. @param {{issues: Issue[]}} file */
export const refusal = (file) => refused(file)?.code;

/** What becomes of a site without a robots.txt that can be read, as a main clause. @param {any} d @returns {[Tone, string]} */
function withoutFile(d) {
  const [site, { httpStatus, issues }] = [host(d.url), d.robots];
  if (refusal(d.robots) === "RATE_LIMITED") return ["warn", `${site} refuses robots.txt because of too many requests (HTTP ${httpStatus}): by RFC 9309 crawlers may visit everything, but Google treats the whole site as closed`];
  if (refusal(d.robots)) return ["warn", `${site} refuses robots.txt (HTTP ${httpStatus}), at least to this service, and crawlers that are refused too may visit everything`];
  if (issues.some((/** @type {Issue} */ i) => i.severity === "fail")) return ["warn", `${site}’s robots.txt redirects to no file, so crawlers may visit everything`];
  return ["good", `${site} has no robots.txt, so crawlers may visit everything`];
}

/** Whether the file has a group for somebody by name. @param {any} d */
const namesSomebody = (d) => d.robots.groups.some((/** @type {Group} */ g) => g.userAgents.some((name) => name !== "*"));

/** What the file comes to, as a main clause. @param {any} d @returns {[Tone, string]} */
function effect(d) {
  const { status, effect } = d.robots;
  if (status === "unreachable") return ["bad", `robots.txt of ${host(d.url)} cannot be read, so crawlers must stay away from the whole site`];
  if (status === "missing") return withoutFile(d);
  if (status === "invalid") return ["warn", `What ${host(d.url)} serves as robots.txt is not such a file, so crawlers may visit everything`];
  const but = exceptionWords(d) && `, but ${exceptionWords(d)}`;
  const who = namesSomebody(d) ? "crawlers that it does not name" : effect === "disallowAll" ? "all crawlers" : "crawlers";
  if (effect === "disallowAll") return ["warn", `${host(d.url)} asks ${who} to stay away from the whole site${but}`];
  const tone = shutsOutSearch(d) ? "warn" : "good";
  return [tone, effect === "rules" ? `${host(d.url)} asks ${who} to stay away from some paths${but}` : `${host(d.url)} lets ${who} visit everything${but}`];
}

/** Lines that do not do what they are meant to. @param {any} d */
const faulty = (d) => new Set(d.robots.issues.filter((/** @type {Issue} */ i) => i.severity === "fail" && i.line !== null).map((/** @type {Issue} */ i) => i.line)).size;

/** The sitemaps that were looked at, the one at the usual place where it is there or nothing is declared. @param {any} d @returns {Sitemap[]} */
export function sitemaps(d) {
  const usual = d.sitemaps.some((/** @type {Sitemap} */ s) => s.url === d.sitemap.url) ? [] : [d.sitemap];
  return [...d.sitemaps, ...usual];
}

/** Whether a sitemap is worth a remark: that the usual place is empty is none, nor that it is refused, where others are declared. @param {any} d @param {Sitemap} s */
export const expected = (d, s) => d.declaredSitemaps.includes(s.url) || s.status !== "missing" || (d.declaredSitemaps.length === 0 && refusal(s) !== undefined);

/** @param {Sitemap} s */
const fault = (s) => s.issues.find((i) => i.severity === "fail");

/** What the sitemaps come to, as the end of a sentence. @param {any} d @returns {[Tone, string]} */
function sitemapWords(d) {
  const all = sitemaps(d).filter((s) => expected(d, s));
  const lost = all.filter((s) => s.status !== "found").length;
  const bad = all.filter(fault).length;
  const some = (/** @type {number} */ n) => (all.length === 1 ? "its sitemap" : `${n} of ${all.length} sitemaps`);
  if (all.length === 0) return ["good", "it has no sitemap"];
  if (all.length === 1 && refusal(all[0])) return ["warn", d.declaredSitemaps.length > 0 ? "it refuses access to its sitemap" : "its sitemap could not be checked"];
  if (lost > 0) return ["warn", `${some(lost)} cannot be used`];
  if (bad > 0) return ["warn", `${some(bad)} ${bad === 1 ? "has" : "have"} mistakes`];
  return ["good", all.length === 1 ? "its sitemap can be read" : `all ${all.length} sitemaps that were looked at can be read`];
}

/** @type {import("../../lib/view.js").Judge} */
export default {
  verdict(d) {
    const [tone, text] = effect(d);
    const [worse, rest] = sitemapWords(d);
    const but = faulty(d) > 0 ? `, ${exceptionWords(d) ? "and" : "but"} ${plural(faulty(d), "line")} of its robots.txt ${faulty(d) === 1 ? "has a mistake" : "have mistakes"}` : "";
    return { tone: tone === "good" && but ? "warn" : tone === "good" ? worse : tone, text: `${text}${but}; ${rest}.` };
  },

  concerns(d) {
    /** @type {import("../../lib/view.js").Concern[]} */
    const list = [];
    const [tone, text] = effect(d);
    if (tone !== "good") list.push({ tone: tone === "bad" ? "bad" : "warn", text: `${text}.` });
    if (faulty(d) > 0) list.push({ tone: "warn", text: `${plural(faulty(d), "line")} in robots.txt of ${host(d.url)} ${faulty(d) === 1 ? "does" : "do"} not have the intended effect.` });
    for (const s of sitemaps(d).filter((s) => expected(d, s) && (s.status !== "found" || fault(s)))) {
      list.push({ tone: d.declaredSitemaps.includes(s.url) ? "warn" : "info", text: `The sitemap ${s.url} ${s.status === "found" ? "has a mistake" : "cannot be used"}. ${(fault(s) ?? refused(s))?.message ?? "It was not found."}` });
    }
    return list.sort((a, b) => Number(a.tone === "info") - Number(b.tone === "info"));
  },

  facts(d) {
    return {
      "robots.txt": [d.robots.status, d.robots.httpStatus].filter((v) => v !== null).join(", "), "Crawlers may visit": rights[d.robots.effect] ?? d.robots.effect,
      "Crawlers": (d.crawlers ?? []).map((/** @type {import("./crawlers.js").Crawler} */ c) => `${c.name}: ${rights[c.effect] ?? c.effect}`),
      "Rules": d.robots.groups.slice(0, mostGroups).flatMap((/** @type {Group} */ g) => g.rules.slice(0, mostGroups).map((r) => `${g.userAgents.slice(0, mostNames).join(", ")}: ${spell(r)}`)).slice(0, 500),
      "Declared sitemaps": d.declaredSitemaps.slice(0, mostGroups),
      "Sitemaps": sitemaps(d).map((s) => `${s.url}: ${s.status}`),
    };
  },
};

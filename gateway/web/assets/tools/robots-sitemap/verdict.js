// @ts-check
// What a site tells crawlers: its robots.txt line by line, a path to try against it, and its sitemaps.

import { host, plural } from "../../lib/format.js";
import { spell } from "./try-box.js";

/** @typedef {import("./view.js").Group} Group */
/** @typedef {import("./view.js").Issue} Issue */
/** @typedef {import("./view.js").Sitemap} Sitemap */
/** @typedef {import("../../lib/view.js").Tone} Tone */

/** More groups and names than these are in the JSON alone. */
export const mostGroups = 100;

export const mostNames = 20;

/** What the file comes to, as a main clause. @param {any} d @returns {[Tone, string]} */
function effect(d) {
  const { status, effect, groups } = d.robots;
  if (status === "unreachable") return ["bad", `robots.txt of ${host(d.url)} cannot be read, so crawlers must stay away from the whole site`];
  if (status === "missing") return ["good", `${host(d.url)} has no robots.txt, so crawlers may visit everything`];
  if (status === "invalid") return ["warn", `What ${host(d.url)} serves as robots.txt is something else, so crawlers may visit everything`];
  if (effect === "disallowAll") return ["warn", `${host(d.url)} asks ${groups.length > 1 ? "crawlers without a group of their own" : "all crawlers"} to stay away from the whole site`];
  return ["good", effect === "rules" ? `${host(d.url)} asks crawlers to stay away from some paths` : `${host(d.url)} lets crawlers visit everything`];
}

/** Lines that do not do what they are meant to. @param {any} d */
const faulty = (d) => new Set(d.robots.issues.filter((/** @type {Issue} */ i) => i.severity === "fail" && i.line !== null).map((/** @type {Issue} */ i) => i.line)).size;

/** The sitemaps that were looked at, the one at the usual place where it is there or nothing is declared. @param {any} d @returns {Sitemap[]} */
export function sitemaps(d) {
  const usual = d.sitemaps.some((/** @type {Sitemap} */ s) => s.url === d.sitemap.url) ? [] : [d.sitemap];
  return [...d.sitemaps, ...usual];
}

/** Whether a sitemap is worth a remark: that the usual place is empty is none, where others are declared. @param {any} d @param {Sitemap} s */
export const expected = (d, s) => d.declaredSitemaps.includes(s.url) || s.status !== "missing";

/** @param {Sitemap} s */
const fault = (s) => s.issues.find((i) => i.severity === "fail");

/** What the sitemaps come to, as the end of a sentence. @param {any} d @returns {[Tone, string]} */
function sitemapWords(d) {
  const all = sitemaps(d).filter((s) => expected(d, s));
  const lost = all.filter((s) => s.status !== "found").length;
  const bad = all.filter(fault).length;
  const some = (/** @type {number} */ n) => (all.length === 1 ? "its sitemap" : `${n} of ${all.length} sitemaps`);
  if (all.length === 0) return ["good", "it has no sitemap"];
  if (lost > 0) return ["warn", `${some(lost)} cannot be used`];
  if (bad > 0) return ["warn", `${some(bad)} ${bad === 1 ? "has" : "have"} mistakes`];
  return ["good", all.length === 1 ? "its sitemap can be read" : `all ${all.length} sitemaps that were looked at can be read`];
}

/** @type {import("../../lib/view.js").Judge} */
export default {
  verdict(d) {
    const [tone, text] = effect(d);
    const [worse, rest] = sitemapWords(d);
    const but = faulty(d) > 0 ? `, but ${plural(faulty(d), "line")} of its robots.txt ${faulty(d) === 1 ? "has a mistake" : "have mistakes"}` : "";
    return { tone: tone === "good" && but ? "warn" : tone === "good" ? worse : tone, text: `${text}${but}; ${rest}.` };
  },

  concerns(d) {
    /** @type {import("../../lib/view.js").Concern[]} */
    const list = [];
    const [tone, text] = effect(d);
    if (tone !== "good") list.push({ tone: tone === "bad" ? "bad" : "warn", text: `${text}.` });
    if (faulty(d) > 0) list.push({ tone: "warn", text: `${plural(faulty(d), "line")} in robots.txt of ${host(d.url)} ${faulty(d) === 1 ? "does" : "do"} not have the effect that ${faulty(d) === 1 ? "it is" : "they are"} meant to have.` });
    for (const s of sitemaps(d).filter((s) => expected(d, s) && (s.status !== "found" || fault(s)))) {
      list.push({ tone: d.declaredSitemaps.includes(s.url) ? "warn" : "info", text: `The sitemap ${s.url} ${s.status === "found" ? "has a mistake" : "cannot be used"}. ${fault(s)?.message ?? "It is not there."}` });
    }
    return list.sort((a, b) => Number(a.tone === "info") - Number(b.tone === "info"));
  },

  facts(d) {
    return {
      "robots.txt": [d.robots.status, d.robots.httpStatus].filter((v) => v !== null).join(", "), "Effect": d.robots.effect,
      "Rules": d.robots.groups.slice(0, mostGroups).flatMap((/** @type {Group} */ g) => g.rules.slice(0, mostGroups).map((r) => `${g.userAgents.slice(0, mostNames).join(", ")}: ${spell(r)}`)).slice(0, 500),
      "Declared sitemaps": d.declaredSitemaps.slice(0, mostGroups),
      "Sitemaps": sitemaps(d).map((s) => `${s.url}: ${s.status}`),
    };
  },
};

// @ts-check
// What a site tells crawlers: its robots.txt line by line, a path to try against it, and its sitemaps.

/** @typedef {import("./view.js").Group} Group */
/** @typedef {import("./view.js").Issue} Issue */
/** @typedef {import("./view.js").Sitemap} Sitemap */

/** What a crawler may visit. @type {Record<string, string>} */
const rights = { allowAll: "everything", rules: "all but some paths", disallowAll: "nothing" };

/** A rule as robots.txt writes it. @param {import("./matcher.js").Rule} rule */
export const spell = (rule) => `${rule.type === "allow" ? "Allow" : "Disallow"}: ${rule.path}`;

/** More groups and names than these are in the JSON alone. */
export const mostGroups = 100;

export const mostNames = 20;

/**
 * What kept the file back, where the server did: it says neither that there is one nor that there is none. @param
 * {{issues: Issue[]}} file
 */
const refused = (file) => file.issues.find((i) => i.code === "ACCESS_REFUSED" || i.code === "RATE_LIMITED");

/** The code of that. @param {{issues: Issue[]}} file */
export const refusal = (file) => refused(file)?.code;

/**
 * The sitemaps that were looked at, the one at the usual place where it is there or nothing is declared. @param {any} d
 * @returns {Sitemap[]}
 */
export function sitemaps(d) {
  const usual = d.sitemaps.some((/** @type {Sitemap} */ s) => s.url === d.sitemap.url) ? [] : [d.sitemap];
  return [...d.sitemaps, ...usual];
}

/**
 * Whether a sitemap is worth a remark: that the usual place is empty is none, nor that it is refused, where others are
 * declared. @param {any} d @param {Sitemap} s
 */
export const expected = (d, s) =>
  d.declaredSitemaps.includes(s.url) ||
  s.status !== "missing" ||
  (d.declaredSitemaps.length === 0 && refusal(s) !== undefined);

/** @type {import("../../lib/view.js").Judge} */
export default {
  facts(d) {
    return {
      "robots.txt": [d.robots.status, d.robots.httpStatus].filter((v) => v !== null).join(", "),
      "Crawlers may visit": rights[d.robots.effect] ?? d.robots.effect,
      Crawlers: (d.crawlers ?? []).map(
        (/** @type {import("./crawlers.js").Crawler} */ c) => `${c.name}: ${rights[c.effect] ?? c.effect}`,
      ),
      Rules: d.robots.groups
        .slice(0, mostGroups)
        .flatMap((/** @type {Group} */ g) =>
          g.rules.slice(0, mostGroups).map((r) => `${g.userAgents.slice(0, mostNames).join(", ")}: ${spell(r)}`),
        )
        .slice(0, 500),
      "Declared sitemaps": d.declaredSitemaps.slice(0, mostGroups),
      Sitemaps: sitemaps(d).map((s) => `${s.url}: ${s.status}`),
    };
  },
};

// @ts-check
// robots.txt and the sitemaps of a site: what is compared with an earlier answer, and what its modules share.

/** @typedef {import("api").components["schemas"]["RobotsSitemap"]} RobotsSitemap */
/** @typedef {import("api").components["schemas"]["SitemapFile"]} Sitemap */
/** @typedef {import("api").components["schemas"]["FileIssue"]} Issue */
/** @typedef {RobotsSitemap["robots"]["groups"][number]} Group */

/** What a crawler may visit. @type {Record<RobotsSitemap["robots"]["effect"], string>} */
const rights = { allowAll: "everything", rules: "all but some paths", disallowAll: "nothing" };

/** A rule as robots.txt writes it. @param {import("./matcher.js").Rule} rule */
export const spell = (rule) => `${rule.type === "allow" ? "Allow" : "Disallow"}: ${rule.path}`;

/** More groups and names than these are only in the JSON. */
export const mostGroups = 100;

export const mostNames = 20;

/**
 * The code of the issue that the server refuses the file, which may exist or not; undefined where it does not.
 * @param {{issues: Issue[]}} file
 */
export const refusal = (file) =>
  file.issues.find((i) => i.code === "ACCESS_REFUSED" || i.code === "RATE_LIMITED")?.code;

/** The sitemaps that were read, and the one at the usual place. @param {RobotsSitemap} d */
export const sitemaps = (d) =>
  d.sitemaps.some((s) => s.url === d.sitemap.url) ? d.sitemaps : [...d.sitemaps, d.sitemap];

/**
 * Whether a sitemap ought to be there: one at the usual place need not, nor be readable, where others are declared.
 * @param {RobotsSitemap} d
 * @param {Sitemap} s
 */
export const expected = (d, s) =>
  d.declaredSitemaps.includes(s.url) ||
  s.status !== "missing" ||
  (d.declaredSitemaps.length === 0 && refusal(s) !== undefined);

/** @type {import("../../lib/view.js").Judge<RobotsSitemap>} */
export default {
  facts(d) {
    return {
      "robots.txt": [d.robots.status, d.robots.httpStatus].filter((v) => v !== null).join(", "),
      "Crawlers may visit": rights[d.robots.effect] ?? d.robots.effect,
      Crawlers: (d.crawlers ?? []).map((c) => `${c.name}: ${rights[c.effect] ?? c.effect}`),
      Rules: d.robots.groups
        .slice(0, mostGroups)
        .flatMap((g) =>
          g.rules.slice(0, mostGroups).map((r) => `${g.userAgents.slice(0, mostNames).join(", ")}: ${spell(r)}`),
        )
        .slice(0, 500),
      "Declared sitemaps": d.declaredSitemaps.slice(0, mostGroups),
      Sitemaps: sitemaps(d).map((s) => `${s.url}: ${s.status}`),
    };
  },
};

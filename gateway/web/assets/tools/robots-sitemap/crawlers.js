// @ts-check
// The crawlers that owners of sites ask about, and what a site tells them that it does not tell all others.

import { listed } from "../../lib/format.js";

/** @typedef {{name: string, effect: "allowAll" | "rules" | "disallowAll"}} Crawler */

/** Whose they are; a site that search engines may not visit is not found. @type {Record<string, {of: string, search: boolean}>} */
export const known = {
  Googlebot: { of: "Google's search", search: true }, Bingbot: { of: "Microsoft's search, Bing", search: true },
  Applebot: { of: "Apple's search and Siri", search: true }, DuckDuckBot: { of: "DuckDuckGo's search", search: true },
  YandexBot: { of: "Yandex's search", search: true }, GPTBot: { of: "OpenAI, to train models", search: false },
  ClaudeBot: { of: "Anthropic, to train models", search: false }, CCBot: { of: "Common Crawl, an archive of the web that models are trained on", search: false },
};

/** What the site asks of a crawler, as the end of a sentence about the site. @type {Record<Crawler["effect"], (who: string, elseClosed: boolean) => string>} */
const asks = {
  allowAll: (who) => `lets ${who} visit everything`,
  rules: (who, elseClosed) => (elseClosed ? `lets ${who} visit all but some paths` : `asks ${who} to stay away from some paths`),
  disallowAll: (who) => `asks ${who} to stay away from the whole site`,
};

/** The known crawlers that are told something else than those that the file does not name. @param {any} d @returns {Crawler[]} */
const exceptions = (d) => (d.crawlers ?? []).filter((/** @type {Crawler} */ c) => c.effect !== d.robots.effect);

/** What they are told, as the end of a sentence that begins with what all others are told; empty where it is the same. @param {any} d */
export function exceptionWords(d) {
  const told = exceptions(d);
  const parts = /** @type {Crawler["effect"][]} */ (["disallowAll", "rules", "allowAll"]).map((effect) => {
    const names = told.filter((c) => c.effect === effect).map((c) => c.name);
    return names.length > 0 && asks[effect](listed(names), d.robots.effect === "disallowAll");
  });
  return listed(parts.filter((part) => part !== false));
}

/** Whether a search engine is shut out by name. @param {any} d */
export const shutsOutSearch = (d) => exceptions(d).some((c) => c.effect === "disallowAll" && known[c.name]?.search);

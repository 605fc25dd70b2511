// @ts-check
// What the page says of a robots.txt: whom it shuts out beside those that it does not name, and of one that is refused.

import assert from "node:assert/strict";
import { test } from "node:test";
import { spread, tagged } from "./paper.js";

spread();
const { default: judge } = await import("../assets/tools/robots-sitemap/verdict.js");
const { crawlerTable } = await import("../assets/tools/robots-sitemap/crawler-table.js");
const { decision } = await import("../assets/tools/robots-sitemap/try-box.js");

/** @type {import("../assets/lib/view.js").Asked} */
const asked = { slug: "robots-sitemap", input: "x", options: {} };

const names = ["Googlebot", "Bingbot", "Applebot", "DuckDuckBot", "YandexBot", "GPTBot", "ClaudeBot", "CCBot"];

const missing = { url: "https://example.com/sitemap.xml", status: "missing", httpStatus: 404, issues: [] };

/**
 * @param {string} effect of the file, for those that it does not name
 * @param {Record<string, string>} others the effects that differ, by crawler
 * @param {object[]} [issues]
 */
function answer(effect, others = {}, issues = []) {
  const groups = [{ userAgents: ["*"], rules: [], crawlDelay: null }, ...Object.keys(others).map((name) => ({ userAgents: [name], rules: [], crawlDelay: null }))];
  return { url: "https://example.com/", robots: { status: "found", httpStatus: 200, effect, groups, issues }, declaredSitemaps: [], sitemap: missing, sitemaps: [],
    crawlers: names.map((name) => ({ name, effect: others[name] ?? effect })) };
}

/** @param {number} httpStatus @param {string} code @param {"warn" | "fail"} [severity] */
const withoutFile = (httpStatus, code, severity = "warn") => ({ ...answer("allowAll"), robots: { status: "missing", httpStatus, effect: "allowAll", groups: [], issues: code ? [{ code, severity, line: null, message: "M." }] : [] } });

/** @param {any} d */
const verdict = (d) => Object.values(judge.verdict(d, asked));

test("the verdict names the crawlers that are told something else", () => {
  const [shut, some, open] = ["disallowAll", "rules", "allowAll"];
  /** @type {[string, Record<string, string>, string, string][]} */
  const table = [
    [open, {}, "good", "example.com lets crawlers visit everything; it has no sitemap."],
    [open, { Googlebot: shut, GPTBot: shut }, "warn", "example.com lets crawlers that it does not name visit everything, but asks Googlebot and GPTBot to stay away from the whole site; it has no sitemap."],
    [open, { GPTBot: shut, ClaudeBot: shut, CCBot: shut }, "good", "example.com lets crawlers that it does not name visit everything, but asks GPTBot, ClaudeBot and CCBot to stay away from the whole site; it has no sitemap."],
    [open, { GPTBot: shut, Bingbot: some }, "good", "example.com lets crawlers that it does not name visit everything, but asks GPTBot to stay away from the whole site and asks Bingbot to stay away from some paths; it has no sitemap."],
    [some, { Bingbot: open, YandexBot: shut }, "warn", "example.com asks crawlers that it does not name to stay away from some paths, but asks YandexBot to stay away from the whole site and lets Bingbot visit everything; it has no sitemap."],
    [shut, {}, "warn", "example.com asks all crawlers to stay away from the whole site; it has no sitemap."],
    [shut, { Googlebot: open, Bingbot: some }, "warn", "example.com asks crawlers that it does not name to stay away from the whole site, but lets Bingbot visit all but some paths and lets Googlebot visit everything; it has no sitemap."],
    [shut, { SomeoneElse: open }, "warn", "example.com asks crawlers that it does not name to stay away from the whole site; it has no sitemap."],
  ];
  for (const [effect, others, tone, text] of table) assert.deepEqual(verdict(answer(effect, others)), [tone, text]);
});

test("mistakes are told beside exceptions", () => {
  const d = answer("allowAll", { CCBot: "disallowAll" }, [{ code: "NO_COLON", severity: "fail", line: 3, message: "M." }]);
  assert.deepEqual(verdict(d), ["warn", "example.com lets crawlers that it does not name visit everything, but asks CCBot to stay away from the whole site, and 1 line of its robots.txt has a mistake; it has no sitemap."]);
});

test("an answer of before crawlers were told is read as it was", () => {
  const { crawlers: _, ...old } = answer("rules");
  assert.deepEqual(verdict(old), ["good", "example.com asks crawlers to stay away from some paths; it has no sitemap."]);
  assert.deepEqual(judge.facts(old)["Crawlers"], []);
});

test("a search engine that is shut out is a concern, a model's crawler is none", () => {
  assert.deepEqual(judge.concerns(answer("allowAll", { Bingbot: "disallowAll" }), asked), [{ tone: "warn",
    text: "example.com lets crawlers that it does not name visit everything, but asks Bingbot to stay away from the whole site." }]);
  assert.deepEqual(judge.concerns(answer("allowAll", { GPTBot: "disallowAll" }), asked), []);
});

test("a refusal is not a missing file", () => {
  for (const status of [401, 403]) {
    assert.deepEqual(verdict(withoutFile(status, "ACCESS_REFUSED")), ["warn", `example.com refuses robots.txt (HTTP ${status}), at least to this service, and crawlers that are refused too may visit everything; it has no sitemap.`]);
  }
  assert.deepEqual(verdict(withoutFile(429, "RATE_LIMITED")), ["warn", "example.com refuses robots.txt because of too many requests (HTTP 429): by RFC 9309 crawlers may visit everything, but Google treats the whole site as closed; it has no sitemap."]);
  assert.deepEqual(verdict(withoutFile(302, "TOO_MANY_REDIRECTS", "fail")), ["warn", "example.com’s robots.txt redirects to no file, so crawlers may visit everything; it has no sitemap."]);
  assert.deepEqual(verdict(withoutFile(404, "")), ["good", "example.com has no robots.txt, so crawlers may visit everything; it has no sitemap."]);
});

test("a sitemap that is refused may be there", () => {
  const issue = { code: "ACCESS_REFUSED", severity: "warn", line: null, message: "The server refuses the file." };
  const refused = { ...missing, httpStatus: 403, issues: [issue] };
  assert.deepEqual(verdict({ ...answer("allowAll"), sitemap: refused }), ["warn", "example.com lets crawlers visit everything; its sitemap could not be checked."]);
  const declared = { ...answer("allowAll"), declaredSitemaps: [refused.url], sitemap: refused, sitemaps: [refused] };
  assert.deepEqual(verdict(declared), ["warn", "example.com lets crawlers visit everything; it refuses access to its sitemap."]);
  assert.deepEqual(judge.concerns(declared, asked), [{ tone: "warn", text: "The sitemap https://example.com/sitemap.xml cannot be used. The server refuses the file." }]);
  const other = { ...missing, url: "https://example.com/other.xml", status: "found", httpStatus: 200 };
  assert.deepEqual(verdict({ ...declared, declaredSitemaps: [other.url], sitemaps: [other] }), ["good", "example.com lets crawlers visit everything; its sitemap can be read."]);
});

test("the page tells each crawler's lot and by which group", () => {
  const d = answer("allowAll", { Googlebot: "disallowAll", Applebot: "disallowAll" });
  const part = crawlerTable({ ...d, robots: { ...d.robots, groups: [{ userAgents: ["*", "Googlebot"], rules: [], crawlDelay: null }] } });
  const rows = tagged(part, "tr").map((row) => row.children.map((/** @type {any} */ cell) => cell.textContent));
  const row = (/** @type {string} */ name) => rows.find((cells) => cells[0] === name)?.slice(2);
  assert.deepEqual(row("Googlebot"), ["nothing", "Googlebot"]);
  assert.deepEqual(row("Applebot"), ["nothing", "Googlebot"]);
  assert.deepEqual(row("CCBot"), ["everything", "* (all others)"]);
  const limited = tagged(crawlerTable({ ...withoutFile(429, "RATE_LIMITED"), crawlers: ["Googlebot", "Bingbot"].map((name) => ({ name, effect: "allowAll" })) }), "tr");
  assert.deepEqual(limited.slice(1).map((line) => line.children[2].textContent), ["nothing", "everything"]);
  assert.match(crawlerTable(withoutFile(429, "RATE_LIMITED"))?.textContent ?? "", /Google instead treats the refusal as a server error, and the whole site as closed\./);
});

test("the box to try a path says whose group a crawler follows, and what Google makes of a refusal", () => {
  const groups = [{ userAgents: ["Googlebot"], rules: [{ type: /** @type {const} */ ("disallow"), path: "/", line: 2 }] }];
  const said = (/** @type {any} */ robots, /** @type {string} */ crawler) => decision(robots, crawler, "/a").nodes.map((node) => node.textContent).join(" ");
  const found = { status: "found", httpStatus: 200, groups };
  assert.match(said(found, "Applebot"), /Applebot may not fetch \/a It follows the group for Googlebot, as none names it\. Line 2 decides: Disallow: \//);
  assert.match(said(found, "Googlebot/2.1"), /It follows the group for Googlebot\. Line 2/);
  const limited = { status: "missing", httpStatus: 429, groups: [] };
  assert.match(said(limited, "Googlebot"), /Googlebot may not fetch \/a Google treats a 429 as a server error/);
  assert.doesNotMatch(said(limited, "Bingbot"), /Google/);
  assert.match(said({ ...limited, httpStatus: 403 }, "Googlebot"), /may fetch \/a If the server refuses it the file too, there are no rules to follow \(RFC 9309\)\.$/);
  assert.match(said({ ...limited, httpStatus: 404 }, "Googlebot"), /There are no rules to follow\.$/);
});

// @ts-check
// What the page says of a robots.txt: whom it shuts out beside those that it does not name, and of one that is refused.

import assert from "node:assert/strict";
import { test } from "node:test";
import { spread, tagged } from "./paper.js";

spread();
const { default: judge, expected } = await import("../assets/tools/robots-sitemap/facts.js");
const { crawlerTable } = await import("../assets/tools/robots-sitemap/crawler-table.js");
const { decision } = await import("../assets/tools/robots-sitemap/try-box.js");

const names = ["Googlebot", "Bingbot", "Applebot", "DuckDuckBot", "YandexBot", "GPTBot", "ClaudeBot", "CCBot"];

const missing = { url: "https://example.com/sitemap.xml", status: "missing", httpStatus: 404, issues: [] };

/**
 * @param {string} effect of the file, for those that it does not name
 * @param {Record<string, string>} others the effects that differ, by crawler
 * @param {object[]} [issues]
 * @returns {any}
 */
function answer(effect, others = {}, issues = []) {
  const groups = [
    { userAgents: ["*"], rules: [], crawlDelay: null },
    ...Object.keys(others).map((name) => ({ userAgents: [name], rules: [], crawlDelay: null })),
  ];
  return {
    url: "https://example.com/",
    robots: { status: "found", httpStatus: 200, effect, groups, issues },
    declaredSitemaps: [],
    sitemap: missing,
    sitemaps: [],
    crawlers: names.map((name) => ({ name, effect: others[name] ?? effect })),
  };
}

/** @param {number} httpStatus @param {string} code @param {"warn" | "fail"} [severity] */
const withoutFile = (httpStatus, code, severity = "warn") => {
  const issues = code ? [{ code, severity, line: null, message: "M." }] : [];
  return { ...answer("allowAll"), robots: { status: "missing", httpStatus, effect: "allowAll", groups: [], issues } };
};

test("an answer without crawlers has none to compare", () => {
  const { crawlers: _, ...old } = answer("rules");
  assert.deepEqual(judge.facts(old)["Crawlers"], []);
});

test("a sitemap is worth a remark where it is declared, or there, or refused while none is declared", () => {
  const refused = {
    ...missing,
    httpStatus: 403,
    issues: [{ code: "ACCESS_REFUSED", severity: "warn", line: null, message: "M." }],
  };
  const found = { ...missing, status: "found" };
  const [none, declared] = [
    answer("allowAll"),
    { ...answer("allowAll"), declaredSitemaps: ["https://example.com/other.xml"] },
  ];
  assert.deepEqual(
    [missing, found, refused].map((/** @type {any} */ s) => expected(none, s)),
    [false, true, true],
  );
  assert.deepEqual(
    [missing, found, refused].map((/** @type {any} */ s) => expected(declared, s)),
    [false, true, false],
  );
  assert.equal(expected({ ...none, declaredSitemaps: [missing.url] }, /** @type {any} */ (missing)), true);
});

test("the page tells each crawler's lot and by which group", () => {
  const d = answer("allowAll", { Googlebot: "disallowAll", Applebot: "disallowAll" });
  const part = crawlerTable({
    ...d,
    robots: { ...d.robots, groups: [{ userAgents: ["*", "Googlebot"], rules: [], crawlDelay: null }] },
  });
  const rows = tagged(part, "tr").map((row) => row.children.map((/** @type {any} */ cell) => cell.textContent));
  const row = (/** @type {string} */ name) => rows.find((cells) => cells[0] === name)?.slice(2);
  assert.deepEqual(row("Googlebot"), ["nothing", "Googlebot"]);
  assert.deepEqual(row("Applebot"), ["nothing", "Googlebot"]);
  assert.deepEqual(row("CCBot"), ["everything", "* (all others)"]);
  const limited = tagged(
    crawlerTable({
      ...withoutFile(429, "RATE_LIMITED"),
      crawlers: ["Googlebot", "Bingbot"].map((name) => ({ name, effect: "allowAll" })),
    }),
    "tr",
  );
  assert.deepEqual(
    limited.slice(1).map((line) => line.children[2].textContent),
    ["nothing", "everything"],
  );
  assert.match(
    crawlerTable(withoutFile(429, "RATE_LIMITED"))?.textContent ?? "",
    /Google treats the refusal as a server error/,
  );
});

test("the box to try a path says whose group a crawler follows, and what Google makes of a refusal", () => {
  const groups = [
    { userAgents: ["Googlebot"], rules: [{ type: /** @type {const} */ ("disallow"), path: "/", line: 2 }] },
  ];
  const said = (/** @type {any} */ robots, /** @type {string} */ crawler) =>
    decision(robots, crawler, "/a")
      .nodes.map((node) => node.textContent)
      .join(" ");
  const found = { status: "found", httpStatus: 200, groups };
  assert.match(
    said(found, "Applebot"),
    /Applebot may not fetch \/a It follows the group for Googlebot, as none names it\. Line 2 decides: Disallow: \//,
  );
  assert.match(said(found, "Googlebot/2.1"), /It follows the group for Googlebot\. Line 2/);
  const limited = { status: "missing", httpStatus: 429, groups: [] };
  assert.match(said(limited, "Googlebot"), /Googlebot may not fetch \/a Google treats a 429 as a server error/);
  assert.doesNotMatch(said(limited, "Bingbot"), /Google/);
  assert.match(said({ ...limited, httpStatus: 403 }, "Googlebot"), /may fetch \/a .*\(RFC 9309\)\.$/);
  assert.match(said({ ...limited, httpStatus: 404 }, "Googlebot"), /There are no rules to follow\.$/);
});

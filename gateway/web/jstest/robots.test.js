// @ts-check
// The matcher of robots.txt against the tables of RFC 9309 and of Google's documentation.

import assert from "node:assert/strict";
import process from "node:process";
import test from "node:test";

import { agentFor, mayFetch } from "../assets/tools/robots-sitemap/matcher.js";

/** @typedef {import("../assets/tools/robots-sitemap/matcher.js").Rule} Rule */
/** @typedef {import("../assets/tools/robots-sitemap/matcher.js").Group} Group */

/**
 * A group as the API gives it, of lines like "disallow /x".
 * @param {string[]} userAgents
 * @param {...string} lines
 * @returns {Group}
 */
function group(userAgents, ...lines) {
  return {
    userAgents,
    rules: lines.map((text, i) => {
      const at = text.indexOf(" ");
      return { type: /** @type {Rule["type"]} */ (text.slice(0, at)), path: text.slice(at + 1), line: i + 2 };
    }),
  };
}

/** @param {string} pattern @param {string} path */
const matches = (pattern, path) => mayFetch([group(["*"], `disallow ${pattern}`)], "anybot", path).rule !== null;

test("patterns match as in Google's table", () => {
  const fish = [
    "/fish",
    "/fish.html",
    "/fish/salmon.html",
    "/fishheads",
    "/fishheads/yummy.html",
    "/fish.php?id=anything",
  ];
  const notFish = ["/Fish.asp", "/catfish", "/?id=fish", "/desert/fish"];
  /** @type {[string, string[], string[]][]} */
  const table = [
    ["/", ["/", "/fish", "/a/b?c"], []],
    ["/*", ["/", "/fish", "/a/b?c"], []],
    ["/$", ["/"], ["/fish", "/?"]],
    ["/fish", fish, notFish],
    ["/fish*", fish, notFish],
    [
      "/fish/",
      ["/fish/", "/fish/?id=anything", "/fish/salmon.htm"],
      ["/fish", "/fish.html", "/animals/fish/", "/Fish/Salmon.asp"],
    ],
    [
      "/*.php",
      [
        "/index.php",
        "/filename.php",
        "/folder/filename.php",
        "/folder/filename.php?parameters",
        "/folder/any.php.file.html",
        "/filename.php/",
      ],
      ["/", "/windows.PHP"],
    ],
    [
      "/*.php$",
      ["/filename.php", "/folder/filename.php"],
      ["/filename.php?parameters", "/filename.php/", "/filename.php5", "/windows.PHP"],
    ],
    ["/fish*.php", ["/fish.php", "/fishheads/catfish.php?parameters"], ["/Fish.PHP"]],
  ];
  for (const [pattern, yes, no] of table) {
    for (const path of yes) assert.ok(matches(pattern, path), `${pattern} does not match ${path}`);
    for (const path of no) assert.ok(!matches(pattern, path), `${pattern} matches ${path}`);
  }
});

test("paths are compared octet by octet after normalising them", () => {
  /** @type {[string, string, boolean][]} */
  const table = [
    // RFC 9309 section 2.2.2
    ["/foo/bar?baz=quz", "/foo/bar?baz=quz", true],
    ["/foo/bar?baz=http://foo.bar", "/foo/bar?baz=http%3A%2F%2Ffoo.bar", true],
    ["/foo/bar?baz=http%3A%2F%2Ffoo.bar", "/foo/bar?baz=http://foo.bar", true],
    ["/*baz=http://foo", "/foo/bar?baz=http%3A%2F%2Ffoo.bar", true],
    ["/*%2F", "/x?y=a%2Fb", true],
    ["/foo/bar/ツ", "/foo/bar/%E3%83%84", true],
    ["/foo/bar/%E3%83%84", "/foo/bar/%E3%83%84", true],
    ["/foo/bar/%e3%83%84", "/foo/bar/ツ", true],
    ["/foo/bar/%62%61%7A", "/foo/bar/baz", true],
    ["/foo/bar/baz", "/foo/bar/%62%61%7A", true],
    ["/😀", "/%F0%9F%98%80", true],
    // The escape of a reserved character is another path.
    ["/a%2fb.html", "/a/b.html", false],
    ["/a/b.html", "/a%2Fb.html", false],
    ["/a%2fb.html", "/a%2Fb.html", true],
    ["/%7ejoe/index.html", "/~joe/index.html", true],
    ["/x?a=1%262", "/x?a=1&2", false],
    // Section 2.2.3: both special characters are written as escapes where they mean themselves.
    ["/path/file-with-a-%2A.html", "/path/file-with-a-*.html", true],
    ["/path/file-with-a-%2A.html", "/path/file-with-a-x.html", false],
    ["/path/foo-%24", "/path/foo-$", true],
    ["/path/foo-%24", "/path/foo-%24bar", true],
    ["/this/*/exactly", "/this/path/exactly", true],
    ["/this/*/exactly", "/this/exactly", false],
    ["/this/path/exactly$", "/this/path/exactly", true],
    ["/this/path/exactly$", "/this/path/exactly/", false],
    ["/a$b", "/a$b", true],
    ["/a$b", "/a", false],
    ["*", "/", true],
    ["*$", "/x", true],
    ["*.gif$", "/a/b.gif", true],
    ["fish", "/fish", false],
    ["$", "/", false],
    ["", "/", false],
    ["**a**b", "/xaxxb", true],
    ["/a*b*c$", "/abcbc", true],
    ["/a*b*c$", "/abcb", false],
    ["/ab*b$", "/ab", false],
    ["/a*bb$", "/abbb", true],
    ["/*aab", "/aaab", true],
    ["/*abab$", "/abaabab", true],
    ["/", "", true],
    ["/?x", "?x=1", true],
    ["/100%", "/100%", true],
    ["/100%", "/100%zz", true],
    ["/%zz", "/%ZZ", false],
  ];
  for (const [pattern, path, want] of table) assert.equal(matches(pattern, path), want, `${pattern} and ${path}`);
});

test("the longest rule decides, and allow wins a tie", () => {
  /** @type {[string, string, string, boolean][]} */
  const table = [
    ["/p", "/", "/page", true],
    ["/folder", "/folder", "/folder/page", true],
    ["/page", "/*.htm", "/page.htm", false],
    ["/page", "/*.ph", "/page.php5", true],
    ["/$", "/", "/", true],
    ["/$", "/", "/page.htm", false],
    // Octets count, not characters, and not as they are written.
    ["/aaaaa", "/ä", "/ä", false],
    ["/%61", "/b", "/a", true],
    ["/*a", "/%61%61", "/aa", true],
  ];
  for (const [allow, disallow, path, want] of table) {
    for (const lines of [
      [`allow ${allow}`, `disallow ${disallow}`],
      [`disallow ${disallow}`, `allow ${allow}`],
    ]) {
      const decided = mayFetch([group(["*"], ...lines)], "anybot", path);
      assert.equal(decided.allowed, want, `${lines} for ${path}`);
      assert.ok(decided.rule, `${lines} for ${path}`);
    }
  }
});

test("the deciding rule comes first among those that match", () => {
  const got = mayFetch([group(["*"], "disallow /a", "allow /a/b$", "disallow /c", "disallow /a")], "x", "/a/b");
  assert.deepEqual([got.allowed, got.rule?.line, got.matching.map((r) => r.line)], [true, 3, [3, 2, 5]]);
  assert.deepEqual(mayFetch([], "x", "/a"), { allowed: true, rule: null, agent: null, matching: [] });
});

/** RFC 9309 sections 5.1 and 5.2. */
const simple = [
  group(["*"], "disallow *.gif$", "disallow /example/", "allow /publications/"),
  group(["foobot"], "disallow /", "allow /example/page.html", "allow /example/allowed.gif"),
  group(["barbot", "bazbot"], "disallow /example/page.html"),
  group(["quxbot"]),
];
const longest = [group(["foobot"], "allow /example/page/", "disallow /example/page/disallowed.gif")];

test("the examples of RFC 9309 hold", () => {
  /** @type {[Group[], string, string, boolean][]} */
  const table = [
    [simple, "anybot", "/a.gif", false],
    [simple, "anybot", "/a.gif?x", true],
    [simple, "anybot", "/example/x", false],
    [simple, "anybot", "/publications/x", true],
    [simple, "anybot", "/publications/x.gif", true],
    [simple, "foobot", "/", false],
    [simple, "FooBot/2.1", "/x", false],
    [simple, "foobot", "/example/page.html", true],
    [simple, "foobot", "/example/allowed.gif", true],
    [simple, "foobot", "/robots.txt", true],
    [simple, "barbot", "/example/page.html", false],
    [simple, "BAZBOT", "/example/page.html", false],
    [simple, "bazbot", "/example/", true],
    [simple, "quxbot", "/example/x", true],
    [simple, "foo", "/example/x", false],
    [longest, "foobot", "/example/page/disallowed.gif", false],
    [longest, "foobot", "/example/page/x", true],
    [longest, "anybot", "/example/page/disallowed.gif", true],
  ];
  for (const [groups, crawler, path, want] of table)
    assert.equal(mayFetch(groups, crawler, path).allowed, want, `${crawler}, ${path}`);
});

test("a crawler follows the group of its token, else the one for all", () => {
  const groups = [group(["*"]), group(["FooBot", "foo-bot_2"])];
  for (const [crawler, want] of [
    ["foobot", "FooBot"],
    ["FOOBOT/1.0 (x)", "FooBot"],
    ["foo-bot_2", "foo-bot_2"],
    ["foo", "*"],
    ["", "*"],
    ["*", "*"],
    ["(x)", "*"],
  ]) {
    assert.equal(agentFor(groups, crawler), want, crawler);
  }
  assert.equal(agentFor([group(["foobot"])], "bar"), null);
});

test("a crawler follows the group of another as its makers say", () => {
  const groups = [group(["*"]), group(["Googlebot"]), group(["Yandex"])];
  for (const [crawler, want] of [
    ["Applebot", "Googlebot"],
    ["applebot/0.1", "Googlebot"],
    ["YandexBot", "Yandex"],
    ["Bingbot", "*"],
    ["AppleCoreMedia", "*"],
  ])
    assert.equal(agentFor(groups, crawler), want, crawler);
  assert.equal(agentFor([...groups, group(["AppleBot"])], "Applebot"), "AppleBot");
  assert.equal(agentFor([group(["Applebot"])], "Googlebot"), null);
});

test("groups of the same crawler are one", () => {
  const groups = [group(["a"], "disallow /x"), group(["b"], "disallow /"), group(["A", "c"], "disallow /y")];
  assert.equal(mayFetch(groups, "a", "/x").allowed, false);
  assert.equal(mayFetch(groups, "a", "/y").allowed, false);
  assert.equal(mayFetch(groups, "a", "/z").allowed, true);
  assert.equal(mayFetch(groups, "c", "/x").allowed, true);
});

// Processor time, since a busy machine has no fixed clock: a matcher that goes back takes minutes.
test("no hostile pattern takes long", () => {
  const began = process.cpuUsage();
  const text = `/${"a".repeat(100_000)}`;
  for (const pattern of [
    `/${"*a".repeat(100_000)}b$`,
    `/*${"a".repeat(50_000)}b`,
    `/${"*".repeat(200_000)}b`,
    `/*${"ab".repeat(50_000)}$`,
    `/${"%2A".repeat(100_000)}`,
  ]) {
    assert.equal(matches(pattern, text), false);
  }
  assert.ok(process.cpuUsage(began).user < 4e6);
});

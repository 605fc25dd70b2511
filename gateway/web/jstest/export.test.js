// @ts-check
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { asHTML, asJSON, asMarkdown, escaped } from "../assets/lib/export.js";
import { spread } from "./paper.js";

/** @typedef {import("../assets/lib/export.js").Check} Check */

/** @type {[string, string, string][]} */
const texts = [
  ["plain text", "a.example 600 IN A", "a.example 600 IN A"],
  ["letters of any script, and emoji", "München 東京 שלום 🙂", "München 東京 שלום 🙂"],
  ["markup", `<script>alert("x")</script>`, "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;"],
  ["an end of an attribute", `"' onload='x`, "&quot;&#39; onload=&#39;x"],
  ["entities, once", "&lt;&amp;", "&amp;lt;&amp;amp;"],
  ["the end of a style", "</style><!--]]>", "&lt;/style&gt;&lt;!--]]&gt;"],
  ["lines and tabs stay", "a\n\tb", "a\n\tb"],
  [
    "control characters",
    "\0\x07\b\r\x1b[31m\x7f\x85\x9b",
    "\\u0000\\u0007\\u0008\\u000d\\u001b[31m\\u007f\\u0085\\u009b",
  ],
  [
    "turned writing",
    "\u202Egpj.exe\u202C\u2066\u2069\u200F\u061C",
    "\\u202egpj.exe\\u202c\\u2066\\u2069\\u200f\\u061c",
  ],
  ["what has no width", "a\u200Bb\u200Dc\u00ADd\uFEFF", "a\\u200bb\\u200dc\\u00add\\ufeff"],
  ["ends of lines that look like none", "a\u2028b\u2029", "a\\u2028b\\u2029"],
  ["halves of characters", "\uD83D x \uDE42", "\\ud83d x \\ude42"],
  ["tags beyond the first plane", "\u{E0041}", "\\udb40\\udc41"],
  ["no characters at all", "\uFFFE\uFFFF\u{1FFFF}\uFDD0", "\\ufffe\\uffff\\ud83f\\udfff\\ufdd0"],
];

for (const [name, text, want] of texts) {
  test(`escaped: ${name}`, () => assert.equal(escaped(text), want));
}

const hostile = `</pre></style></title><script>alert(1)</script><img src=x onerror="alert(1)">'"&\u202E\u2028\uD800\0`;

/** @param {string} text @returns {import("../assets/lib/export.js").Report} */
function full(text) {
  /** @type {Check} */
  const answered = {
    slug: "dns-lookup",
    title: "DNS lookup",
    group: "DNS and mail",
    input: text,
    status: 200,
    ok: true,
    data: /** @type {any} */ ({ [text]: [text, 1, null] }),
    durationMs: 12.5,
    requestId: text,
    verdict: { tone: "bad", text },
    concerns: [
      {
        tone: "bad",
        severity: "fail",
        code: text,
        text,
        remedy: null,
        group: "broken",
        weight: 1,
        subject: null,
        paste: null,
      },
    ],
    facts: { [text]: [text, text], one: text, nothing: "", empty: [] },
  };
  /** @type {Check} */
  const failed = {
    slug: "uptime",
    title: "Uptime check",
    group: "Websites",
    input: text,
    status: 502,
    ok: false,
    error: text,
    concerns: [],
  };
  return {
    target: text,
    recognisedAs: "Domain name",
    at: "2026-11-21T12:00:00Z",
    summary: [text],
    attention: [{ tone: "bad", code: text, text, from: [{ title: "DNS lookup" }] }],
    checks: [answered, failed],
  };
}

test("the page has the same tags whatever the data is", () => {
  const tags = (/** @type {string} */ html) => html.match(/<[^>]*>/g);
  assert.deepEqual(tags(asHTML(full(hostile))), tags(asHTML(full("harmless"))));
});

test("the page holds nothing raw that is dangerous or not to be seen", () => {
  const html = asHTML(full(hostile));
  assert.doesNotMatch(html, /<script|<img|\u202E|\u2028|\0/i);
  assert.doesNotMatch(html, /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}]/u);
});

test("the page needs nothing from elsewhere and says so to the browser", () => {
  const html = asHTML(full("harmless"));
  const policy = "default-src &#39;none&#39;; style-src &#39;unsafe-inline&#39;";
  const head = [
    "<!doctype html>",
    '<html lang="en">',
    "<head>",
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
  ];
  assert.deepEqual(html.split("\n").slice(0, head.length), head);
  assert.doesNotMatch(html, /<(?:script|link|img|iframe|a|form|object|base)\b|\b(?:src|href|on\w+)=|@import|url\(/i);
});

test("the page tells everything", () => {
  const html = asHTML(full("harmless"));
  for (const part of [
    "Report on harmless",
    "Domain name, checked on 21 November 2026, 12:00:00 UTC.",
    "Problem:",
    "DNS lookup",
    "Uptime check",
    "12.5 ms",
    "Request harmless",
    "<dt>harmless</dt><dd><ul><li>harmless</li><li>harmless</li></ul></dd>",
    "<dt>one</dt><dd>harmless</dd>",
  ]) {
    assert.ok(html.includes(part), part);
  }
  assert.doesNotMatch(html, /<dt>(?:nothing|empty)/, "facts without a value");
});

test("the page has the facts of an answer and leaves its JSON, with the codes, to the other file", () => {
  const [check] = full("x").checks;
  const html = asHTML({
    ...full("x"),
    checks: [{ ...check, data: /** @type {any} */ ({ errors: { MX: "ENODATA" } }), facts: { MX: "none" } }],
  });
  assert.match(html, /<dt>MX<\/dt><dd>none<\/dd>/);
  assert.doesNotMatch(html, /ENODATA|<pre>/);
});

test("an answer that was cut says so, and no other", () => {
  const [check] = full("x").checks;
  const cut = asHTML({
    ...full("x"),
    checks: [{ ...check, data: /** @type {any} */ ({ ...check.data, truncated: true }) }],
  });
  assert.match(cut, /<p class="small">This answer was too long/);
  assert.doesNotMatch(asHTML(full("x")), /was too long/);
});

test("the page tells a report without anything to look at", () => {
  const html = asHTML({ ...full("harmless"), attention: [], summary: ["Nothing needs attention."] });
  assert.match(html, /<h2>What deserves attention<\/h2>\n<p>Nothing needs attention.<\/p>/);
});

test("an answer that the page could not read is told as such", () => {
  const [check] = full("x").checks;
  const html = asHTML({ ...full("x"), checks: [{ ...check, verdict: undefined, facts: undefined, concerns: [] }] });
  assert.match(html, /<bdi>Answered, but this page could not read the answer.<\/bdi>/);
});

test("JSON has what was asked and what came, and nothing of the page's own", () => {
  const { tools, ...rest } = JSON.parse(asJSON(full(hostile)));
  assert.deepEqual(rest, { target: hostile, recognisedAs: "Domain name", at: "2026-11-21T12:00:00Z" });
  assert.deepEqual(tools, [
    {
      slug: "dns-lookup",
      input: hostile,
      status: 200,
      ok: true,
      data: { [hostile]: [hostile, 1, null] },
      durationMs: 12.5,
      requestId: hostile,
    },
    { slug: "uptime", input: hostile, status: 502, ok: false, error: hostile },
  ]);
  assert.match(asJSON(full("x")), /^\{\n {2}"target": "x",\n/);
});

test("Markdown for a ticket has the state, the findings and every check", () => {
  const text = asMarkdown(full("harmless"), "https://tools.example/report?target=harmless");
  assert.match(text, /^# Report on harmless\n/);
  assert.match(text, /\n1\. \*\*Problem:\*\* harmless harmless \(DNS lookup\)\n/);
  assert.match(text, /\n\| DNS lookup \| Problem: harmless \|\n\| Uptime check \| harmless \|\n$/);
  assert.match(text, /` https:\/\/tools\.example\/report\?target=harmless `/);
});

test("Markdown has the same lines whatever the data is, and nothing in it means anything", () => {
  const evil =
    `# a\n\n- b\n| c | d |\n**e** _f_ ~~g~~ \`h\` [i](http://evil.example) ![j](x) <img src=x> ` +
    "http://evil.example www.evil.example @everyone 1. k \u202E\0";
  const text = asMarkdown(full(evil), "https://tools.example/`report");
  assert.equal(text.split("\n").length, asMarkdown(full("harmless"), "x").split("\n").length);
  assert.doesNotMatch(text, /(?<!\\)(?:<|\]\(|~~g|`h|@everyone|http:\/\/|www\.)/);
  assert.doesNotMatch(text, /(?<!\\)\*\*e|(?<!\\)_f|(?<!\\)\| d|[\u202E\0]/);
  assert.match(text, /`` https:\/\/tools\.example\/`report ``/);
});

test("neither a file nor the page promises an order by severity or a remedy for each", async () => {
  spread();
  const { headline } = await import("../assets/lib/overview.js");
  /** @type {any} */
  const [low, high] = ["FIRST", "SECOND"].map((code) => ({
    tone: "info",
    severity: "info",
    code,
    text: code,
    weight: 1,
  }));
  /** @type {any} */
  const check = { slug: "dns-lookup", title: "DNS lookup", concerns: [low, high] };
  check.stage = { state: "answered", reply: { ok: true, status: 200, data: {} } };
  const sentence = headline([check], { kind: "domain", text: "x.example", host: "x.example" });
  const from = [{ title: "DNS lookup" }];
  const report = { ...full("x"), summary: [sentence], attention: [low, high].map((f) => ({ ...f, from })) };
  const page = readFileSync(new URL("../templates/report.html", import.meta.url), "utf8");
  for (const text of [page, asHTML(report), asMarkdown(report, "https://a.example/")])
    assert.doesNotMatch(text, /worst first|what to do about/i);
  for (const file of [asHTML(report), asMarkdown(report, "https://a.example/")]) {
    assert.ok(file.includes("2 findings in 1 answer."));
    assert.ok(file.indexOf("FIRST") < file.indexOf("SECOND"), "the order of the findings is kept");
  }
});

// @ts-check
// A finding that has a text to paste, and what a further check says of that very finding.

import assert from "node:assert/strict";
import { test } from "node:test";
import { all, spread, tagged } from "./paper.js";

spread();
const { keyOfFinding } = await import("../assets/lib/compare.js");
const { fixPart } = await import("../assets/lib/fix.js");
const { again, fateOf } = await import("../assets/lib/again.js");

/** @param {string} code @param {object} [more] */
const found = (code, more) =>
  /** @type {any} */ ({ code, subject: null, paste: null, message: `There is ${code}.`, ...more });

/** @param {any[]} findings @param {object} [more] */
const answer = (findings, more) => /** @type {any} */ ({ conclusion: { state: "warn", code: "X" }, findings, ...more });

const judge = /** @type {any} */ ({ facts: () => ({}) });
const blind = /** @type {any} */ ({ facts: () => ({}), blindTo: (/** @type {any} */ d) => d.blind });

const ns = (/** @type {string | null} */ subject, /** @type {object} */ more = {}) =>
  found("NS_SILENT", { subject, ...more });

for (const [what, finding, before, after, want] of /** @type {[string, any, any[], any, string][]} */ ([
  ["the same code", found("A"), [found("A")], answer([found("A"), found("B")]), "there"],
  ["other words", found("A"), [found("A")], answer([found("A", { message: "It is so." })]), "there"],
  ["other codes alone", found("A"), [found("A")], answer([found("B")]), "gone"],
  ["another subject", ns("a"), [ns("a"), ns("b")], answer([ns("b")]), "gone"],
  ["its own subject", ns("a"), [ns("a"), ns("b")], answer([ns("a")]), "there"],
  ["another zone", ns("a", { zone: "x" }), [ns("a", { zone: "x" })], answer([ns("a", { zone: "y" })]), "gone"],
  ["another server", ns("a", { server: "x" }), [ns("a", { server: "x" })], answer([ns("a", { server: "y" })]), "gone"],
  ["zone and server not there or null", ns("a"), [ns("a")], answer([ns("a", { zone: null, server: null })]), "there"],
  ["one of two that are alike", ns("a"), [ns("a"), ns("a")], answer([ns("a")]), "unknown"],
  ["both that are alike", ns("a"), [ns("a"), ns("a")], answer([ns("a"), ns("a")]), "there"],
  ["none of two that are alike", ns("a"), [ns("a"), ns("a")], answer([]), "gone"],
  [
    "nothing, with an unknown result",
    found("A"),
    [found("A")],
    answer([], { conclusion: { state: "unknown" } }),
    "unknown",
  ],
])) {
  test(`of ${what} a finding is ${want}`, () => assert.equal(fateOf(finding, before, after, judge), want));
}

test("what an answer could not look for is not gone", () => {
  const [finding, before] = [found("A"), [found("A")]];
  assert.equal(fateOf(finding, before, answer([], { blind: true }), blind), "unknown");
  assert.equal(fateOf(finding, before, answer([], { blind: false }), blind), "gone");
  assert.equal(fateOf(finding, before, answer([found("A")], { blind: true }), blind), "there");
  assert.equal(fateOf(finding, before, answer([]), null), "unknown");
});

test("the tools say what they could not look for", async () => {
  const mail = (await import("../assets/tools/email-dns-health/facts.js")).default;
  const checks = { mx: {}, spf: { status: "error" }, dmarc: { status: "missing" }, dkim: {}, mtaSts: {}, tlsRpt: {} };
  const of = (/** @type {string} */ code) => mail.blindTo?.(/** @type {any} */ ({ checks }), code, []);
  assert.deepEqual(["SPF_MISSING", "DMARC_MISSING", "MTASTS_MISSING", "BIMI_X"].map(of), [true, false, false, false]);
  checks.mtaSts = checks.tlsRpt = { status: "error" };
  assert.deepEqual(["MTASTS_MISSING", "TLSRPT_MISSING"].map(of), [true, true]);
  const headers = (await import("../assets/tools/security-headers/facts.js")).default;
  const page = (/** @type {string | null} */ notice, /** @type {string} */ code) =>
    headers.blindTo?.(/** @type {any} */ ({ notice }), "CSP_MISSING", [{ code }]);
  assert.deepEqual(
    [page(null, "A"), page("A login page.", "A"), page("A login page.", "NOT_THE_PAGE_LOGIN")],
    [false, true, false],
  );
});

const hostile = `"><script>alert(1)</script>\u202e${"x".repeat(5000)}`;

test("the line to paste is whole, as text, and what is copied", () => {
  const node = fixPart(found("A", { paste: { kind: "dns", text: hostile } }), {
    asked: { slug: "email-dns-health", input: "example.com", options: {} },
    before: [],
  });
  assert.deepEqual(
    tagged(node, "pre").map((pre) => pre.textContent),
    [hostile],
  );
  assert.match(node.textContent, /zone file/);
  assert.equal(tagged(node, "script").length, 0);
  const live = all(node, (one) => one.attributes.get("role") === "status");
  assert.equal(live.length, 1);
  const odd = fixPart(found("A", { paste: { kind: hostile, text: "x" } }), /** @type {any} */ ({ before: [] }));
  assert.match(odd.textContent, /^To paste/);
});

test("no two findings have one key", () => {
  const keys = [found("A", { subject: 'b","c' }), found("A", { subject: "b", zone: "c" }), found("A"), found("")].map(
    keyOfFinding,
  );
  assert.equal(new Set(keys).size, 4);
});

/** @param {number} status @param {object} body @param {Record<string, string>} [headers] */
function replies(status, body, headers = {}) {
  globalThis.fetch = async () => new Response(JSON.stringify(body), { status, headers });
}

const from = {
  asked: { slug: "security-headers", input: "https://example.com/", options: {} },
  before: [found("CSP_MISSING"), found("HSTS_MISSING")],
};
/** @param {{nodes: (Node | string)[]}} result */
const textOf = ({ nodes }) => nodes.map((n) => (typeof n === "string" ? n : n.textContent)).join("");

test("a further check says of the finding what the new answer has", async () => {
  const data = {
    conclusion: { state: "warn" },
    notice: null,
    findings: [found("HSTS_MISSING"), found("CSP_WEAK", { message: hostile })],
  };
  replies(200, { data });
  const gone = await again(found("CSP_MISSING"), from);
  assert.match(textOf(gone), /^✓Good: Gone\. New: /);
  assert.ok(textOf(gone).includes(hostile));
  assert.equal(gone.wait, 0);
  assert.match(textOf(await again(found("HSTS_MISSING"), from)), /^!Warning: Still there\. Checked /);
  const record = found("HSTS_MISSING", { paste: { kind: "dns", text: "x" } });
  assert.match(textOf(await again(record, from)), /Still there\. Resolvers keep/);
  replies(200, { data: { ...data, notice: "A login page." } });
  assert.match(textOf(await again(found("CSP_MISSING"), from)), /Could not be checked\. The new answer/);
  replies(200, { data: { conclusion: null, findings: "no" } });
  assert.match(textOf(await again(found("CSP_MISSING"), from)), /Could not be checked\./);
});

test("a check that fails says why, and a limited one when to try again", async (/** @type {any} */ t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  replies(502, { error: "example.com refused the connection." });
  const failed = await again(found("CSP_MISSING"), from);
  assert.match(textOf(failed), /Could not be checked\. example\.com refused the connection\./);
  assert.equal(failed.wait, 0);
  replies(429, { error: "Too many requests." }, { "Retry-After": "42" });
  const limited = await again(found("CSP_MISSING"), from);
  assert.match(textOf(limited), /Too many requests\..*You can try again in 42 seconds\./);
  assert.equal(limited.wait, 42_000);
});

// @ts-check
// Links with a result in them: what the recorded answers become on the way, and what a stranger's link may not do.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import zlib from "node:zlib";
import { spread } from "./paper.js";

spread();
const { decoded, encoded, longestFragment, longestInflated, prefix } = await import("../assets/lib/seen-code.js");
const { canonical, checkOf, inWords, packed, unpacked, worded } = await import("../assets/lib/seen-record.js");
const { argumentsOf, sentenceOf } = await import("../assets/lib/seen-sentences.js");
const { isTyped } = await import("../assets/lib/seen-typed.js");
const { seenIn } = await import("../assets/lib/seen-open.js");
const { changedSince } = await import("../assets/lib/seen-since.js");

const folders = new URL("../assets/tools/", import.meta.url);
const recorded = new URL("../../../deploy/lab/e2e/testdata/golden/", import.meta.url);
const tools = readdirSync(folders).filter((/** @type {string} */ slug) => slug !== "my-ip");
/** A moment that a link may be of. */
const at = Date.UTC(2026, 6, 1);

/** @param {string} slug @returns {import("../assets/lib/seen-sentences.js").Sentences} */
const sentencesOf = (slug) => JSON.parse(readFileSync(new URL(`${slug}/sentences.json`, folders), "utf8"));

/** What stands in the records for what changes at every run. @type {Record<string, any>} */
const masked = { __proto__: null, "<ms>": 1, "<time>": "2026-01-01T00:00:00Z", "<seconds>": 1, "<bool>": true };

/** The inputs of a tool with the answers that hold data. @param {string} slug @returns {[string, any][]} */
function answers(slug) {
  const text = readFileSync(new URL(`${slug}.txt`, recorded), "utf8");
  return [...text.matchAll(/"input":"((?:[^"\\]|\\.)*)"(?:(?!^POST)[^])*?^(\{\n {2}"data": [^]*?^\})$/gm)].map((m) => [
    JSON.parse(`"${m[1]}"`),
    JSON.parse(m[2].replaceAll("<ms> ms", "12.3 ms"), (_, v) => masked[v] ?? v).data,
  ]);
}

for (const slug of tools) {
  test(`every recorded answer of ${slug} fits a link and comes out of it`, async () => {
    const { default: judge } = await import(new URL(`${slug}/facts.js`, folders).href);
    const sentences = sentencesOf(slug);
    const all = answers(slug);
    assert.ok(all.length > 0, "no answer was recorded");
    for (const [input, d] of all) {
      const check = checkOf(slug, d, judge, sentences, input);
      const page = canonical(`/tools/${slug}?input=${encodeURIComponent(input)}`);
      const fragment = await encoded(packed({ page, at, checks: [check] }));
      assert.ok(fragment && fragment.length < 1024, `${input}: ${fragment?.length} characters`);
      const seen = unpacked(await decoded(fragment ?? ""), { target: input, slugs: [slug] }, at);
      assert.deepEqual(seen, { page, at, checks: [check] }, input);
      const { code, text, findings } = worded(check, sentences);
      assert.equal(code, d.conclusion.code);
      assert.equal(findings.length, d.findings.length);
      // What a link leaves out of a sentence is a gap: the rest of it is as it was.
      if (!text.includes("…") && text !== inWords(code ?? "")) assert.equal(text, d.conclusion.message);
    }
  });
}

test("facts and sentences of recorded answers are mostly in the link", async () => {
  let [facts, left, sentences, whole] = [0, 0, 0, 0];
  for (const slug of tools) {
    const { default: judge } = await import(new URL(`${slug}/facts.js`, folders).href);
    for (const [input, d] of answers(slug)) {
      const check = checkOf(slug, d, judge, sentencesOf(slug), input);
      facts += Object.keys(check.facts).length;
      left += check.left;
      const { text, code } = worded(check, sentencesOf(slug));
      sentences += 1;
      if (text !== inWords(code ?? "")) whole += 1;
    }
  }
  assert.ok(facts > 3 * left, `${facts} facts, and ${left} left out`);
  assert.ok(whole > 0.9 * sentences, `${whole} of ${sentences} conclusions`);
});

const target = "example.com";
const of = { target, slugs: ["uptime", "ping"] };
const page = "/tools/uptime?input=example.com";
/** @type {any[]} */
const check = ["uptime", "UP", ["example.com"], [["NO_IPV4", ["example.com"], null]], [["Status", "200 OK"]], [], 0];
/** @type {any[]} */
const good = [1, page, at / 1000, [check]];

/** The check with one field changed. @param {number} i @param {unknown} value */
const checkWith = (i, value) => [1, page, at / 1000, [check.with(i, value)]];
/** @param {unknown} label @param {unknown} fact */
const factOf = (label, fact) => checkWith(4, [[label, fact]]);

test("a result of the right form is read", () => assert.ok(unpacked(good, of, at)));

/** @type {[string, unknown][]} */
const unfit = [
  ["nothing", null],
  ["a number", 7],
  ["a text", "seen"],
  ["an object", { page, at, checks: [] }],
  ["a prototype", JSON.parse('{"__proto__": {"length": 4}}')],
  ["too few fields", good.slice(0, 3)],
  ["too many fields", [...good, 0]],
  ["no checks", good.with(3, [])],
  ["a version in text", good.with(0, "1")],
  ["the same check twice", good.with(3, [check, check])],
  ["21 checks", good.with(3, Array(21).fill(check))],
  ["a page that is none", good.with(1, 1)],
  ["an endless page", good.with(1, `/${"a".repeat(3000)}`)],
  ["a time in text", good.with(2, String(at / 1000))],
  ["a time that is none", good.with(2, null)],
  ["a time before there was a service", good.with(2, 1)],
  ["a time two days from now", good.with(2, at / 1000 + 2 * 86_400)],
  ["a fraction of a second", good.with(2, at / 1000 + 0.5)],
  ["a tool that the page does not have", checkWith(0, "ssl-checker")],
  ["the visitor's address", checkWith(0, "my-ip")],
  ["a prototype's tool", checkWith(0, "__proto__")],
  ["a code with markup", checkWith(1, "<b>")],
  ["a code in small letters", checkWith(1, "up")],
  ["ten arguments", checkWith(2, Array(10).fill("1"))],
  ["arguments in an object", checkWith(2, { 0: "1", length: 1 })],
  ["a number as an argument", checkWith(2, [1])],
  ["51 findings", checkWith(3, Array(51).fill(["NO_IPV4", [], null]))],
  ["a finding with a remedy", checkWith(3, [["NO_IPV4", [], null, "Add an A record."]])],
  ["a subject of its own words", checkWith(3, [["NO_IPV4", [], "your account"]])],
  ["facts in an object", checkWith(4, { Status: "200 OK" })],
  ["61 facts", checkWith(4, Array(61).fill(["Status", "200 OK"]))],
  ["a prototype's fact", factOf("__proto__", "yes")],
  ["a constructor's fact", factOf("constructor", "yes")],
  ["101 values", factOf("Names", Array(101).fill("example.com"))],
  ["values in values", factOf("Names", [["example.com"]])],
  ["a fact that is a number", factOf("Status", 200)],
  ["a time that is infinite", checkWith(5, [["Response time", Infinity]])],
  ["a time that is no number", checkWith(5, [["Response time", Number.NaN]])],
  ["a negative time", checkWith(5, [["Response time", -1]])],
  ["an hour and more", checkWith(5, [["Response time", 3_600_001]])],
  ["a negative count", checkWith(6, -1)],
  ["an endless count", checkWith(6, 1e9)],
];

for (const [name, value] of unfit) test(`not read: ${name}`, () => assert.equal(unpacked(value, of, at), null));

test("the bounds themselves are read", () => {
  for (const value of [
    good.with(2, at / 1000 + 86_400),
    checkWith(2, Array(9).fill("1")),
    checkWith(3, Array(50).fill(["NO_IPV4", [], null])),
    factOf("Names", Array(100).fill("example.com")),
    checkWith(5, [["Response time", 3_600_000]]),
    checkWith(6, 999),
  ])
    assert.ok(unpacked(value, of, at), JSON.stringify(value).slice(0, 80));
});

test("what is read changes no prototype", () => {
  unpacked(factOf("__proto__", "yes"), of, at);
  assert.equal(Object.hasOwn(Object.prototype, "yes"), false);
  const { facts } = unpacked(good, of, at)?.checks[0] ?? { facts: {} };
  assert.equal(Object.getPrototypeOf(facts), Object.prototype);
});

/** @type {[string, boolean][]} */
const texts = [
  ["", true],
  ["…", true],
  ["200 OK", true],
  ["12.3 ms", true],
  ["1,234.5 s", true],
  ["-3", true],
  ["example.com", true],
  ["*.example.com", true],
  ["example.com:8443", true],
  ["xn--bcher-kva.example", true],
  ["https://example.com/", true],
  ["http://192.0.2.1:81/", true],
  ["192.0.2.1", true],
  ["192.0.2.0/24", true],
  ["2001:db8::1", true],
  ["[2001:db8::1]:443", true],
  ["2001:db8::/32", true],
  ["AS64500", true],
  ["14 September 2028, 04:00:00 UTC", true],
  ["2026-11-26T21:00:00Z", true],
  ["ab".repeat(32), true],
  ["10 mail.example.com", true],
  ["10 60 5060 sip.example.com", true],
  ["0 .", true],
  ["192.0.2.1 and 2001:db8::1", true],
  ["IPv4, IPv6", true],
  ["com", true],
  ["TLS_AES_128_GCM_SHA256: strong in TLS 1.3", true],
  ["1. https://example.com/: 301 Moved Permanently", true],
  ["certificate of example.com", true],
  ["it answers 503 Service Unavailable", true],
  ["Your account is locked", false],
  ["org", false],
  ["call example.org", false],
  ["go.to evil.example now.please", false],
  ["200 Call us", false],
  ["https://example.org/call-us", false],
  ["https://user@example.org/", false],
  ["javascript:alert(1)", false],
  ["//example.org/", false],
  ["mailto:a@example.org", false],
  ["a@example.org", false],
  ["curl example.org | sh", false],
  ["<b>200 OK</b>", false],
  ["example.com<script>", false],
  ["exam\u202Eple.com", false],
  ["\u202E200 OK", false],
  ["200 OK\u0000", false],
  ["200 OK\n", false],
  ["example.com\r\nSet-Cookie: a", false],
  ["200\u00A0OK", false],
  ["ехаmple.com", false],
  ["example\u200B.com", false],
  ["999.1.1.1.1", false],
  ["2001:db8:::1", false],
  ["1e999", false],
  ["NaN", false],
  ["9".repeat(400), false],
  ["TLS_CALL_US", false],
  ["12 Foo 2026", false],
  ["%s", false],
  ["{}", false],
  ["__proto__", false],
  ["toString", false],
];

for (const [text, want] of texts)
  test(`${want ? "typed" : "not typed"}: ${JSON.stringify(text).slice(0, 60)}`, () =>
    assert.equal(isTyped(text, target), want));

test("the target is permitted as the page has it", () => {
  assert.equal(isTyped("https://example.org/a?b=c", "https://example.org/a?b=c"), true);
  assert.equal(isTyped("https://example.org/a?b=d", "https://example.org/a?b=c"), false);
});

test("a link full of texts that fit many forms is read at once", () => {
  const worst = `${"1: ".repeat(80)}x`;
  const began = performance.now();
  for (let i = 0; i < 200; i++) isTyped(worst, target);
  assert.ok(performance.now() - began < 2000, `${performance.now() - began} ms`);
});

test("a finding of which only the code is held is that code in words", () => {
  const formats = Object.fromEntries(
    ["SPF_TOO_MANY_LOOKUPS", "MTASTS_MODE", "MX_NO_IPV4", "LOGO_MISSING"].map((code) => [code, "%s"]),
  );
  const findings = Object.keys(formats).map((code) => ({ code, args: [null], subject: null }));
  const check = { slug: "uptime", code: "UP", args: [], findings, facts: [], times: [], left: 0 };
  const said = worded(/** @type {any} */ (check), { conclusions: {}, findings: formats }).findings;
  assert.deepEqual(
    said.map(({ text }) => text),
    ["SPF too many lookups", "MTA-STS mode", "MX no IPv4", "Logo missing"],
  );
});

test("an unknown code is left out, and so is what an object inherits", () => {
  const sentences = { conclusions: { UP: "%s is up." }, findings: { NO_IPV4: "%s has no IPv4." } };
  const told = (/** @type {string} */ code) =>
    worded(
      {
        slug: "uptime",
        code,
        args: [target],
        findings: [{ code, args: [], subject: null }],
        facts: {},
        times: {},
        left: 0,
      },
      sentences,
    );
  assert.deepEqual(told("UP"), { code: "UP", text: "example.com is up.", findings: [] });
  for (const code of ["HACKED", "toString", "constructor", "__proto__"])
    assert.deepEqual(told(code), { code: undefined, text: "", findings: [] });
  assert.deepEqual(
    told("NO_IPV4").findings.map((found) => found.text),
    ["… has no IPv4."],
  );
});

/** @type {[string, string, (string | null)[] | null][]} */
const formats = [
  ["%s is up.", "a is up.", ["a"]],
  ["%[2]s of %[1]s", "x of y", ["y", "x"]],
  ["%[1]s and %[1]s", "a and a", ["a"]],
  ["%[1]s and %[1]s", "a and b", null],
  ["%[1]s over %[4]s.", "a over IPv4.", ["a", null, null, "IPv4"]],
  ["100 %% of %d", "100 % of 3", ["3"]],
  ["It is down.", "It is down.", []],
  ["It is down.", "It is up.", null],
  ["a (b) [c] %s", "a (b) [c] \n", ["\n"]],
];

for (const [format, sentence, args] of formats)
  test(`the arguments of ${JSON.stringify(format)} in ${JSON.stringify(sentence)}`, () => {
    assert.deepEqual(argumentsOf(format, sentence), args);
    if (args) assert.equal(sentenceOf(format, args), sentence);
  });

/** Octets as a fragment. @param {Uint8Array} octets */
const fragmentOf = (octets) => prefix + zlib.deflateRawSync(octets, { level: 9 }).toString("base64url");
/** @param {string} text */
const fragmentOfText = (text) => fragmentOf(new TextEncoder().encode(text));

test("a fragment is read up to its bounds", async () => {
  assert.deepEqual(await decoded(fragmentOfText(JSON.stringify(good))), good);
  assert.ok(await decoded(fragmentOfText(JSON.stringify("a".repeat(longestInflated - 2)))));
  assert.equal(await decoded(fragmentOfText(JSON.stringify("a".repeat(longestInflated - 1)))), undefined);
  assert.equal(await decoded(fragmentOfText(" ".repeat(3_000_000))), undefined);
  assert.equal(await decoded(prefix + "A".repeat(longestFragment)), undefined);
});

/** @type {[string, string][]} */
const broken = [
  ["nothing", prefix],
  ["another fragment", "part-1"],
  ["no base64url", `${prefix}a+/=`],
  ["a blank", `${prefix}ab cd`],
  ["a length that base64 cannot have", `${prefix}A`],
  ["what was not deflated", `${prefix}${"Zm9v".repeat(20)}`],
  ["half of a result", fragmentOfText(JSON.stringify(good)).slice(0, -20)],
  ["invalid UTF-8", fragmentOf(new Uint8Array([34, 0xc3, 0x28, 34]))],
  ["half a character", fragmentOf(new Uint8Array([34, 0xed, 0xa0, 0x80, 34]))],
  ["no JSON", fragmentOfText("{seen: 1}")],
  ["two values", fragmentOfText("1 2")],
];

for (const [name, fragment] of broken)
  test(`no value: ${name}`, async () => assert.equal(await decoded(fragment), undefined));

test("what is nested deeply is not read", async () => {
  for (const text of ["[".repeat(30_000) + "]".repeat(30_000), '{"a":'.repeat(10_000) + "1" + "}".repeat(10_000)])
    assert.equal(typeof (await seenIn(fragmentOfText(text), { link: page, target, tools: [] })), "string");
});

test("values of any kind and depth are refused without a failure", () => {
  let state = 1;
  const random = (/** @type {number} */ n) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % n;
  };
  /** @param {number} depth @returns {unknown} */
  const anything = (depth) =>
    [
      () => null,
      () => random(9) - 4,
      () => ["", "UP", "<b>", "__proto__", "\u202E"][random(5)],
      () => Array.from({ length: random(8) }, () => (depth > 0 ? anything(depth - 1) : 1)),
      () => ({ length: random(8), 0: depth > 0 ? anything(depth - 1) : 1 }),
    ][random(5)]();
  for (let i = 0; i < 3000; i++) {
    const value = random(2) ? anything(5) : good.with(random(4), anything(4));
    const seen = unpacked(value, of, at);
    if (seen) assert.deepEqual(packed(seen), value);
  }
});

test("a result is of this page's check, its options included, or it is not shown", async () => {
  const fragment = await encoded(good);
  const tools = [{ slug: "uptime", title: "Uptime" }];
  const open = (/** @type {string} */ link) => seenIn(fragment ?? "", { link, target, tools });
  assert.equal(typeof (await open(page)), "object");
  for (const link of [
    "/tools/uptime?input=example.org",
    "/tools/uptime?input=example.com&place=fra",
    "/tools/ping?input=example.com",
    "/report?target=example.com",
    "/tools/uptime",
  ])
    assert.equal(typeof (await open(link)), "string", link);
  assert.equal(canonical("/a?c=1&b=2"), canonical("/a?b=2&c=1"));
});

test("another version has a sentence of its own", async () => {
  const of = { link: page, target, tools: [{ slug: "uptime", title: "Uptime" }] };
  const sentences = await Promise.all(
    [good.with(0, 2), "x", good.with(3, 1)].map(async (value) => seenIn((await encoded(value)) ?? "", of)),
  );
  assert.equal(new Set(sentences).size, 2);
  assert.ok(sentences.every((sentence) => typeof sentence === "string"));
});

test("what is too long for a link is no link", async () => {
  const noise = Array.from({ length: 3000 }, (_, i) => Math.sin(i).toString(36)).join("");
  assert.equal(await encoded(noise), null);
  assert.equal(await encoded("a".repeat(longestInflated)), null);
});

test("what changed since is compared by what a link holds", async () => {
  const { default: judge } = await import(new URL("uptime/facts.js", folders).href);
  const [[input, d]] = answers("uptime");
  const sentences = sentencesOf("uptime");
  globalThis.fetch = async () => new Response(JSON.stringify(sentences));
  const seen = { page, at, checks: [checkOf("uptime", d, judge, sentences, input)] };
  const changed = async (/** @type {any} */ now) => {
    const node = await changedSince(seen, [{ slug: "uptime", title: "Uptime", data: now, judge }], input);
    return node.textContent;
  };
  assert.match(await changed({ ...d, reason: "In words that no link holds." }), /^Nothing changed/);
  const text = await changed({ ...d, status: 503, statusText: "Service Unavailable", responseTimeMs: 5000 });
  for (const part of ["200 OK", "503 Service Unavailable", "5.0 s"]) assert.ok(text.includes(part), text);
});

// @ts-check
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { concernsIn } from "../assets/lib/view.js";
import { attention } from "../assets/lib/attention.js";

/** @typedef {import("../assets/lib/view.js").Concern} Concern */

const severities = /** @type {const} */ ({ bad: "fail", warn: "warn", info: "info" });

/** A finding whose code is its text. @param {Concern["tone"]} tone @param {string} text @returns {Concern} */
const concern = (tone, text) => ({
  tone,
  severity: severities[tone],
  text,
  code: text,
  remedy: null,
  group: "safer",
  weight: 0,
  subject: null,
  paste: null,
});

/**
 * @param {string} title
 * @param {...[Concern["tone"], string]} concerns
 */
const check = (title, ...concerns) => ({ title, concerns: concerns.map(([tone, text]) => concern(tone, text)) });

/** @param {ReturnType<typeof check>[]} checks */
const told = (checks) =>
  attention(checks).map(({ tone, text, from }) => `${tone} ${text} ${from.map((c) => c.title).join("+")}`);

test("the worst comes first, and what is as bad in the order of the checks", () => {
  const checks = [
    check("A", ["info", "1"], ["warn", "2"]),
    check("B"),
    check("C", ["bad", "3"], ["warn", "4"], ["info", "5"]),
    check("D", ["bad", "6"]),
  ];
  assert.deepEqual(told(checks), ["bad 3 C", "bad 6 D", "warn 2 A", "warn 4 C", "info 1 A", "info 5 C"]);
});

test("the same finding of several checks is listed once, whatever its sentence is", () => {
  const checks = [check("A", ["bad", "same"]), check("B", ["bad", "same"]), check("C", ["info", "other"])];
  checks[1].concerns[0].text = "reworded";
  assert.deepEqual(told(checks), ["bad same A+B", "info other C"]);
});

test("one code of two catalogues is two findings", () => {
  const checks = [check("A", ["bad", "same"]), check("B", ["bad", "same"])];
  checks[1].concerns[0].weight = 9;
  assert.deepEqual(told(checks), ["bad same B", "bad same A"]);
});

test("what one check reports of one subject stays apart, and another check joins the first of it", () => {
  const of = (/** @type {string} */ title, /** @type {string[]} */ ...texts) => ({
    title,
    concerns: texts.map((text, i) => ({ ...concern("warn", text), weight: 9 - i, subject: "mx.a.example" })),
  });
  assert.deepEqual(told([of("Mail", "no STARTTLS", "expired"), of("TLS", "refused")]), [
    "warn no STARTTLS Mail+TLS",
    "warn expired Mail",
  ]);
});

test("no concerns are no list", () => {
  assert.deepEqual(attention([]), []);
  assert.deepEqual(attention([check("A"), check("B")]), []);
});

test("the checks themselves stay as they are", () => {
  const a = check("A", ["info", "1"], ["bad", "2"]);
  attention([a]);
  assert.deepEqual(a, check("A", ["info", "1"], ["bad", "2"]));
});

test("one subject is listed once, in the words of the check that ranks it first", () => {
  /** @param {string} title @param {Partial<Concern>} more */
  const of = (title, more) => ({
    title,
    concerns: [{ ...concern("bad", `${title} says so`), subject: "certificate of a", ...more }],
  });
  const judged = [
    of("HTTP", {}),
    of("TLS", { group: "broken", tone: "warn", severity: "warn" }),
    of("Uptime", {}),
    of("Other", { subject: "certificate of b" }),
  ];
  assert.deepEqual(
    attention(judged).map((c) => `${c.tone} ${c.text} ${c.from.map((f) => f.title).join("+")}`),
    ["warn TLS says so TLS+HTTP+Uptime", "bad Other says so Other"],
  );
});

test("what is broken comes first, then severity, then weight", () => {
  const [mail, site, bad] = [
    check("Mail", ["bad", "unsafe"], ["warn", "weak"]),
    check("Site", ["bad", "down"], ["warn", "gone"]),
    check("DNS", ["bad", "wrong"]),
  ];
  site.concerns = site.concerns.map((one) => ({ ...one, group: "broken" }));
  bad.concerns = bad.concerns.map((one) => ({ ...one, weight: 50 }));
  assert.deepEqual(told([mail, site, bad]), [
    "bad down Site",
    "warn gone Site",
    "bad wrong DNS",
    "bad unsafe Mail",
    "warn weak Mail",
  ]);
});

const recorded = new URL("../../../deploy/lab/e2e/testdata/golden/", import.meta.url);

/** The first recorded answer whose worst finding is one. @param {string} slug @param {string} code */
function answered(slug, code) {
  const text = readFileSync(new URL(`${slug}.txt`, recorded), "utf8");
  const found = [...text.matchAll(/^\{\n {2}"data": [\s\S]*?^\}$/gm)].map((m) => JSON.parse(m[0]).data);
  return found.find((d) => d.findings?.[0]?.code === code);
}

/** @type {[string, string, string, string][]} */
const unresolved = [
  ["NAME_NOT_FOUND", "NO_ADDRESS", "NAME_NOT_FOUND", "a name that is not there"],
  ["RESOLUTION_FAILS", "LOOKUP_FAILED", "RESOLUTION_FAILS", "a name whose name servers fail"],
];

for (const [lookup, site, want, what] of unresolved)
  test(`of ${what} a report has the sentence of the lookup, whichever check comes first`, () => {
    const checks = [answered("uptime", site), answered("dns-lookup", lookup)].map((data, i) => ({
      title: String(i),
      // The recorded answers may be of different names.
      concerns: (concernsIn(data) ?? []).slice(0, 1).map((concern) => ({ ...concern, subject: "resolution of it" })),
    }));
    for (const all of [checks, checks.toReversed()])
      assert.deepEqual(
        attention(all).map(({ code }) => code),
        [want],
      );
  });

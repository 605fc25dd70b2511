// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { attention } from "../assets/lib/attention.js";

/**
 * @param {string} title
 * @param {...["bad" | "warn" | "info", string]} concerns
 */
const check = (title, ...concerns) => ({ title, concerns: concerns.map(([tone, text]) => ({ tone, text })) });

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

test("the same sentence is said once, in its worst tone, with all who say it", () => {
  const checks = [
    check("A", ["warn", "same"]),
    check("B", ["bad", "same"], ["bad", "same"]),
    check("C", ["info", "other"]),
  ];
  assert.deepEqual(told(checks), ["bad same B+A", "info other C"]);
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

test("one topic is told once, by the check that knows best", () => {
  /** @param {string} title @param {Partial<import("../assets/lib/view.js").Concern>} concern */
  const of = (title, concern) => ({
    title,
    concerns: [{ tone: /** @type {const} */ ("bad"), text: `${title} says so`, topic: "certificate of a", ...concern }],
  });
  const judged = [
    of("HTTP", { aside: true }),
    of("TLS", { tone: "warn" }),
    of("Uptime", { aside: true }),
    of("Other", { topic: "certificate of b", aside: true }),
  ];
  assert.deepEqual(
    attention(judged).map((c) => `${c.tone} ${c.text} ${c.from.map((f) => f.title).join("+")}`),
    ["bad TLS says so TLS+HTTP+Uptime", "bad Other says so Other"],
  );
});

test("what is broken comes first, then severity, then weight", () => {
  const [mail, site, bad] = [
    check("Mail", ["bad", "unsafe"], ["warn", "weak"]),
    check("Site", ["bad", "down"], ["warn", "gone"]),
    check("DNS", ["bad", "wrong"]),
  ];
  site.concerns = site.concerns.map((concern) => ({ ...concern, broken: true }));
  bad.concerns = bad.concerns.map((concern) => ({ ...concern, weight: 50 }));
  assert.deepEqual(told([mail, site, bad]), [
    "bad down Site",
    "warn gone Site",
    "bad wrong DNS",
    "bad unsafe Mail",
    "warn weak Mail",
  ]);
});

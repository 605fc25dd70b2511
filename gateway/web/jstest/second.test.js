// @ts-check
// When a page asks a second time by itself.
import assert from "node:assert/strict";
import { test } from "node:test";

const { mayAsk } = await import("../assets/lib/second.js");

const first = { ok: true, status: 200 };
/** @type {[string, Record<string, string>, import("../assets/lib/api.js").Answer, boolean][]} */
const cases = [
  ["a page with a second request", { second: "http3" }, first, true],
  ["one without", {}, first, false],
  ["five requests left", { second: "http3" }, { ...first, left: 5 }, true],
  ["four requests left", { second: "http3" }, { ...first, left: 4 }, false],
  ["none left", { second: "http3" }, { ...first, left: 0 }, false],
  ["a first answer that failed", { second: "http3" }, { ok: false, status: 502 }, false],
];
for (const [name, dataset, answer, want] of cases) test(name, () => assert.equal(mayAsk({ dataset }, answer), want));

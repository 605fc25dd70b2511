// @ts-check
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { keep } from "../assets/lib/kept.js";
import { advance, checksFor } from "../assets/lib/report-checks.js";
import { answers, lastVerdict } from "../assets/lib/store.js";

// The parts of a page listen to it from the start.
Object.assign(globalThis, { document: { addEventListener() {} } });

/** @type {Map<string, string>} */
let disk = new Map();
Object.defineProperty(globalThis, "localStorage", { value: {
  getItem: (/** @type {string} */ key) => disk.get(key) ?? null,
  removeItem: (/** @type {string} */ key) => disk.delete(key),
  setItem: (/** @type {string} */ key, /** @type {string} */ value) => disk.set(key, value),
}, configurable: true });

beforeEach(() => {
  disk = new Map();
});

/** @type {import("../assets/lib/view.js").Judge} */
const judge = { verdict: () => ({ tone: "good", text: "All is well." }), concerns: () => [], facts: (d) => d };

test("a report keeps what each of its checks came to, once", () => {
  const tool = { slug: "dns-lookup", kind: "domain", title: "DNS lookup", style: "", group: "", glyph: () => null };
  const [check] = checksFor([tool], /** @type {any} */ ({ inputs: { domain: "a.example" } }));
  const answered = (/** @type {any} */ data) => advance(check, { state: "answered", reply: /** @type {any} */ ({ ok: true, status: 200, data }) });
  check.judge = judge;
  advance(check, { state: "running" });
  assert.equal(answers().length, 0);
  answered({ A: "192.0.2.1" });
  assert.equal(lastVerdict("dns-lookup", "a.example")?.verdict, "All is well.");
  assert.deepEqual(check.past, { at: null, list: [] });
  answered({ A: "192.0.2.2" });
  assert.equal(answers().length, 1);
  assert.deepEqual(check.past?.list, [{ label: "A", gone: ["192.0.2.1"], come: ["192.0.2.2"] }]);
  answered(null);
  assert.equal(check.past, null, "there is nothing to keep of what failed");
});

test("an answer is held against the one before it", () => {
  const asked = { slug: "uptime", input: "https://a.example/", options: {} };
  assert.equal(keep(judge, { Status: "200" }, asked, judge.verdict({}, asked)).at, null);
  const past = keep(judge, { Status: "503" }, asked, judge.verdict({}, asked));
  assert.ok(past.at);
  assert.deepEqual(answers()[0].changes.map(({ label, gone, come }) => [label, gone, come]), [["Status", ["200"], ["503"]]]);
});

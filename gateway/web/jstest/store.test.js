// @ts-check
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { answers, forget, keepAnswer, keyOf, lastAnswer, lastVerdict } from "../assets/lib/store.js";

/** @type {Map<string, string>} */
let disk = new Map();
let room = Infinity;

Object.defineProperty(globalThis, "localStorage", {
  value: {
    getItem: (/** @type {string} */ key) => disk.get(key) ?? null,
    removeItem: (/** @type {string} */ key) => disk.delete(key),
    setItem: (/** @type {string} */ key, /** @type {string} */ value) => {
      if (value.length > room) throw new Error("full");
      disk.set(key, value);
    },
  },
  configurable: true,
});

beforeEach(() => {
  disk = new Map();
  room = Infinity;
});

const key = (/** @type {string} */ input) => JSON.stringify(["dns-lookup", input, {}]);
const good = { tone: /** @type {const} */ ("good"), code: "WELL", text: "All is well.", findings: [] };
const gone = { tone: /** @type {const} */ ("bad"), code: "GONE", text: "It is gone.", findings: [] };

test("an answer is kept with its verdict, the newest first", () => {
  keepAnswer(key("a.example"), { ...good, facts: { A: ["192.0.2.1"] } }, []);
  keepAnswer(key("b.example"), gone, []);
  assert.deepEqual(lastAnswer(key("a.example"))?.facts, { A: ["192.0.2.1"] });
  const inputs = new Map(answers().map((a) => [a.key[1], a]));
  assert.deepEqual([...inputs.keys()].sort(), ["a.example", "b.example"]);
  assert.equal(inputs.get("b.example")?.tone, "bad");
  assert.equal(inputs.get("b.example")?.verdict, "It is gone.");
  assert.equal(lastAnswer(key("b.example"))?.code, "GONE");
  forget();
  assert.deepEqual(answers(), []);
});

test("the last ten changes are kept, newest first, and no longer than they need be", () => {
  for (let i = 0; i < 12; i++)
    keepAnswer(key("a.example"), { ...good, facts: { A: String(i) } }, [
      { label: "A", gone: [String(i - 1)], come: [String(i).repeat(300)] },
    ]);
  const [{ changes }] = answers();
  assert.equal(changes.length, 10);
  assert.equal(changes[0].gone[0], "10");
  assert.equal(changes[0].come[0].length, 200);
  assert.equal(changes[9].gone[0], "1");
});

test("what an older version kept, and what no one wrote, does no harm", () => {
  disk.set(
    "diagnostics.answers",
    JSON.stringify([
      { key: key("old.example"), at: 5, facts: { A: "1" } },
      null,
      7,
      { key: "{", at: 1 },
      { key: "[1]", at: 1 },
      { key: key("x"), at: 3, tone: "purple", verdict: 4 },
    ]),
  );
  assert.deepEqual(
    answers().map((a) => [a.key[1], a.tone, a.verdict, a.changes]),
    [
      ["old.example", undefined, undefined, []],
      ["x", undefined, undefined, []],
    ],
  );
  disk.set("diagnostics.answers", "{}");
  assert.deepEqual(answers(), []);
});

test("two hundred answers are kept, and fewer where there is no room", () => {
  for (let i = 0; i < 210; i++) keepAnswer(key(`h${i}.example`), good, []);
  assert.equal(answers().length, 200);
  assert.equal(lastAnswer(key("h0.example")), null);
  room = 5000;
  keepAnswer(key("last.example"), good, []);
  assert.ok(lastAnswer(key("last.example")));
  assert.ok(answers().length < 100);
});

test("the last verdict of a tool on a target is found whatever its options were", () => {
  assert.equal(lastVerdict("dns-lookup", "a.example"), null);
  keepAnswer(keyOf({ slug: "dns-lookup", input: "a.example", options: { types: "MX" } }), good, []);
  assert.equal(lastVerdict("dns-lookup", "a.example")?.tone, "good");
  assert.equal(lastVerdict("dns-lookup", "a.exam"), null);
});

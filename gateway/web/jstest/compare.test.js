// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { changes, movedTimes } from "../assets/lib/compare.js";
import { ms } from "../assets/lib/format.js";

test("what is the same is no change", () => {
  assert.deepEqual(changes({}, {}), []);
  assert.deepEqual(changes({ Status: "200", MX: ["a", "b"] }, { Status: "200", MX: ["b", "a"] }), []);
  // A view that says a value alone one day and in a list the next means the same.
  assert.deepEqual(changes({ A: "192.0.2.1" }, { A: ["192.0.2.1"] }), []);
  assert.deepEqual(changes({ A: "" }, { A: [] }), []);
});

test("what went and what came", () => {
  assert.deepEqual(changes({ Status: "200" }, { Status: "503" }), [{ label: "Status", gone: ["200"], come: ["503"] }]);
  assert.deepEqual(changes({ A: ["1", "2"] }, { A: ["2", "3"] }), [{ label: "A", gone: ["1"], come: ["3"] }]);
  assert.deepEqual(changes({}, { A: "1" }), [{ label: "A", gone: [], come: ["1"] }]);
  assert.deepEqual(changes({ A: "1" }, {}), [{ label: "A", gone: ["1"], come: [] }]);
});

test("the order is that of the facts, new ones last", () => {
  const labels = changes({ A: "1", B: "1", C: "1" }, { D: "2", C: "2", B: "1", A: "2" }).map((change) => change.label);
  assert.deepEqual(labels, ["A", "C", "D"]);
});

test("what an older page or another tool kept does no harm", () => {
  const odd = /** @type {any} */ ({ A: null, B: 1, C: [1, null] });
  assert.deepEqual(changes(odd, { B: "1", C: ["1", "null"] }), []);
});

/** @type {[string, number | null, number | null, boolean][]} */
const moves = [
  ["by half and more than it moves by itself", 30, 45, true],
  ["back", 45, 30, true],
  ["by half, which is little", 4, 9, false],
  ["by much, which is a small part", 200, 240, false],
  ["from silence", null, 30, false],
  ["into silence", 30, null, false],
  ["not at all", 30, 30, false],
];

for (const [name, was, now, told] of moves) {
  test(`a time that moved ${name} is ${told ? "" : "not "}told`, () => {
    assert.deepEqual(
      movedTimes({ Median: [was, 10] }, { Median: [now, 10] }),
      told
        ? [{ label: "Median", gone: [ms(/** @type {number} */ (was))], come: [ms(/** @type {number} */ (now))] }]
        : [],
    );
  });
}

test("a time that was not kept before is no change", () => assert.deepEqual(movedTimes({}, { Median: [30, 10] }), []));

// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { spread, tagged } from "./paper.js";

spread();
const { factTables, linesOf, pictureOf } = await import("../assets/lib/place-parts.js");
const { layout } = await import("../assets/lib/place-paths.js");

/** @param {string | null} address @param {number | null} [averageMs] */
const hop = (address, averageMs = 1) => ({ address, averageMs, asn: null, hostname: null });
/**
 * @param {string} name
 * @param {string} path a letter for each router, a dot for none; the last one is the destination where it is reached
 */
const traced = (name, path, reached = true) => ({
  name,
  data: /** @type {any} */ ({
    reached,
    address: reached ? path.at(-1) : "destination",
    hops: [...path].map((letter) => hop(letter === "." ? null : letter)),
  }),
});

/** What is drawn, a line a row: the lane, the text, and the places that pass. @param {...any} traces */
const drawn = (...traces) => layout(traces).rows.map((r) => `${r.lane} ${r.text} ${r.lanes.join("")}`);

test("paths share the routers that they have in common", () => {
  const { rows, edges } = layout([traced("A", "axyz"), traced("B", "bxyz"), traced("C", "cyz")]);
  assert.deepEqual(
    rows.map((r) => `${r.lane} ${r.text} ${r.lanes.join("")}`),
    ["0 A 0", "0 a 0", "1 B 1", "1 b 1", "0 x 01", "2 C 2", "2 c 2", "0 y 012", "0 z destination 012"],
  );
  assert.equal(edges.filter((e) => e.shared).length, 2);
  assert.deepEqual(rows.at(-1)?.times, [1, 1, 1]);
});

test("every line goes down, and past no router of another path", () => {
  for (const paths of [
    ["abcz", "acz", "bz"],
    ["abcdz", "bacdz", "dcbaz"],
    ["a.b.z", "a..bz", ".z"],
    ["ababz", "babaz"],
    ["az", "abz", "acz", "adz"],
  ]) {
    const { rows, edges } = layout(paths.map((path, i) => traced(`P${i}`, path)));
    for (const e of edges) {
      assert.ok(e.from < e.to, String(paths));
      for (const row of rows.slice(e.from + 1, e.to)) assert.notEqual(row.lane, e.lane, String(paths));
    }
    paths.forEach((path, lane) => {
      const letters = rows
        .filter((r) => r.lanes.includes(lane) && /^[a-z]$|destination/.test(r.text))
        .map((r) => r.text[0]);
      assert.equal(letters.join(""), path.replaceAll(".", ""), String(paths));
    });
  }
});

test("hops without an address are one step, shared after the same router", () => {
  assert.deepEqual(drawn(traced("A", "a..z"), traced("B", "a..z")), [
    ...["0 A 0", "1 B 1", "0 a 01", "0 2 hops unknown 01", "0 z destination 01"],
  ]);
});

test("a path that ends nowhere says so, without the silence at its end", () =>
  assert.deepEqual(drawn(traced("A", "ab...", false)), ["0 A 0", "0 a 0", "0 b 0", "0 A: no answer beyond 0"]));

/** @type {any} */
const judge = { facts: (/** @type {any} */ d) => d.facts, times: (/** @type {any} */ d) => d.times };
/**
 * @param {string} name
 * @param {Record<string, string | string[]> | null} facts
 * @param {string} [code]
 * @param {...string} found codes of findings
 */
const side = (name, facts, code = "WELL", ...found) => ({
  ...{ name, why: facts ? "" : "Not asked: limited." },
  data: facts && {
    ...{ facts, times: {}, conclusion: { state: "ok", code, message: `It is ${code}.` } },
    findings: found.map((f) => ({ code: f, severity: "warn", message: `There is ${f}.`, subject: null })),
  },
});

/** The facts that differ. @param {...any} sides */
const differing = (...sides) =>
  linesOf("uptime", judge, sides)
    .filter((line) => line.differs)
    .map((line) => line.label);

test("what differs is marked", () => {
  assert.deepEqual(differing(side("A", { x: "1", y: "2" }), side("B", { x: "1", y: "3" })), ["y"]);
  assert.deepEqual(differing(side("A", { x: "1" }), side("B", {})), ["x"], "a fact that one has alone");
  assert.deepEqual(differing(side("A", { x: ["1", "2"] }), side("B", { x: ["2", "1"] })), [], "in another order");
  assert.deepEqual(differing(side("A", {}), side("B", {}, "ILL")), ["Result"]);
  assert.deepEqual(differing(side("A", {}, "WELL", "F", "G"), side("B", {}, "WELL", "F")), ["Findings of some places"]);
});

test("a place without a result is no difference, and says why", () => {
  const sides = [side("A", { x: "1" }), side("B", null), side("C", { x: "1" })];
  assert.deepEqual(differing(...sides), []);
  assert.deepEqual(linesOf("uptime", judge, sides)[0].cells[1], ["Not asked: limited."]);
});

test("findings that all places have are in no cell", () => {
  const [, found] = linesOf("uptime", judge, [side("A", {}, "WELL", "F", "G"), side("B", {}, "WELL", "F")]);
  assert.deepEqual(found.cells, [["There is G."], []]);
});

test("the table folds what is the same, and more differences than a dozen", () => {
  const facts = (/** @type {string} */ value) =>
    Object.fromEntries(Array.from({ length: 15 }, (_, i) => [`f${i}`, value]));
  const parts = factTables("uptime", judge, [
    side("A", { ...facts("1"), same: "x" }),
    side("B", { ...facts("2"), same: "x" }),
  ]);
  assert.deepEqual(
    parts.map((part) => tagged(part, "tr").length - 1),
    [12, 3, 2],
  );
  assert.equal(tagged(parts[0], "tr")[1].textContent, "f0 differs12");
});

test("hops are in the picture alone", () => {
  const sides = [side("A", { "Hop 1": "a", Reached: "yes" }), side("B", { "Hop 1": "b", Reached: "yes" })];
  assert.deepEqual(
    linesOf("traceroute", judge, sides).map((line) => line.label),
    ["Result", "Reached"],
  );
});

for (const [name, title, ...data] of /** @type {[string, string | undefined, ...any[]][]} */ ([
  ["paths", "The paths", traced("A", "az").data, traced("B", "bz").data],
  ["requests", "Where the time went", { timings: { totalMs: 9 } }, { timings: null }],
  ["probes", "Times", { replies: [{ rttMs: 1 }] }, { replies: [] }],
  ["compared times", "Times", { times: { T: [3, 1] } }, { times: { T: [null, 1] } }],
  ["nothing", undefined, { times: {} }, {}],
]))
  test(`the picture of ${name}`, () => {
    const node = pictureOf(
      judge,
      data.map((d, i) => ({ name: `P${i}`, data: d, why: "" })),
    );
    assert.equal(node ? tagged(node, "h2")[0].textContent : undefined, title);
  });

// @ts-check
// The results of several places below their cards: a picture on one scale, and a table of places by fact.

import { el, svg } from "./dom.js";
import { ms, plural } from "./format.js";
import { badge, folded, lines, none, section, table } from "./parts.js";
import { fit, label, picture, ticks, waterfall } from "./picture.js";
import { pathsPicture } from "./place-paths.js";
import { attempt, concernsIn, verdictOf } from "./view.js";

/** @typedef {import("./view.js").Judge} Judge */
/**
 * @typedef {{name: string, data: any, why: string, conclusion?: import("./view.js").Conclusion}} Side one place; data
 *   is null without a result, and why says so; conclusion is that of a failure
 */
/** @typedef {{label: string, cells: string[][], differs: boolean}} Line one fact, by place */

/** Facts that the picture shows. @type {Record<string, RegExp>} */
const pictured = { traceroute: /^Hop \d/ };

/** @param {string | string[] | null | undefined} fact */
const listOf = (fact) => [fact ?? []].flat().map(String).filter(Boolean);

/** Lists are compared as sets: servers answer in any order. @param {string[][]} cells */
const unequal = (cells) => new Set(cells.map((cell) => JSON.stringify([...new Set(cell)].sort()))).size > 1;

/**
 * Every fact by place, the result first. A place without a result is no difference.
 * @param {string} slug
 * @param {Judge} judge
 * @param {Side[]} sides
 * @returns {Line[]}
 */
export function linesOf(slug, judge, sides) {
  const facts = sides.map(({ data }) => (data ? attempt(() => judge.facts(data), {}) : null));
  const labels = [...new Set(facts.flatMap((f) => Object.keys(f ?? {})))].filter((l) => !pictured[slug]?.test(l));
  const line = (
    /** @type {string} */ name,
    /** @type {string[][]} */ cells,
    /** @type {string[][]} */ keys = cells,
  ) => ({
    label: name,
    cells,
    differs: unequal(keys.filter((_, i) => facts[i])),
  });
  const verdicts = sides.map(({ data }) => data && verdictOf(data));
  const concerns = sides.map(({ data }) => (data ? (concernsIn(data) ?? []) : []));
  const codes = concerns.map((list) => list.map((c) => `${c.code} ${c.subject ?? ""}`));
  const common = codes
    .filter((_, i) => facts[i])
    .reduce((some, list) => some.filter((c) => list.includes(c)), codes.flat());
  const own = concerns.map((list, i) => list.filter((_, n) => !common.includes(codes[i][n])).map((c) => c.text));
  const findings = line("Findings of some places", own, codes);
  return [
    line(
      "Result",
      verdicts.map((v, i) => [v ? v.text : sides[i].why]),
      verdicts.map((v) => [v?.code ?? ""]),
    ),
    ...(findings.differs ? [findings] : []),
    ...labels.map((name) =>
      line(
        name,
        facts.map((f) => listOf(f?.[name])),
      ),
    ),
  ];
}

/** More differences than these are folded. */
const mostShown = 12;

/**
 * The table: the results and what differs, and folded what is the same from all places.
 * @param {string} slug
 * @param {Judge} judge
 * @param {Side[]} sides
 * @returns {Node[]}
 */
export function factTables(slug, judge, sides) {
  const all = linesOf(slug, judge, sides);
  const shown = all.filter((line, i) => line.differs || (i === 0 && unequal(line.cells)));
  const parts = /** @type {const} */ ([
    ["By place", shown.slice(0, mostShown)],
    ["More differences", shown.slice(mostShown)],
    ["The same from all places", all.filter((line) => !shown.includes(line))],
  ]);
  return parts.flatMap(([title, rows], i) => {
    if (rows.length === 0) return [];
    const node = table({
      caption: title,
      hideCaption: true,
      columns: [{ title: "Fact" }, ...sides.map(({ name }) => ({ title: name }))],
      rows: rows.map(({ label: name, cells, differs }) => [
        el("span", {}, name, differs && " ", differs && badge("warn", "differs")),
        ...cells.map((cell, n) => (cell.length > 0 || sides[n].data ? lines(cell) : none("no result"))),
      ]),
    });
    return [i === 0 ? section(title, node) : folded(title, plural(rows.length, "fact"), node)];
  });
}

/** The times of a result, in milliseconds. @param {Judge} judge @param {any} d @returns {(number | null)[]} */
const timesOf = (judge, d) =>
  d.replies?.map((/** @type {any} */ r) => r.rttMs) ?? Object.values(judge.times?.(d) ?? {}).map(([t]) => t);

/**
 * One picture of all results: paths as a graph, requests phase by phase, or times as strips; null where the tool has
 * none.
 * @param {Judge} judge
 * @param {Side[]} sides
 * @returns {HTMLElement | null}
 */
export function pictureOf(judge, sides) {
  const some = sides.filter(({ data }) => data);
  if (some.every(({ data }) => Array.isArray(data.hops))) return section("The paths", pathsPicture(some));
  if (some.some(({ data }) => data.timings?.totalMs !== undefined))
    return section(
      "Where the time went",
      waterfall(some.map(({ name, data }) => ({ title: name, timings: data.timings ?? null }))),
    );
  const strips = some.map(({ name, data }) => ({
    name,
    times: timesOf(judge, data).filter((t) => typeof t === "number"),
  }));
  return strips.some(({ times }) => times.length > 0) ? section("Times", stripsPicture(strips)) : null;
}

/** @param {{name: string, times: number[]}[]} strips */
function stripsPicture(strips) {
  const scale = ticks(Math.max(0.1, ...strips.flatMap((s) => s.times)));
  const most = scale[scale.length - 1];
  const rows = strips.map(({ name, times }) => {
    const sorted = times.toSorted((a, b) => a - b);
    const middle = sorted[Math.floor((sorted.length - 1) / 2)];
    const said =
      times.length === 0
        ? "no answer"
        : times.length === 1
          ? ms(middle)
          : `${ms(sorted[0])} to ${ms(sorted[sorted.length - 1])}`;
    return { name, sorted, middle, said };
  });
  const bottom = rows.length * 46;
  return picture({
    label: `Times: ${rows.map(({ name, said, middle }) => `${name} ${said}, median ${ms(middle)}`).join("; ")}.`,
    height: bottom + 24,
    caption: "All on one scale: a stroke for each answer, a taller one for the median.",
    draw(width) {
      const at = (/** @type {number} */ time) => 2 + (time / most) * (width - 4);
      const stroke = (
        /** @type {number} */ t,
        /** @type {number} */ y,
        /** @type {number} */ tall,
        /** @type {number} */ wide,
      ) =>
        svg("rect", {
          class: "fill-info",
          x: at(t) - wide / 2,
          y: y - tall / 2,
          width: wide,
          height: tall,
          opacity: wide > 2 ? 1 : 0.6,
        });
      return [
        ...scale.flatMap((t, i) => [
          svg("line", { class: "line", x1: at(t), x2: at(t), y1: 0, y2: bottom + 4 }),
          label(
            at(t),
            bottom + 19,
            i === 0 ? "0" : ms(t),
            `soft ${i === 0 ? "" : i === scale.length - 1 ? "end" : "middle"}`,
          ),
        ]),
        ...rows.flatMap(({ name, sorted, middle, said }, i) => [
          label(1, i * 46 + 15, fit(name, width - 16 - said.length * 7.2), "strong"),
          label(width - 1, i * 46 + 15, said, "end"),
          ...sorted.map((t) => stroke(t, i * 46 + 31, 12, 2)),
          ...(sorted.length > 0 ? [stroke(middle, i * 46 + 31, 20, 3)] : []),
        ]),
      ];
    },
  });
}

// @ts-check
// The paths from several places as one graph: a lane for each place, a row for each router, and routers that paths have
// in common once.

import { svg } from "./dom.js";
import { listed, ms, plural } from "./format.js";
import { fit, label, picture } from "./picture.js";

/** @typedef {import("api").components["schemas"]["Traceroute"]} Traceroute */
/** @typedef {{name: string, data: Traceroute}} Traced the path from one place */
/** @typedef {"place" | "router" | "silent" | "end" | "lost"} Kind */
/** @typedef {{key: string, text: string, times: number[], kind: Kind}} Step */
/** @typedef {Step & {lanes: number[], lane: number}} Row lanes are the places whose paths pass it, lane where it is */
/**
 * @typedef {{from: number, to: number, lane: number, by: number, shared: boolean}} Edge between rows, drawn in a lane;
 *   that of one place, or shared
 */

/**
 * One path: the place, its routers, and how it ends. Hops without an address in a row are one step, the same one for
 * all paths that come to it from the same router.
 * @param {Traced} traced
 * @param {number} lane
 * @returns {Step[]}
 */
function stepsOf({ name, data }, lane) {
  /** @type {Step[]} */
  const steps = [{ key: `place ${lane}`, text: name, times: [], kind: "place" }];
  let silent = 0;
  const flush = () => {
    if (silent > 0)
      steps.push({
        key: `${steps[steps.length - 1].key} +${silent}`,
        text: `${plural(silent, "hop")} unknown`,
        times: [],
        kind: "silent",
      });
    silent = 0;
  };
  for (const hop of data.hops) {
    if (!hop.address) {
      silent += 1;
      continue;
    }
    flush();
    const again = steps.filter((s) => s.key.startsWith(`${hop.address} `)).length;
    const end = data.reached && hop.address === data.address;
    const owner = hop.asn ? `AS${hop.asn.asn}` : "";
    steps.push({
      key: `${hop.address} ${again}`,
      text: end ? `${hop.address} destination` : [hop.address, owner, hop.hostname].filter(Boolean).join("  "),
      times: hop.averageMs === null ? [] : [hop.averageMs],
      kind: end ? "end" : "router",
    });
  }
  // The silence before the end of a path that ends nowhere is its end.
  silent = 0;
  if (!data.reached) steps.push({ key: `lost ${lane}`, text: `${name}: no answer beyond`, times: [], kind: "lost" });
  return steps;
}

/**
 * The rows of all paths, in an order that each path follows, and the lines between them.
 * @param {Traced[]} traces
 * @returns {{rows: Row[], edges: Edge[]}}
 */
export function layout(traces) {
  /** @type {Row[]} */
  const rows = [];
  const paths = traces.map((traced, lane) => {
    let at = -1;
    /** @type {Row[]} */
    let own = [];
    /** @type {Row[]} */
    const path = [];
    for (const step of stepsOf(traced, lane)) {
      // A router that stands above what the path has passed already is drawn once more.
      const known = rows.findIndex((row, i) => i > at && row.key === step.key);
      if (known < 0) {
        own.push({ ...step, lanes: [lane], lane });
        path.push(own[own.length - 1]);
        continue;
      }
      const row = rows[known];
      rows.splice(known, 0, ...own);
      at = known + own.length;
      own = [];
      row.lanes.push(lane);
      row.times.push(...step.times);
      path.push(row);
    }
    rows.push(...own);
    return path;
  });
  const edges = paths.flatMap((path, by) => path.slice(1).map((row, i) => edge(rows, path[i], row, by)));
  /** @type {Map<string, Edge>} */
  const distinct = new Map();
  for (const e of edges) {
    const key = `${e.from} ${e.to} ${e.lane}`;
    distinct.set(key, { ...e, shared: distinct.has(key) });
  }
  return { rows, edges: [...distinct.values()] };
}

/** @param {Row[]} rows @param {Row} a @param {Row} b @param {number} by @returns {Edge} */
function edge(rows, a, b, by) {
  const [from, to] = [rows.indexOf(a), rows.indexOf(b)];
  const between = rows.slice(from + 1, to);
  const free = [a.lane, b.lane].find((lane) => between.every((row) => row.lane !== lane));
  // In its own lane a path meets no router of another.
  return { from, to, lane: free ?? by, by, shared: false };
}

const [rowHeight, laneWidth] = [24, 18];

/** @param {number} row */
const yOf = (row) => row * rowHeight + 14;
/** @param {number} lane */
const xOf = (lane) => lane * laneWidth + 9;

/** @param {Edge} e @param {Row[]} rows */
function line({ from, to, lane, by, shared }, rows) {
  const [x1, x2, x] = [rows[from].lane, rows[to].lane, lane].map(xOf);
  const [y1, y2, bend] = [yOf(from), yOf(to), rowHeight];
  const start = x === x1 ? `V${y2 - bend}` : `C${x1} ${y1 + bend / 2} ${x} ${y1 + bend / 2} ${x} ${y1 + bend}`;
  const end = x === x2 ? `V${y2}` : `C${x} ${y2 - bend / 2} ${x2} ${y2 - bend / 2} ${x2} ${y2}`;
  return svg("path", {
    class: `place-path path-${shared ? "shared" : (by % 6) + 1}`,
    d: `M${x1} ${y1}${start}V${y2 - bend}${end}`,
  });
}

/** @param {Row} row @param {number} i */
function dot({ kind, lane, lanes }, i) {
  const [x, y] = [xOf(lane), yOf(i)];
  if (kind === "lost")
    return svg("path", { class: "stroke-bad place-lost", d: `M${x - 5} ${y - 5}l10 10m0 -10l-10 10` });
  if (kind === "place")
    return svg("rect", { class: `dot fill-${(lane % 6) + 1}`, x: x - 7, y: y - 7, width: 14, height: 14 });
  const colour = kind === "end" ? "good" : kind === "silent" ? "sunken" : lanes.length > 1 ? "info" : (lane % 6) + 1;
  return svg("circle", {
    class: `${kind === "silent" ? "line" : "dot"} fill-${colour}`,
    cx: x,
    cy: y,
    r: kind === "end" ? 8 : 6,
  });
}

/** @param {number[]} times */
function span(times) {
  if (times.length === 0) return "";
  const [least, most] = [Math.min(...times), Math.max(...times)].map(ms);
  return least === most ? least : `${least} to ${most}`.replace(/ ms (to .* ms)/, " $1");
}

/** @param {Traced[]} traces @param {Row[]} rows */
function words(traces, rows) {
  const each = traces.map(({ name, data }, lane) => {
    const path = rows.filter((row) => row.lanes.includes(lane) && row.kind === "router");
    return `${name}: ${path.map((row) => row.text.split(" ")[0]).join(", ") || "no router answered"}, destination ${
      data.reached ? "reached" : "not reached"
    }`;
  });
  const common = rows.filter((row) => row.kind === "router" && row.lanes.length > 1);
  return `Paths by router. ${each.join("; ")}. ${
    common.length > 0 ? `In common: ${listed(common.map((row) => row.text.split(" ")[0]))}.` : "No router in common."
  }`;
}

/**
 * @param {Traced[]} traces
 * @returns {HTMLElement}
 */
export function pathsPicture(traces) {
  const { rows, edges } = layout(traces);
  return picture({
    label: words(traces, rows),
    height: rows.length * rowHeight + 4,
    caption:
      "From top to bottom: a square for each place, a dot for each router on the path, the larger " +
      "dot for the destination. If lines join, the paths pass the same router. Times are to that " +
      "router and back, from the nearest to the farthest place.",
    draw: (width) => {
      const left = traces.length * laneWidth + 8;
      return [
        ...edges.map((e) => line(e, rows)),
        ...rows.map(dot),
        ...rows.flatMap(({ text, times, kind }, i) => {
          const time = span(times);
          const room = width - left - time.length * 7.2 - 16;
          const style = kind === "place" || kind === "end" ? "strong" : kind === "router" ? "" : "soft";
          return [label(left, yOf(i) + 4, fit(text, room), style), label(width - 1, yOf(i) + 4, time, "soft end")];
        }),
      ];
    },
  });
}

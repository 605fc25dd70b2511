// @ts-check
// Pictures: inline SVG, drawn one unit a pixel at the width that there is, so that text in them keeps its size on every
// screen. Each has a text equivalent. Colours are classes: line, fill- and stroke- with a tone, fill-soft, fill-1 to
// fill-6 (categories), stroke-2, and for text: soft, strong, end, middle, mono.

import { el, svg } from "./dom.js";
import { ms, number } from "./format.js";

/** How wide a picture is drawn before its place is measured: as the one before it, for most are as wide as the page. */
let usualWidth = 720;

/**
 * A picture that is drawn anew when its width changes. Its height must not depend on when it is drawn, or the page
 * would jump.
 * @param {{label: string, height: number | ((width: number) => number), draw: (width: number) => Node[], caption?:
 *   string}} what
 *   label says in words what the picture shows, with its numbers; caption is shown beneath
 * @returns {HTMLElement}
 */
export function picture({ label, height, draw, caption }) {
  const tall = typeof height === "function" ? height : () => height;
  const canvas = svg("svg", { role: "img", "aria-label": label, class: "picture" });
  let drawn = 0;
  const redraw = (/** @type {number} */ width) => {
    if (width === drawn || width <= 0) return;
    drawn = width;
    canvas.setAttribute("width", String(width));
    canvas.setAttribute("height", String(tall(width)));
    canvas.setAttribute("viewBox", `0 0 ${width} ${tall(width)}`);
    canvas.replaceChildren(...draw(width));
  };
  redraw(usualWidth);
  const figure = el("figure", { class: "figure" }, canvas, caption && el("figcaption", {}, caption));
  new ResizeObserver(([entry]) => {
    redraw(Math.floor(entry.contentRect.width));
    usualWidth = drawn;
  }).observe(figure);
  return figure;
}

/**
 * @param {number} x
 * @param {number} y the baseline
 * @param {string} text
 * @param {string} [classes]
 * @returns {SVGTextElement}
 */
export function label(x, y, text, classes = "") {
  return svg("text", { x, y, class: classes }, text);
}

/**
 * Cuts a text to about what fits; the whole of it belongs into the table below the picture.
 * @param {string} text
 * @param {number} width pixels, at the size that pictures have (13 px)
 * @returns {string}
 */
export function fit(text, width) {
  const most = Math.max(1, Math.floor(width / 7.2));
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

/**
 * Round numbers for a scale from 0 to at least max.
 * @param {number} max
 * @param {number} [about] how many steps there should be
 * @returns {number[]}
 */
export function ticks(max, about = 4) {
  if (!(max > 0)) return [0, 1];
  const rough = max / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5].find((m) => m * power >= rough) ?? 10) * power;
  const list = [0];
  while (list[list.length - 1] < max - step * 1e-9) list.push(list.length * step);
  return list;
}

/** @typedef {{dnsMs: number, connectMs: number, tlsMs: number | null, firstByteMs: number, totalMs: number}} Timings */
/**
 * @typedef {{title: string, timings: Timings | null, note?: string}} WaterfallRow the note stands beside the total, or
 *   in its place
 */
/** @typedef {{name: string, took: number, n: number}} Phase n is its colour */

const phases = /** @type {const} */ ([
  ["DNS", "dnsMs", 1],
  ["Connect", "connectMs", 2],
  ["TLS", "tlsMs", 3],
  ["First byte", "firstByteMs", 4],
]);

/** Failed attempts and waiting are in no phase, only in the total. Less than this share of it is not drawn. */
const leastOther = 0.05;

/**
 * The phases that a request had, and what is left of its total.
 * @param {Timings | null} t
 * @returns {Phase[]}
 */
function phasesOf(t) {
  if (!t) return [];
  const list = phases
    .map(([name, key, n]) => ({ name, took: t[key] ?? 0, n: /** @type {number} */ (n) }))
    .filter((p) => p.took > 0);
  const other = list.reduce((rest, p) => rest - p.took, t.totalMs);
  return other > t.totalMs * leastOther ? [...list, { name: "Other", took: other, n: 6 }] : list;
}

/**
 * The timing waterfall of requests: DNS, connect, TLS, first byte, on one scale. A single request has a line for each
 * phase,
 * several have one bar each; they follow each other in time where sequential is set, else all start at 0.
 * @param {WaterfallRow[]} rows
 * @param {{sequential?: boolean, caption?: string}} [how]
 * @returns {HTMLElement}
 */
export function waterfall(rows, { sequential = false, caption } = {}) {
  const bars = rows.map((r) => phasesOf(r.timings));
  const totals = rows.map((r) => r.timings?.totalMs ?? 0);
  const starts = rows.map((_, i) => (sequential ? totals.slice(0, i).reduce((sum, t) => sum + t, 0) : 0));
  // The bars take the whole width: the scale ends with them, not at the next round number.
  const longest = Math.max(0.1, ...totals.map((t, i) => starts[i] + t));
  const single = rows.length === 1 && bars[0].length > 1;
  const bottom = single ? bars[0].length * 28 : rows.length * 46;
  const words = rows
    .map(
      (r, i) =>
        `${r.title}: ${bars[i]
          .map((p) => `${p.name} ${ms(p.took)}`)
          .concat(`in all ${totalOf(r)}`)
          .join(", ")}`,
    )
    .join("; ");
  const figure = picture({
    label: `Timing: ${words}.`,
    height: bottom + 24,
    caption,
    draw: (width) => {
      const [left, right] = single ? [82, width - 72] : [1, width - 1];
      const at = (/** @type {number} */ time) => left + (time / longest) * (right - left);
      return scale(longest, at, bottom, width).concat(
        single
          ? steps(bars[0], at, width)
          : rows.flatMap((row, i) => waterfallRow(row, bars[i], i * 46, starts[i], at, width)),
      );
    },
  });
  if (!single) figure.append(legend([...new Map(bars.flat().map((p) => [p.name, p.n]))].sort(([, a], [, b]) => a - b)));
  return figure;
}

/**
 * Upright lines at round times, with the times beneath.
 * @param {number} longest
 * @param {(time: number) => number} at
 * @param {number} bottom
 * @param {number} width
 * @returns {SVGElement[]}
 */
function scale(longest, at, bottom, width) {
  // A time takes up to 45 pixels to write, and the last may stand to the left of its line.
  const room = Math.max(1, Math.floor((at(longest) - at(0)) / 70));
  return ticks(longest, Math.min(5, room))
    .filter((t) => t <= longest)
    .flatMap((t) => {
      const x = at(t);
      const anchor = x < 20 ? "" : x > width - 30 ? "end" : "middle";
      return [
        svg("line", { class: "line", x1: x, x2: x, y1: 0, y2: bottom + 4 }),
        label(x, bottom + 19, ms0(t, longest), `soft ${anchor}`),
      ];
    });
}

/**
 * The phases of one request, a line each.
 * @param {Phase[]} bars
 * @param {(time: number) => number} at
 * @param {number} width
 * @returns {SVGElement[]}
 */
function steps(bars, at, width) {
  let time = 0;
  return bars.flatMap(({ name, took, n }, i) => {
    const from = time;
    time += took;
    return [
      label(1, i * 28 + 18, name),
      svg("rect", {
        class: `fill-${n}`,
        x: at(from),
        y: i * 28 + 5,
        width: Math.max(2, at(time) - at(from)),
        height: 18,
        rx: 2,
      }),
      label(width - 1, i * 28 + 18, ms(took), "end"),
    ];
  });
}

/** @param {number} t @param {number} longest */
function ms0(t, longest) {
  return longest >= 10_000 ? `${t / 1000} s` : `${number(Number(t.toFixed(2)))} ms`;
}

/** @param {WaterfallRow} row */
function totalOf({ timings, note }) {
  return [note, timings && ms(timings.totalMs)].filter(Boolean).join(", ") || "no answer";
}

/**
 * @param {WaterfallRow} row
 * @param {Phase[]} bars
 * @param {number} y
 * @param {number} start
 * @param {(time: number) => number} at
 * @param {number} width
 * @returns {SVGElement[]}
 */
function waterfallRow(row, bars, y, start, at, width) {
  const total = totalOf(row);
  const nodes = /** @type {SVGElement[]} */ ([
    label(1, y + 15, fit(row.title, width - 16 - total.length * 7.2), "strong"),
    label(width - 1, y + 15, total, "end"),
  ]);
  let time = start;
  let from = at(start);
  for (const { took, n } of bars) {
    time += took;
    // What is too short for its true length is still to be seen, and hidden by nothing that follows.
    const length = Math.max(1.5, at(time) - from);
    nodes.push(svg("rect", { class: `fill-${n}`, x: from, y: y + 22, width: length, height: 14, rx: 1 }));
    from += length;
  }
  return nodes;
}

/**
 * What the colours of categories stand for.
 * @param {[string, number][]} entries a name and its category, 1 to 6
 * @returns {HTMLElement}
 */
function legend(entries) {
  return el(
    "ul",
    { class: "legend", "aria-hidden": "true" },
    ...entries.map(([name, n]) =>
      el(
        "li",
        {},
        svg("svg", { width: 12, height: 12 }, svg("rect", { class: `fill-${n}`, width: 12, height: 12, rx: 2 })),
        name,
      ),
    ),
  );
}

/** @typedef {{at: number | string, title: string, tone?: import("./view.js").Tone}} Moment */
/** @typedef {{title: string, written: string, x: number, tone?: string}} Mark a moment on the line */
/**
 * @typedef {Mark & {row: number, from: number, to: number, anchor: string}} Placed with its label, which goes from
 *   there to there
 */

/** Where the line of time is, where the first label is, and how high a label is. */
const lineY = 36;
const labelsY = 64;
const labelHeight = 42;

/**
 * A line of time with moments on it and today marked. Labels stand below their moments, as many beside each other as
 * fit.
 * @param {Moment[]} moments at least one; RFC 3339 or Unix milliseconds
 * @param {{label: string, span?: {from: number | string, to: number | string, tone: import("./view.js").Tone}, now?:
 *   number, write: (at: number) => string}} how
 *   label is the text equivalent; span is drawn as a thick bar, pale where it is past; write writes a moment's day
 * @returns {HTMLElement}
 */
export function timeline(moments, { label: words, span, now = Date.now(), write }) {
  const all = moments
    .map((m) => ({ ...m, at: new Date(m.at).getTime() }))
    .filter((m) => Number.isFinite(m.at))
    .sort((a, b) => a.at - b.at);
  const times = all.map((m) => m.at).concat(now);
  const first = Math.min(...times);
  const length = Math.max(1, Math.max(...times) - first);
  const scale = (/** @type {number} */ width) => (/** @type {number} */ at) =>
    8 + ((at - first) / length) * (width - 16);
  const place = (/** @type {number} */ width) =>
    placeLabels(
      all.map((m) => ({ ...m, written: write(m.at), x: scale(width)(m.at) })),
      width,
    );
  return picture({
    label: words,
    height: (width) => labelsY - 18 + (1 + Math.max(-1, ...place(width).map((m) => m.row))) * labelHeight,
    draw: (width) => {
      const x = scale(width);
      const placed = place(width);
      return [
        svg("line", { class: "line", x1: 2, x2: width - 2, y1: lineY, y2: lineY }),
        ...(span ? spanNodes(x(new Date(span.from).getTime()), x(new Date(span.to).getTime()), x(now), span.tone) : []),
        ...placed.flatMap((m) => momentNodes(m, placed)),
        ...todayNodes(x(now), `Today, ${write(now)}`, width),
      ];
    },
  });
}

/** @param {number} from @param {number} to @param {number} now @param {string} tone */
function spanNodes(from, to, now, tone) {
  const bar = (/** @type {number} */ a, /** @type {number} */ b, /** @type {number} */ opacity) =>
    b > a && svg("rect", { class: `fill-${tone}`, x: a, y: lineY - 6, width: Math.max(2, b - a), height: 12, opacity });
  return [bar(from, Math.min(to, now), 0.35), bar(Math.max(from, now), to, 1)].filter((node) => node !== false);
}

/** @param {number} x @param {string} text @param {number} width */
function todayNodes(x, text, width) {
  const half = textWidth(text) / 2;
  const [at, anchor] = x < half ? [0, "start"] : x > width - half ? [width, "end"] : [x, "middle"];
  return [
    svg("path", { class: "fill-info", d: `M${x - 6} 18h12l-4.5 6v${lineY - 12}h-3v${12 - lineY}z` }),
    label(at, 13, text, `strong ${anchor}`),
  ];
}

/** @param {Placed} m @param {Placed[]} all */
function momentNodes(m, all) {
  // A leader ends above a label that is in its way.
  const row = Math.min(m.row, ...all.filter((p) => p.row < m.row && p.from <= m.x && m.x <= p.to).map((p) => p.row));
  const y = labelsY + m.row * labelHeight;
  const at = m.anchor === "end" ? m.to : m.anchor === "middle" ? (m.from + m.to) / 2 : m.from;
  return [
    svg("line", { class: "line", x1: m.x, x2: m.x, y1: lineY + 6, y2: labelsY + row * labelHeight - 13 }),
    svg("circle", { class: `dot fill-${m.tone ?? "soft"}`, cx: m.x, cy: lineY, r: 6 }),
    label(at, y, m.title, `strong ${m.anchor}`),
    label(at, y + 17, m.written, `soft ${m.anchor}`),
  ];
}

/** @param {string} text */
const textWidth = (text) => text.length * 7.6;

/**
 * Gives each label a row and a side on which it is in no other's way, in as few rows as it finds.
 * @param {Mark[]} marks in the order of time
 * @param {number} width
 * @returns {Placed[]}
 */
function placeLabels(marks, width) {
  const cost = (/** @type {Placed[]} */ list) =>
    Math.max(...list.map((p) => p.row)) +
    list.filter((a) => list.some((b) => a !== b && collide(a, b))).length * list.length;
  const tries = [marks, marks.slice().reverse()].flatMap((list) => [
    placeInOrder(list, width, true),
    placeInOrder(list, width, false),
  ]);
  return tries.reduce((best, list) => (cost(list) < cost(best) ? list : best));
}

/**
 * @param {Mark[]} marks @param {number} width @param {boolean} centred whether labels are put below the middle where
 *   they can be
 */
function placeInOrder(marks, width, centred) {
  const placed = /** @type {Placed[]} */ ([]);
  for (const m of marks) {
    const w = Math.max(textWidth(m.title), textWidth(m.written));
    const way = (/** @type {string} */ anchor, /** @type {number} */ from) => ({ ...m, anchor, from, to: from + w });
    const start = way("start", m.x - 2),
      end = way("end", m.x + 2 - w);
    const ways = [...(centred ? [way("middle", m.x - w / 2)] : []), start, end].filter(
      (c) => c.from >= 0 && c.to <= width,
    );
    const last = Math.max(-1, ...placed.map((p) => p.row)) + 1;
    const options = [...placed, null].flatMap((_, row) => ways.map((c) => ({ ...c, row })));
    placed.push(
      options.find((o) => !placed.some((p) => collide(o, p))) ?? { ...(m.x > width / 2 ? end : start), row: last },
    );
  }
  return placed;
}

/** @param {Placed} a @param {Placed} b whether one's text is over the other's text or leader */
function collide(a, b) {
  if (a.row === b.row) return a.from < b.to + 12 && b.from < a.to + 12;
  const [upper, lower] = a.row < b.row ? [a, b] : [b, a];
  return lower.x > upper.from - 3 && lower.x < upper.to + 3;
}

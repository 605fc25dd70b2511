// @ts-check
// The live line of round trips. uPlot (vendor/uplot, a classic script) draws it on a canvas; colours are those that the
// style sheet gives to a few empty elements, so that themes and forced colours hold on the canvas too.

import { byId, el } from "./dom.js";
import { ms } from "./format.js";

/**
 * @typedef {{x: number[], y: (number | null)[], marks: ("late" | "failed" | null)[]}} Points x in seconds, y in
 *   milliseconds; what is null is a gap
 */

/**
 * The members of uPlot that are used here.
 * @typedef {object} Plot
 * @property {HTMLElement} root
 * @property {(data: [number[], (number | null)[]]) => void} setData
 * @property {(size: {width: number, height: number}) => void} setSize
 * @property {(rebuild?: boolean) => void} redraw
 * @property {(value: number, scale: string, onCanvas?: boolean) => number} valToPos
 * @property {CanvasRenderingContext2D} ctx
 * @property {{left: number, top: number, width: number, height: number}} bbox
 * @property {{idx: number | null}} cursor
 */

/** @type {Promise<(new (...all: any[]) => Plot) | null> | undefined} */
let loading;

/** uPlot, loaded when it is first needed; null where it did not load. The page says where it is. */
function library() {
  loading ??= new Promise((resolve) => {
    const script = el("script", { src: byId("connection").dataset.plot });
    script.addEventListener("load", () => resolve(/** @type {any} */ (globalThis).uPlot));
    script.addEventListener("error", () => {
      loading = undefined;
      resolve(null);
    });
    document.head.append(script);
  });
  return loading;
}

const tall = 240;
const font = "12px system-ui, sans-serif";

/**
 * A chart that is as wide as its place and as high from the start as it will be.
 * @returns {{node: HTMLElement, set: (points: Points, from: number, to: number) => void, describe: (text: string) =>
 *   void}}
 */
export function liveChart() {
  const inks = Object.fromEntries(
    ["line", "text", "grid", "late", "failed"].map((name) => [
      name,
      el("span", { class: `ink ink-${name}`, hidden: true }),
    ]),
  );
  const place = el(
    "div",
    { class: "chart", role: "img", "aria-label": "Round trip of each sample over time." },
    ...Object.values(inks),
  );
  const readout = el("span", { "aria-hidden": "true" });
  const ink = (/** @type {string} */ name) => () => getComputedStyle(inks[name]).color;
  /** @type {Points} */
  let points = { x: [], y: [], marks: [] };
  let span = [0, 1];
  /** @type {Plot | null} */
  let plot = null;

  const axis = (/** @type {string} */ unit, /** @type {number} */ size) => ({
    stroke: ink("text"),
    font,
    size,
    gap: 6,
    grid: { stroke: ink("grid"), width: 1 },
    ticks: { show: false },
    values: (/** @type {Plot} */ _, /** @type {number[]} */ list) => list.map((v) => `${v} ${unit}`),
  });
  const options = {
    height: tall,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 8 } },
    padding: [12, 16, 0, 0],
    scales: {
      x: { time: false, range: () => span },
      y: {
        range: (/** @type {Plot} */ _, /** @type {number | null} */ __, /** @type {number | null} */ max) => [
          0,
          Math.max(1, (max ?? 0) * 1.15),
        ],
      },
    },
    axes: [axis("s", 30), axis("ms", 68)],
    series: [
      {},
      {
        stroke: ink("line"),
        width: 2,
        points: {
          size: 5,
          fill: ink("line"),
          filter: (/** @type {Plot} */ _, /** @type {number} */ __, /** @type {boolean} */ all) =>
            all ? null : alone(points.y),
        },
      },
    ],
    hooks: {
      draw: [(/** @type {Plot} */ u) => drawMarks(u, points, span, ink)],
      setCursor: [
        (/** @type {Plot} */ u) => {
          readout.textContent = told(points, u.cursor.idx);
        },
      ],
    },
  };

  library().then(
    (UPlot) =>
      UPlot &&
      new ResizeObserver(([entry]) => {
        const width = Math.floor(entry.contentRect.width);
        if (width <= 0) return;
        if (plot) plot.setSize({ width, height: tall });
        else plot = new UPlot({ ...options, width }, [points.x, points.y], place);
      }).observe(place),
  );
  const redraw = () => plot?.redraw(false);
  new MutationObserver(redraw).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  for (const query of ["(prefers-color-scheme: dark)", "(forced-colors: active)"])
    matchMedia(query).addEventListener("change", redraw);

  return {
    node: el(
      "figure",
      { class: "figure" },
      place,
      el(
        "figcaption",
        { class: "readout" },
        el("span", {}, "A gap has no time: a triangle marks a late sample, a cross a failed one."),
        readout,
      ),
    ),
    set: (now, from, to) => {
      // A timer may be a hair early: what lies before the first moment would count for no scale, and run out of the
      // chart.
      points = { ...now, x: now.x.map((moment) => Math.max(0, moment)) };
      span = [from, to];
      plot?.setData([points.x, points.y]);
    },
    describe: (text) => place.setAttribute("aria-label", text),
  };
}

/**
 * The values between two gaps: of these there is no line, so they are drawn as points.
 * @param {(number | null)[]} y
 * @returns {number[]} indices
 */
function alone(y) {
  const gap = (/** @type {number} */ i) => (y[i] ?? null) === null;
  return y.map((_, i) => i).filter((i) => !gap(i) && gap(i - 1) && gap(i + 1));
}

/**
 * What has no place on the line stands at the bottom: a triangle where late, a cross where failed.
 * @param {Plot} u
 * @param {Points} points
 * @param {number[]} span
 * @param {(name: string) => () => string} ink
 */
function drawMarks({ ctx, bbox, valToPos }, { x, marks }, [from, to], ink) {
  const r = 4 * devicePixelRatio;
  const bottom = bbox.top + bbox.height - r * 1.5;
  ctx.save();
  ctx.lineWidth = 2 * devicePixelRatio;
  marks.forEach((mark, i) => {
    if (!mark || x[i] < from || x[i] > to) return;
    const at = valToPos(x[i], "x", true);
    ctx.strokeStyle = ink(mark)();
    ctx.stroke(
      new Path2D(
        mark === "late"
          ? `M${at - r} ${bottom + r}H${at + r}L${at} ${bottom - r}Z`
          : `M${at - r} ${bottom - r}L${at + r} ${bottom + r}M${at + r} ${bottom - r}L${at - r} ${bottom + r}`,
      ),
    );
  });
  ctx.restore();
}

/**
 * @param {Points} points
 * @param {number | null} i
 */
function told({ x, y, marks }, i) {
  if (i === null || x[i] === undefined) return "";
  return `At ${x[i].toFixed(1)} s: ${marks[i] ?? (y[i] === null ? "not counted" : ms(y[i]))}`;
}

// @ts-check
// The pictures of a watch on a canvas, which the visitor can keep as a file: a heat map of a path (hop by round) or a
// strip of rounds, with the legend in it. Whatever a colour says a shape says too. Colours are asked for by name (see
// watch.js).

import { number, privateHop } from "./format.js";
import { ticks } from "./picture.js";
import { median, percentile } from "./stats.js";
import { answers } from "./watch-record.js";
import { clock, rowsOf } from "./watch-words.js";

/** @typedef {import("./watch-record.js").Entry} Entry */
/** @typedef {import("./watch-record.js").Hop} Hop */
/** @typedef {(name: string) => string} Ink */
/** @typedef {{column: number, row: number}} Cell row counts from 0 and is 0 in a strip */

/**
 * Where everything is, in pixels of the page.
 * @typedef {object} Plan
 * @property {boolean} path
 * @property {Entry[]} shown as many of the latest as there is room for
 * @property {number} width
 * @property {number} left where the first column begins
 * @property {number} each how wide a column is
 * @property {number} top
 * @property {number} tall how high a row is, or the whole plot of a strip
 * @property {number} rows
 * @property {number} bottom of the rows
 * @property {{x: number, y: number, item: Item}[]} legend
 * @property {number} height
 * @property {number[]} bounds of the colours, in milliseconds
 */

/**
 * @typedef {{wide: number, text: string, draw: (ctx: CanvasRenderingContext2D, ink: Ink, x: number, y: number) =>
 *   void}} Item
 */

const font = "12px system-ui, sans-serif";
/** A column is at least so wide: narrower ones look like one. */
const least = 4;
const lane = 22; // of a strip, below its plot
const times = 22; // the moments below the columns
const line = 22; // of the legend

/** Round numbers that the bounds of colours are taken from. */
const round = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];

/**
 * The bounds between six colours: five round numbers, the last of them below the slowest twentieth.
 * @param {number[]} list
 * @returns {number[]}
 */
export function boundsOf(list) {
  const high = percentile(list, 95) ?? 0;
  const last = Math.max(
    4,
    round.findLastIndex((bound) => bound < high),
  );
  return round.slice(last - 4, last + 1);
}

/**
 * The hops that answered at all, by their places.
 * @param {Entry[]} entries
 * @returns {Set<number>}
 */
export function heardHops(entries) {
  return new Set(
    answers(entries).flatMap(({ got }) => (got.hops ?? []).flatMap((h, i) => (h.times.length > 0 ? [i] : []))),
  );
}

/**
 * @param {Entry[]} entries
 * @param {{path: boolean, probes: boolean}} what
 * @param {number} width
 * @param {(text: string) => number} measure how wide a text is
 * @returns {Plan}
 */
export function planOf(entries, { path, probes }, width, measure) {
  const narrow = width < 640;
  // A strip has room for the longest of its labels from the start, so that columns do not move.
  const left = path ? (narrow ? 26 : 190) : Math.max(58, Math.ceil(measure("5,000 ms")) + 12);
  const most = Math.max(1, Math.floor((width - left) / least));
  // Room for twice as many whenever it is full, so that columns do not move at every round.
  let room = 24;
  while (room < entries.length && room < most) room *= 2;
  room = Math.min(room, most);
  const shown = entries.slice(-room);
  const rows = path ? Math.max(1, rowsOf(entries)) : 1;
  const tall = path ? 22 : narrow ? 130 : 170;
  const top = 18;
  const bottom = top + rows * tall + (path ? 0 : lane);
  const bounds = boundsOf(answers(entries).flatMap(({ got }) => (got.hops ?? []).flatMap((h) => h.times)));
  const legend = placed(path ? heatItems(bounds) : stripItems(probes), width, bottom + times + 8, measure);
  return {
    path,
    shown,
    width,
    left,
    each: (width - left) / room,
    top,
    tall,
    rows,
    bottom,
    legend,
    height: (legend.at(-1)?.y ?? bottom) + line,
    bounds,
  };
}

/** @param {Item[]} items @param {number} width @param {number} top @param {(text: string) => number} measure */
function placed(items, width, top, measure) {
  let [x, y] = [0, top];
  return items.map((item) => {
    const wide = item.wide + 6 + measure(item.text);
    if (x > 0 && x + wide > width) [x, y] = [0, y + line];
    const at = { x, y, item };
    x += wide + 18;
    return at;
  });
}

/**
 * What is at a place of the picture.
 * @param {Plan} plan
 * @param {number} x
 * @param {number} y
 * @returns {Cell | null}
 */
export function cellAt({ left, each, top, tall, rows, bottom, shown, path }, x, y) {
  const column = Math.floor((x - left) / each);
  if (column < 0 || column >= shown.length || y < top || y >= bottom) return null;
  return { column, row: path ? Math.min(rows - 1, Math.floor((y - top) / tall)) : 0 };
}

/**
 * @param {CanvasRenderingContext2D} ctx in pixels of the page
 * @param {Plan} plan
 * @param {Ink} ink
 * @param {Cell | null} chosen
 */
export function draw(ctx, plan, ink, chosen) {
  ctx.font = font;
  ctx.textBaseline = "middle";
  if (plan.path) drawPath(ctx, plan, ink);
  else drawStrip(ctx, plan, ink);
  drawMoments(ctx, plan, ink);
  for (const [i, { turned }] of plan.shown.entries())
    if (turned) mark(ctx, ink, plan.left + (i + 0.5) * plan.each, plan.top - 10);
  for (const { x, y, item } of plan.legend) {
    item.draw(ctx, ink, x, y);
    write(ctx, ink("soft"), item.text, x + item.wide + 6, y + 8);
  }
  if (chosen) outline(ctx, plan, ink, chosen);
}

/** @param {CanvasRenderingContext2D} ctx @param {Plan} plan @param {Ink} ink @param {Cell} chosen */
function outline(ctx, { left, each, top, tall, path, bottom }, ink, { column, row }) {
  ctx.strokeStyle = ink("text");
  ctx.lineWidth = 2;
  const y = path ? top + row * tall : top;
  ctx.strokeRect(left + column * each, y, Math.max(3, each), path ? tall : bottom - top);
}

/**
 * @param {CanvasRenderingContext2D} ctx @param {string} colour @param {string} text @param {number} x @param {number} y
 *   @param {CanvasTextAlign} [align]
 */
function write(ctx, colour, text, x, y, align = "left") {
  ctx.fillStyle = colour;
  ctx.textAlign = align;
  ctx.fillText(text, x, y);
}

/**
 * The moments of some rounds, as many as there is room for, and none twice. @param {CanvasRenderingContext2D} ctx
 * @param {Plan} plan @param {Ink} ink
 */
function drawMoments(ctx, { shown, left, each, bottom, width }, ink) {
  const step = Math.max(1, Math.ceil(64 / each));
  let before = "";
  for (let i = 0; i < shown.length; i += step) {
    const x = left + i * each;
    if (x + 50 > width) break;
    const text = clock(shown[i].at);
    if (text === before) continue;
    before = text;
    ctx.fillStyle = ink("grid");
    ctx.fillRect(Math.round(x), bottom + 1, 1, 5);
    write(ctx, ink("soft"), text, x, bottom + 14);
  }
}

/** @param {CanvasRenderingContext2D} ctx @param {Plan} plan @param {Ink} ink */
function drawPath(ctx, plan, ink) {
  const { shown, left, each, top, tall, rows, width } = plan;
  const heard = heardHops(shown);
  for (let row = 0; row < rows; row++) {
    const y = top + row * tall;
    write(ctx, ink("soft"), String(row + 1), 18, y + tall / 2, "right");
    if (left > 100) write(ctx, ink("text"), fitted(ctx, nameOf(shown, row), left - 36), 28, y + tall / 2);
    // Where rounds are still to come there is a line for them.
    const end = left + shown.length * each + 6;
    ctx.fillStyle = ink("grid");
    if (end < width) ctx.fillRect(end, Math.round(y + tall / 2), width - end, 1);
  }
  shown.forEach((entry, i) => {
    const x = left + i * each;
    if (!entry.got) gap(ctx, ink, entry.kind, x, top, each, rows * tall);
    else
      for (let row = 0; row < rows; row++)
        drawHop(ctx, plan, ink, entry.got.hops?.[row], heard.has(row), x, top + row * tall);
  });
}

/** Who answered last at a hop. @param {Entry[]} shown @param {number} row */
function nameOf(shown, row) {
  const hop = shown.findLast((e) => e.got?.hops?.[row] && (e.got.hops[row].who.length > 0 || e.got.hops[row].hidden))
    ?.got?.hops?.[row];
  return hop ? (hop.who[0] ?? privateHop) : "no answer";
}

/** @param {CanvasRenderingContext2D} ctx @param {string} text @param {number} room */
function fitted(ctx, text, room) {
  let cut = text;
  while (cut.length > 1 && ctx.measureText(cut === text ? text : `${cut}…`).width > room) cut = cut.slice(0, -1);
  return cut === text ? text : `${cut}…`;
}

/**
 * @param {CanvasRenderingContext2D} ctx @param {Plan} plan @param {Ink} ink @param {Hop | undefined} hop @param
 *   {boolean} heard @param {number} x @param {number} y
 */
function drawHop(ctx, { each, tall, bounds }, ink, hop, heard, x, y) {
  const between = each >= 8 ? 1 : 0;
  /** @type {[number, number, number, number]} */
  const box = [x + between, y + 1, each - 2 * between, tall - 2];
  ctx.fillStyle = ink("ground");
  ctx.fillRect(...box);
  if (!hop) return;
  const time = median(hop.times);
  if (time === null) {
    if (heard) cross(ctx, ink, x + each / 2, y + tall / 2, Math.min(5, each / 2 - 0.5));
    else dot(ctx, ink, x + each / 2, y + tall / 2);
    return;
  }
  ctx.fillStyle = ink(`heat-${heatOf(time, bounds)}`);
  ctx.fillRect(...box);
  if (hop.times.length < hop.sent) notch(ctx, ink, box[0] + box[2], box[1] + box[3], Math.min(9, box[2]));
}

/** @param {number} time @param {number[]} bounds */
const heatOf = (time, bounds) => bounds.filter((bound) => time > bound).length;

/** A time of a scale, in the unit that all of the scale has. @param {number} time @param {number} most */
export const tickWords = (time, most) =>
  most >= 10_000 ? `${time / 1000} s` : `${number(Number(time.toFixed(3)))} ms`;

/** @param {CanvasRenderingContext2D} ctx @param {Plan} plan @param {Ink} ink */
function drawStrip(ctx, { shown, left, each, top, tall, width }, ink) {
  const all = answers(shown);
  const scale = ticks(Math.max(1, ...all.map(({ got }) => percentile(got.times, 95) ?? 0)), 3);
  const base = top + tall;
  const y = (/** @type {number} */ time) => base - (time / scale[scale.length - 1]) * (tall - 8);
  for (const t of scale) {
    ctx.fillStyle = ink("grid");
    ctx.fillRect(left, Math.round(y(t)), width - left, 1);
    write(ctx, ink("soft"), tickWords(t, scale[scale.length - 1]), left - 8, y(t), "right");
  }
  shown.forEach((entry, i) => {
    const x = left + i * each;
    if (!entry.got) gap(ctx, ink, entry.kind, x, top, each, tall + lane);
    else {
      bar(ctx, ink, entry.got.times, x, each, y);
      state(ctx, ink, shapeOf(entry.got), x, base + 4, each);
    }
  });
  const middle = median(all.flatMap(({ got }) => got.times));
  if (middle !== null) dashes(ctx, ink("text"), left, width, y(middle));
}

/**
 * A round's times: solid up to the median, and faint up to the 95th percentile. @param {CanvasRenderingContext2D} ctx
 * @param {Ink} ink @param {number[]} list @param {number} x @param {number} each @param {(time: number) => number} y
 */
function bar(ctx, ink, list, x, each, y) {
  const wide = Math.min(16, Math.max(2, each * 0.6));
  const from = x + (each - wide) / 2;
  const [middle, high] = [median(list), percentile(list, 95)];
  if (middle === null || high === null) return;
  ctx.fillStyle = ink("line");
  ctx.fillRect(from, y(middle), wide, Math.max(1, y(0) - y(middle)));
  ctx.globalAlpha = 0.35;
  ctx.fillRect(from, y(high), wide, Math.max(0, y(middle) - y(high)));
  ctx.globalAlpha = 1;
}

/**
 * Heavy loss is as bad as no answer, and still another shape. @param {{tone: string, sent: number, times: number[]}}
 * got
 */
export const shapeOf = ({ tone, sent, times }) => (sent > 0 && times.length > 0 && tone === "bad" ? "warn" : tone);

/**
 * What the target did, in the lane below: a full box, half a box, a cross. @param {CanvasRenderingContext2D} ctx @param
 * {Ink} ink @param {string} tone @param {number} x @param {number} y @param {number} each
 */
function state(ctx, ink, tone, x, y, each) {
  const wide = Math.min(16, Math.max(3, each - 2));
  const from = x + (each - wide) / 2;
  if (tone === "bad") {
    cross(ctx, ink, x + each / 2, y + 7, Math.min(5, each / 2));
    return;
  }
  ctx.fillStyle = ink(tone === "good" ? "good" : "warn");
  ctx.fillRect(from, tone === "good" ? y : y + 8, wide, tone === "good" ? 14 : 6);
}

/**
 * @param {CanvasRenderingContext2D} ctx @param {string} colour @param {number} from @param {number} to @param {number}
 *   y
 */
function dashes(ctx, colour, from, to, y) {
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1;
  ctx.setLineDash([3, 4]);
  ctx.beginPath();
  ctx.moveTo(from, Math.round(y) + 0.5);
  ctx.lineTo(to, Math.round(y) + 0.5);
  ctx.stroke();
  ctx.setLineDash([]);
}

/**
 * A round without an answer is hatched, what was not measured is two bars.
 * @param {CanvasRenderingContext2D} ctx @param {Ink} ink
 * @param {string} kind @param {number} x @param {number} y @param {number} wide @param {number} high
 */
function gap(ctx, ink, kind, x, y, wide, high) {
  ctx.save();
  ctx.beginPath();
  ctx.rect(x, y, wide, high);
  ctx.clip();
  ctx.fillStyle = ink("sunken");
  ctx.fillRect(x, y, wide, high);
  ctx.strokeStyle = ink("edge");
  ctx.lineWidth = 1;
  ctx.beginPath();
  if (kind === "failed") {
    for (let at = y - wide; at < y + high; at += 6) {
      ctx.moveTo(x, at + wide);
      ctx.lineTo(x + wide, at);
    }
  }
  ctx.stroke();
  ctx.restore();
  if (kind !== "failed") {
    const thick = Math.min(3, wide / 3);
    const tall = Math.min(16, high);
    ctx.fillStyle = ink("soft");
    for (const side of [-1, 1])
      ctx.fillRect(x + wide / 2 + side * thick - thick / 2, y + (high - tall) / 2, thick, tall);
  }
}

/** @param {CanvasRenderingContext2D} ctx @param {Ink} ink @param {number} x @param {number} y @param {number} r */
function cross(ctx, ink, x, y, r) {
  ctx.strokeStyle = ink("bad");
  ctx.lineWidth = 2;
  ctx.stroke(new Path2D(`M${x - r} ${y - r}L${x + r} ${y + r}M${x + r} ${y - r}L${x - r} ${y + r}`));
}

/** @param {CanvasRenderingContext2D} ctx @param {Ink} ink @param {number} x @param {number} y */
function dot(ctx, ink, x, y) {
  ctx.fillStyle = ink("soft");
  ctx.fill(new Path2D(`M${x - 1.5} ${y}a1.5 1.5 0 1 0 3 0a1.5 1.5 0 1 0 -3 0`));
}

/**
 * The corner of a cell where some probes were not answered. @param {CanvasRenderingContext2D} ctx @param {Ink} ink
 * @param {number} x @param {number} y @param {number} r
 */
function notch(ctx, ink, x, y, r) {
  ctx.fillStyle = ink("bad");
  ctx.strokeStyle = ink("ground");
  ctx.lineWidth = 1.5;
  const corner = new Path2D(`M${x} ${y - r}V${y}H${x - r}Z`);
  ctx.fill(corner);
  ctx.stroke(new Path2D(`M${x} ${y - r}L${x - r} ${y}`));
}

/** @param {CanvasRenderingContext2D} ctx @param {Ink} ink @param {number} x @param {number} y */
function mark(ctx, ink, x, y) {
  ctx.fillStyle = ink("mark");
  ctx.fill(new Path2D(`M${x - 5} ${y}h10l-5 8z`));
}

/** @param {number[]} bounds @returns {Item[]} */
function heatItems(bounds) {
  const wide = 30;
  return [
    {
      wide: 6 * wide,
      text: "ms",
      draw: (ctx, ink, x, y) => {
        for (let i = 0; i < 6; i++) {
          ctx.fillStyle = ink(`heat-${i}`);
          ctx.fillRect(x + i * wide, y - 1, wide, 7);
          if (i < 5) write(ctx, ink("soft"), String(bounds[i]), x + (i + 1) * wide, y + 13, "center");
        }
      },
    },
    box("some probes unanswered", (ctx, ink, x, y) => {
      swatch(ctx, ink, "heat-2", x, y);
      notch(ctx, ink, x + 16, y + 16, 9);
    }),
    box("none answered", (ctx, ink, x, y) => {
      swatch(ctx, ink, "ground", x, y);
      cross(ctx, ink, x + 8, y + 8, 5);
    }),
    box("never answers", (ctx, ink, x, y) => {
      swatch(ctx, ink, "ground", x, y);
      dot(ctx, ink, x + 8, y + 8);
    }),
    box("route changed", (ctx, ink, x, y) => mark(ctx, ink, x + 8, y + 4)),
    ...gapItems,
  ];
}

/** @param {boolean} probes @returns {Item[]} */
const stripItems = (probes) => [
  box(probes ? "median" : "response time", (ctx, ink, x, y) => {
    ctx.fillStyle = ink("line");
    ctx.fillRect(x + 3, y, 10, 16);
  }),
  ...(probes
    ? [
        box("up to the 95th percentile", (ctx, ink, x, y) => {
          ctx.globalAlpha = 0.35;
          ctx.fillStyle = ink("line");
          ctx.fillRect(x + 3, y, 10, 16);
          ctx.globalAlpha = 1;
        }),
      ]
    : []),
  box("median of all", (ctx, ink, x, y) => dashes(ctx, ink("text"), x, x + 16, y + 8)),
  box(probes ? "no loss" : "up", (ctx, ink, x, y) => state(ctx, ink, "good", x, y + 1, 16)),
  box(probes ? "loss" : "degraded", (ctx, ink, x, y) => state(ctx, ink, "warn", x, y + 1, 16)),
  box(probes ? "no answer" : "down", (ctx, ink, x, y) => state(ctx, ink, "bad", x, y + 1, 16)),
  box("changed", (ctx, ink, x, y) => mark(ctx, ink, x + 8, y + 4)),
  ...gapItems,
];

/** @param {string} text @param {Item["draw"]} draw @returns {Item} */
const box = (text, draw) => ({ wide: 16, text, draw });

/** @param {CanvasRenderingContext2D} ctx @param {Ink} ink @param {string} name @param {number} x @param {number} y */
function swatch(ctx, ink, name, x, y) {
  ctx.fillStyle = ink(name);
  ctx.fillRect(x, y, 16, 16);
}

/** @type {Item[]} */
const gapItems = [
  box("no result", (ctx, ink, x, y) => gap(ctx, ink, "failed", x, y, 16, 16)),
  box("not measured", (ctx, ink, x, y) => gap(ctx, ink, "pause", x, y, 16, 16)),
];

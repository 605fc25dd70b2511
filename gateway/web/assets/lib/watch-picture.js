// @ts-check
// The canvas of a watch: as wide as its place, in the colours of the theme, to be read with the mouse or the arrow
// keys, and kept as a file.

import { el, freshId } from "./dom.js";
import { cellAt, draw, heardHops, planOf } from "./watch-draw.js";
import { cellWords } from "./watch-words.js";

/** @typedef {import("./watch-record.js").Entry} Entry */
/** @typedef {import("./watch-draw.js").Cell} Cell */

const names = [
  "text",
  "soft",
  "grid",
  "ground",
  "page",
  "sunken",
  "edge",
  "line",
  "good",
  "warn",
  "bad",
  "mark",
  ...[0, 1, 2, 3, 4, 5].map((i) => `heat-${i}`),
];

const font = "12px system-ui, sans-serif";

/**
 * @param {AbortSignal} signal when it ends, nothing is drawn any more
 * @param {import("./watch-record.js").Watcher} watcher
 */
export function makePicture(signal, { measure, path = false, probes = false }) {
  const inks = Object.fromEntries(names.map((name) => [name, el("span", { class: `ink ink-${name}`, hidden: true })]));
  const id = freshId("readout");
  const canvas = el("canvas", { class: "watch-canvas", role: "img", tabindex: "0", "aria-describedby": id });
  const readout = el("p", { class: "watch-readout", id });
  const node = el("figure", { class: "figure" }, ...Object.values(inks), canvas, readout);
  const ctx = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  /** @type {Entry[]} */
  let entries = [];
  let width = 0;
  /** @type {import("./watch-draw.js").Plan | null} */
  let plan = null;
  /** @type {{entry: Entry, row: number} | null} */
  let chosen = null;

  /** Where the chosen entry is now, null where it is no longer drawn. @returns {Cell | null} */
  function place() {
    const column = chosen && plan ? plan.shown.indexOf(chosen.entry) : -1;
    return chosen && column >= 0 ? { column, row: chosen.row } : null;
  }

  const ink = () => {
    /** @type {Map<string, string>} */
    const known = new Map();
    return (/** @type {string} */ name) =>
      known.get(name) ?? known.set(name, getComputedStyle(inks[name]).color).get(name) ?? "";
  };
  const measured = (/** @type {CanvasRenderingContext2D} */ on) => (/** @type {string} */ text) => {
    on.font = font;
    return on.measureText(text).width;
  };

  function redraw() {
    if (width <= 0 || entries.length === 0 || signal.aborted) return;
    plan = planOf(entries, { path, probes }, width, measured(ctx));
    const scale = devicePixelRatio || 1;
    const [across, down] = [Math.round(width * scale), Math.round(plan.height * scale)];
    // A canvas whose size is set is empty and lets go of what it had, even where it is the same size.
    if (canvas.width !== across || canvas.height !== down) [canvas.width, canvas.height] = [across, down];
    ctx.setTransform(scale, 0, 0, scale, 0, 0);
    ctx.clearRect(0, 0, width, plan.height);
    draw(ctx, plan, ink(), place());
    if (!chosen) readout.textContent = hint();
  }

  /** What stands where nothing is chosen. */
  function hint() {
    const cut =
      plan && plan.shown.length < entries.length
        ? ` These are the latest ${plan.shown.length} of ${entries.length} columns; the files have them all.`
        : "";
    return `Hover over a bar, or use the arrow keys.${cut}`;
  }

  /** @param {Cell | null} cell */
  function choose(cell) {
    chosen = cell && plan && { entry: plan.shown[cell.column], row: cell.row };
    readout.textContent =
      chosen && plan ? cellWords(chosen.entry, chosen.row, heardHops(plan.shown).has(chosen.row)) : hint();
    redraw();
  }

  const at = (/** @type {MouseEvent} */ event) =>
    plan && cellAt(plan, event.offsetX * (width / canvas.clientWidth), event.offsetY * (width / canvas.clientWidth));
  canvas.addEventListener("pointermove", (event) => choose(at(event)));
  canvas.addEventListener("pointerdown", (event) => choose(at(event)));
  canvas.addEventListener("pointerleave", () => choose(null));
  canvas.addEventListener("blur", () => {
    readout.removeAttribute("aria-live");
    choose(null);
  });
  canvas.addEventListener("keydown", (event) => {
    const next = plan && moved(event.key, place(), plan);
    if (!next) return;
    event.preventDefault();
    readout.setAttribute("aria-live", "polite");
    choose(next === "none" ? null : next);
  });

  const size = new ResizeObserver(([entry]) => {
    width = Math.floor(entry.contentRect.width);
    redraw();
  });
  size.observe(node);
  const theme = new MutationObserver(redraw);
  theme.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  for (const query of ["(prefers-color-scheme: dark)", "(forced-colors: active)"])
    matchMedia(query).addEventListener("change", redraw, { signal });
  signal.addEventListener("abort", () => {
    size.disconnect();
    theme.disconnect();
  });

  return {
    node,
    ink,
    /** @param {Entry[]} now @param {string} words what it comes to */
    set: (now, words) => {
      entries = now;
      canvas.setAttribute(
        "aria-label",
        `${path ? `Every hop's ${measure} by round` : `The ${measure} of each round`}. ${words} The table ` +
          "below has the numbers.",
      );
      redraw();
    },
  };
}

/**
 * Where a key leads to.
 * @param {string} key
 * @param {Cell | null} from
 * @param {import("./watch-draw.js").Plan} plan
 * @returns {Cell | "none" | null} null where it is no key of the picture
 */
function moved(key, from, { shown, rows }) {
  if (key === "Escape") return "none";
  const start = from ?? { column: shown.length - 1, row: 0 };
  const by = {
    ArrowLeft: [-1, 0],
    ArrowRight: [1, 0],
    ArrowUp: [0, -1],
    ArrowDown: [0, 1],
    Home: [-shown.length, 0],
    End: [shown.length, 0],
  }[key];
  if (!by) return null;
  const held = (/** @type {number} */ n, /** @type {number} */ most) => Math.max(0, Math.min(most - 1, n));
  return from ? { column: held(start.column + by[0], shown.length), row: held(start.row + by[1], rows) } : start;
}

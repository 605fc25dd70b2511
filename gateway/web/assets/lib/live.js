// @ts-check
// A run on the page while it goes on: what it is busy with in the place of the verdict, and below it what it has found
// so far. It is drawn anew as a whole, at most a few times a second, and what failed in the middle stays.

import { announce, el } from "./dom.js";
import { toneOf } from "./findings.js";
import { ladder } from "./ladder.js";
import { mark } from "./parts.js";
import { boundOf, counted, doing, makeSteps } from "./steps.js";
import { attempt } from "./view.js";

/** @typedef {import("./view.js").Asked} Asked */
/** @typedef {import("./view.js").View} View */

/** At least so many milliseconds lie between two drawings, and between two sentences for screen readers. */
const drawnEvery = 100;
const saidEvery = 4000;

/** The list of what was found, for views that do not draw it themselves; null where it did not load. */
const loadRows = () => import("./live-rows.js").catch(() => null);

/**
 * @typedef {object} Live
 * @property {(step: import("./api.js").Step) => void} step
 * @property {() => void} stop
 * @property {() => Node | null} stopped how far the connections had come, null where none was reported
 * @property {(sentence: string) => Node[]} rest that, and what was known when the run ended without an answer, below a
 *   sentence that says so; nothing where nothing was known
 */
/**
 * Shows a run in a place of the page, from now until it is stopped.
 * @param {{place: HTMLElement, asked: Asked, view: Promise<View | null>}} what
 * @returns {Live}
 */
export function showRun({ place, asked, view }) {
  const seen = makeSteps();
  const text = el("span");
  const line = el(
    "p",
    { class: "verdict pending" },
    el("span", { class: "mark spinner", "aria-hidden": "true" }),
    text,
  );
  const sum = el("p", { class: "toolbar live-sum" }, "Results appear here as they come.");
  const found = el("div", { class: "live", "data-count": 0 });
  /**
   * Draws what has been found; null until what draws it is loaded. @type {((seen: import("./steps.js").Seen) => (Node |
   * null)[]) | null}
   */
  let draw = null;
  let timer = 0;
  let drawn = 0;
  let said = performance.now();
  let over = false;
  let pressed = false;
  /** @type {import("./view.js").Conclusion | null} */
  let concluded = null;

  // The clocks of the phases go on.
  const ticker = setInterval(plan, 500);
  place.replaceChildren(line, sum, found);
  found.addEventListener("pointerdown", () => {
    pressed = true;
  });
  for (const end of ["pointerup", "pointercancel", "pointerleave"])
    found.addEventListener(end, () => {
      pressed = false;
    });
  show();
  view.then(async (loaded) => {
    const own = loaded?.live;
    const rows = own ? null : await loadRows();
    draw = own ? (things) => attempt(() => own(things, asked), []) : rows && ((things) => [rows.stepRows(things)]);
    if (seen.count > 0) plan();
  });

  function show() {
    drawn = performance.now();
    const open = seen.conclusion?.state === "unknown" ? seen.conclusion.message : null;
    const sentence = `${open ?? `${doing(seen.stage)}…`} This takes at most ${boundOf(seen.stage)} s.`;
    if (seen.conclusion && !open) conclude(seen.conclusion);
    else if (text.textContent !== sentence) text.textContent = sentence;
    const phases = ladder(seen);
    if (phases) sum.replaceChildren(phases);
    if (seen.count === 0) return;
    if (!phases) sum.textContent = `${seen.conclusion ? "Still checking: " : ""}${counted(seen)} so far.`;
    if (inHand()) plan();
    else {
      found.setAttribute("data-count", String(seen.count));
      found.replaceChildren(...nodes());
    }
    if (drawn - said < saidEvery) return;
    said = drawn;
    announce(`${counted(seen)} so far.`);
  }

  /** Shows what is known to be wrong in the place of the verdict. @param {import("./view.js").Conclusion} conclusion */
  function conclude(conclusion) {
    if (conclusion === concluded) return;
    concluded = conclusion;
    const tone = toneOf({ conclusion });
    line.setAttribute("class", `verdict ${tone}`);
    line.replaceChildren(mark(tone), el("span", {}, conclusion.message));
    announce(conclusion.message);
  }

  /** Whether someone clicks, selects or has the focus in what would be drawn anew: it stays until they have done. */
  function inHand() {
    const selection = getSelection();
    return (
      pressed ||
      found.contains(document.activeElement) ||
      (selection !== null && !selection.isCollapsed && found.contains(selection.anchorNode))
    );
  }

  /** @returns {Node[]} */
  function nodes() {
    return (draw?.(seen) ?? []).filter((node) => node !== null);
  }

  function plan() {
    if (timer || over) return;
    timer = setTimeout(
      () => {
        timer = 0;
        if (!over) show();
      },
      Math.max(0, drawn + drawnEvery - performance.now()),
    );
  }

  function stop() {
    over = true;
    clearTimeout(timer);
    clearInterval(ticker);
  }

  /** Where the connections stopped; null where none was reported. */
  function stopped() {
    const phases = ladder(seen, true);
    return phases && el("p", { class: "live-sum stopped" }, phases);
  }

  return {
    stop,
    stopped,
    step: (step) => {
      seen.add(step);
      plan();
    },
    rest: (sentence) => {
      const phases = stopped();
      const before = phases ? [phases] : [];
      if (seen.count === 0) return before;
      // It shows views that nothing more comes.
      seen.stage = { stage: "ended", boundMs: 0, atMs: 0 };
      const known = nodes();
      if (known.length === 0) return before;
      return [
        ...before,
        el("p", { class: "hint" }, sentence),
        el("div", { class: "live incomplete", "data-count": seen.count }, ...known),
      ];
    },
  };
}

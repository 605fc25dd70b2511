// @ts-check
// The browser's side of the ping and packet-loss pages: its controls, one run at a time, and what is shown while it
// runs.

import { announce, byId, unfoldOnPaper } from "../lib/dom.js";
import { renderFailure } from "../lib/failure.js";
import { duration, number, plural } from "../lib/format.js";
import { tabs } from "../lib/parts.js";
import { board } from "../lib/samples.js";
import { browser, startSampling } from "../lib/sampling.js";

/** @typedef {import("../lib/sampling.js").Run} Run */

const warmup = 3;
/** A run until it is stopped ends after this many seconds all the same: no one watches any more. */
const longest = 3600;

const probe = byId("connection").dataset.probe ?? "ping";
const form = /** @type {HTMLFormElement} */ (byId("sampling"));
const rate = /** @type {HTMLSelectElement} */ (byId("rate"));
const seconds = /** @type {HTMLSelectElement} */ (byId("seconds"));
const start = byId("sample");
const stop = byId("sample-stop");
const status = byId("sample-status");
const progress = byId("sample-progress");
const result = byId("sample-result");

/** @type {() => void} */
let end = () => {};
/** The number of the next sample; a number is used once, so that the browser's records of requests stay apart. */
let next = 0;

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const query = `?${new URLSearchParams({ rate: rate.value, seconds: seconds.value })}`;
  if (query !== location.search) history.pushState(null, "", query);
  run(Number(rate.value), Number(seconds.value));
});
stop.addEventListener("click", () => end());
window.addEventListener("popstate", fill);
fill();
unfoldOnPaper(result);
if (!("alone" in byId("browser").dataset)) join();

/** Sets the controls to what the address says. */
function fill() {
  const query = new URLSearchParams(location.search);
  for (const select of [rate, seconds]) {
    const value = query.get(select.name);
    if ([...select.options].some((o) => o.value === value)) select.value = String(value);
  }
}

/** Makes tabs of the two sides. A link with a rate is about the browser's. */
function join() {
  const sampling = () => {
    const query = new URLSearchParams(location.search);
    return !query.has("input") && (query.has("rate") || query.has("seconds")) ? 1 : 0;
  };
  const sides = [
    { title: "From our server", panel: byId("server") },
    { title: "From your browser", panel: byId("browser") },
  ];
  const place = byId("sides");
  const tabbed = tabs("Where to measure from", sides, { chosen: sampling() });
  place.replaceWith(tabbed);
  for (const { panel } of sides) panel.hidden = false;
  window.addEventListener("popstate", () =>
    /** @type {HTMLElement} */ (tabbed.querySelectorAll("[role=tab]")[sampling()]).click(),
  );
}

/**
 * @param {number} perSecond
 * @param {number} length in seconds, 0 until stopped
 */
function run(perSecond, length) {
  end();
  const counted = (length || longest) * perSecond;
  const around = browser(probe);
  const shown = board(probe, counted, length);
  result.replaceChildren(shown.node);
  busy(true);
  status.textContent = `Sampling ${length ? `for ${duration(length)}` : "until you stop it"}.`;
  let last = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let soon;
  // A page that changes ten times a second cannot be read.
  const gap = matchMedia("(prefers-reduced-motion: reduce)").matches ? 1000 : 400;
  const draw = (/** @type {Run} */ state) => {
    last = performance.now();
    soon = undefined;
    progress.textContent = told(state, length ? counted : 0);
    shown.live(state);
  };
  const first = next;
  next += counted + warmup;
  end = startSampling(
    { interval: 1000 / perSecond, count: counted + warmup, warmup },
    around,
    (state) => {
      if (!state.ending) {
        soon ??= setTimeout(() => draw(state), Math.max(0, last + gap - performance.now()));
        return;
      }
      clearTimeout(soon);
      around.close();
      finish(state, shown);
    },
    first,
  );
}

/**
 * @param {Run} state
 * @param {number} planned 0 where it is not known
 */
function told(state, planned) {
  const done = Math.max(0, state.samples.length + state.skipped - warmup);
  if (done === 0) return "Warm-up.";
  return planned ? `${number(done)} of ${plural(planned, "sample")}.` : `${plural(done, "sample")}.`;
}

/**
 * @param {Run} state
 * @param {ReturnType<typeof board>} shown
 */
function finish(state, shown) {
  busy(false);
  progress.textContent = "";
  status.textContent = { completed: "Finished.", stopped: "Stopped.", limited: "Stopped by the service." }[
    state.ending ?? "completed"
  ];
  const verdict = shown.done(state);
  if (state.refusal) result.prepend(renderFailure(state.refusal));
  announce(state.refusal?.error ?? verdict.text);
}

/** @param {boolean} on */
function busy(on) {
  const from = on ? start : stop;
  const to = on ? stop : start;
  const focused = document.activeElement === from;
  to.hidden = false;
  if (focused) to.focus();
  from.hidden = true;
}

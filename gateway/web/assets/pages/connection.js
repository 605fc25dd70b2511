// @ts-check
// The browser's own measurement: requests to this service, one after another, timed. It is HTTPS, not ICMP.

import { sampleConnection } from "./api.js";
import { byId, el } from "./dom.js";
import { ms, plural } from "./format.js";
import { renderFailure } from "./render.js";

const section = byId("connection");
const probe = section.dataset.probe ?? "ping";
const plan = probe === "ping" ? { samples: 10, gap: 200 } : { samples: 30, gap: 100 };
const lateAfter = 2000;

const start = /** @type {HTMLButtonElement} */ (byId("sample"));
const cancel = byId("sample-cancel");
const status = byId("sample-status");
const result = byId("sample-result");

/** @type {AbortController | null} */
let running = null;

start.addEventListener("click", measure);
cancel.addEventListener("click", () => running?.abort());

async function measure() {
  const mine = new AbortController();
  running = mine;
  start.disabled = true;
  cancel.hidden = false;
  result.replaceChildren();
  status.textContent = "Measuring…";
  try {
    await take(mine.signal);
  } catch (failure) {
    if (!mine.signal.aborted) throw failure;
    status.textContent = "Cancelled.";
  } finally {
    start.disabled = false;
    cancel.hidden = true;
  }
}

/** @param {AbortSignal} signal */
async function take(signal) {
  // The first request opens the connection, which the others then use.
  await sampleConnection(probe, 0, signal);
  /** @type {(number | null)[]} */
  const times = [];
  for (let n = 1; n <= plan.samples; n++) {
    await pause(plan.gap, signal);
    const began = performance.now();
    const answer = await timely(n, signal);
    if (answer && !answer.ok && answer.status !== 0) {
      status.textContent = "Stopped.";
      result.replaceChildren(renderFailure(answer));
      return;
    }
    times.push(answer?.ok ? performance.now() - began : null);
    status.textContent = `${n} of ${plan.samples}`;
  }
  show(times);
}

/**
 * One sample; null where it came too late.
 * @param {number} n
 * @param {AbortSignal} signal
 */
async function timely(n, signal) {
  const late = AbortSignal.timeout(lateAfter);
  try {
    return await sampleConnection(probe, n, AbortSignal.any([signal, late]));
  } catch (failure) {
    if (signal.aborted || !late.aborted) throw failure;
    return null;
  }
}

/**
 * @param {number} length
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
function pause(length, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, length);
    signal.addEventListener("abort", () => { clearTimeout(timer); reject(signal.reason); }, { once: true });
  });
}

/** @param {(number | null)[]} times */
function show(times) {
  const got = /** @type {number[]} */ (times.filter((t) => t !== null)).sort((a, b) => a - b);
  const lost = times.length - got.length;
  const tone = got.length === 0 ? "bad" : lost > 0 ? "warn" : "good";
  const loss = `${lost} of ${plural(times.length, "request")} lost`;
  status.textContent = "Done.";
  result.replaceChildren(el("p", { class: `verdict ${tone}` }, got.length === 0 ? `${loss}.` : `Median ${ms(median(got))}, ${loss}.`));
  if (got.length === 0) return;
  const facts = [["Fastest", ms(got[0])], ["Median", ms(median(got))], ["Slowest", ms(got[got.length - 1])], ["Samples", times.map((t) => (t === null ? "lost" : ms(t))).join(", ")]];
  result.append(el("dl", { class: "facts" }, ...facts.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])));
}

/** @param {number[]} sorted not empty */
function median(sorted) {
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

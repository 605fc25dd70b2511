// @ts-check
// The page of one tool: its form, one run at a time, and the answer.

import { runTool } from "./api.js";
import { byId, startClock } from "./dom.js";
import { ms } from "./format.js";
import { renderAnswer, renderFailure } from "./render.js";

const form = /** @type {HTMLFormElement} */ (byId("tool"));
const slug = form.dataset.slug ?? "";
const input = /** @type {HTMLInputElement | null} */ (document.getElementById("input"));
const options = /** @type {(HTMLInputElement | HTMLSelectElement)[]} */ ([...form.querySelectorAll("[data-option]")]);
const cancel = byId("cancel");
const result = byId("result");
const status = byId("status");

/** @type {AbortController | null} */
let running = null;

form.addEventListener("submit", (event) => {
  event.preventDefault();
  remember();
  run(true);
});
cancel.addEventListener("click", () => running?.abort());

if (form.dataset.run === "at-once" || (input && input.value.trim() !== "")) run(false);

/** Keeps what was asked in the address, so that it can be shared and reloaded. */
function remember() {
  const query = new URLSearchParams();
  if (input) query.set("input", input.value);
  for (const [name, value] of Object.entries(chosen())) query.set(name, value);
  const text = query.toString();
  history.replaceState(null, "", text ? `?${text}` : location.pathname);
}

/** @returns {Record<string, string>} the options that were filled in */
function chosen() {
  const filled = options.map((option) => [option.name, option.value.trim()]).filter(([, value]) => value !== "");
  return Object.fromEntries(filled);
}

/** @param {boolean} byHand whether the visitor pressed the button, and so expects to be taken to the answer */
async function run(byHand) {
  running?.abort();
  const mine = new AbortController();
  running = mine;
  clear();
  cancel.hidden = false;
  status.textContent = "Running…";
  const stop = startClock(byId("clock"));
  try {
    const answer = await runTool(slug, input?.value ?? "", chosen(), mine.signal);
    const took = stop();
    if (running === mine) show(answer, took, byHand);
  } catch (failure) {
    stop();
    if (!mine.signal.aborted) throw failure;
    if (running === mine) status.textContent = "Cancelled.";
  } finally {
    if (running === mine) {
      running = null;
      cancel.hidden = true;
    }
  }
}

function clear() {
  result.replaceChildren();
  for (const field of fields()) {
    field.removeAttribute("aria-invalid");
    byId(`${field.id}-error`).textContent = "";
  }
}

/** @returns {(HTMLInputElement | HTMLSelectElement)[]} */
function fields() {
  return input ? [input, ...options] : options;
}

/**
 * @param {import("./api.js").Answer} answer
 * @param {number} took
 * @param {boolean} byHand
 */
function show(answer, took, byHand) {
  const service = answer.durationMs === undefined ? "" : ` (${ms(answer.durationMs)} of it in the service)`;
  status.textContent = answer.ok ? `Answered after ${ms(took)}${service}.` : "No result.";
  if (answer.ok) {
    result.replaceChildren(...renderAnswer(slug, answer));
    if (byHand) result.focus();
    return;
  }
  const field = fieldOf(answer);
  if (!field) {
    result.replaceChildren(renderFailure(answer));
    return;
  }
  field.setAttribute("aria-invalid", "true");
  byId(`${field.id}-error`).textContent = answer.error ?? "";
  if (byHand) field.focus();
}

/**
 * The field that a refusal is about: an option that the sentence names, else the input.
 * @param {import("./api.js").Answer} answer
 */
function fieldOf(answer) {
  if (answer.status !== 400 && answer.status !== 413) return null;
  return options.find((option) => answer.error?.includes(option.name)) ?? input;
}

// @ts-check
// The report: the tools that fit a target, one after another.

import { runTool } from "./api.js";
import { byId, el, startClock } from "./dom.js";
import { plural } from "./format.js";
import { renderFailure, verdictLine } from "./render.js";
import { inputsFor } from "./target.js";

const form = /** @type {HTMLFormElement} */ (byId("report"));
const target = /** @type {HTMLInputElement} */ (byId("target"));
const cancel = byId("cancel");
const result = byId("result");
const status = byId("status");
const error = byId("target-error");

/** @type {AbortController | null} */
let running = null;

form.addEventListener("submit", (event) => {
  event.preventDefault();
  history.replaceState(null, "", `?${new URLSearchParams({ target: target.value })}`);
  run();
});
cancel.addEventListener("click", () => running?.abort());

if (target.value.trim() !== "") run();

/** @typedef {{slug: string, title: string, input: string}} Step */

/**
 * @param {string} text
 * @returns {Step[]}
 */
function steps(text) {
  const inputs = inputsFor(text);
  const tools = /** @type {HTMLElement[]} */ ([...byId("tools").children]);
  return tools.flatMap((tool) => {
    const input = inputs[tool.dataset.kind ?? ""];
    return input === undefined ? [] : [{ slug: tool.dataset.slug ?? "", title: tool.textContent ?? "", input }];
  });
}

async function run() {
  running?.abort();
  const mine = new AbortController();
  running = mine;
  result.replaceChildren();
  const todo = steps(target.value.trim());
  refuse(todo.length === 0 ? "Enter a domain name, a URL, an IP address, an AS number or host:port." : "");
  if (todo.length === 0) return;
  cancel.hidden = false;
  const stop = startClock(byId("clock"));
  try {
    const done = await all(todo, mine.signal);
    if (running === mine) status.textContent = done === todo.length ? `${plural(done, "tool")} ran.` : `Stopped after ${done} of ${plural(todo.length, "tool")}.`;
  } catch (failure) {
    if (!mine.signal.aborted) throw failure;
    if (running === mine) status.textContent = "Cancelled.";
  } finally {
    stop();
    if (running === mine) cancel.hidden = true;
  }
}

/** @param {string} sentence empty for none */
function refuse(sentence) {
  error.textContent = sentence;
  if (sentence) target.setAttribute("aria-invalid", "true");
  else target.removeAttribute("aria-invalid");
}

/**
 * Runs the steps in order, until all are done or the service asks to wait.
 * @param {Step[]} todo
 * @param {AbortSignal} signal
 * @returns {Promise<number>} how many ran
 */
async function all(todo, signal) {
  for (const [i, step] of todo.entries()) {
    status.textContent = `${i + 1} of ${todo.length}: ${step.title}…`;
    const answer = await runTool(step.slug, step.input, {}, signal);
    const link = `/tools/${step.slug}?${new URLSearchParams({ input: step.input })}`;
    result.append(el("section", { class: "step" },
      el("h2", {}, el("a", { href: link, rel: "nofollow" }, step.title), " ", el("span", { class: "muted" }, step.input)),
      answer.ok && answer.data ? verdictLine(step.slug, answer.data) : renderFailure(answer)));
    if (answer.status === 429 || answer.status === 0) return i;
  }
  return todo.length;
}

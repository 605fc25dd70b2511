// @ts-check
// The page of one tool: its form, one run at a time, and the answer. The address bar always holds the link that
// reproduces the check.

import { fieldOf, runTool } from "../lib/api.js";
import { clean } from "../lib/clean.js";
import { announce, byId, setBusy, startClock, unfoldOnPaper } from "../lib/dom.js";
import { renderFailure, renderNext } from "../lib/failure.js";
import { headingOf, partsOf, ran } from "../lib/heading.js";
import { unanswered } from "../lib/ladder.js";
import { showRun } from "../lib/live.js";
import { ms } from "../lib/format.js";
import { lost, verdictLine } from "../lib/parts.js";
import { remember } from "../lib/store.js";
import { showStrip } from "../lib/strip.js";
import { loadJudge, loadView, verdictOf } from "../lib/view.js";
import { waitingOf } from "../lib/waiting.js";

/** @typedef {import("../lib/api.js").Answer} Answer */
/** @typedef {import("../lib/view.js").Asked} Asked */

const form = /** @type {HTMLFormElement} */ (byId("tool"));
const slug = form.dataset.slug ?? "";
const heading = byId("heading");
/** The place of the tool's name while the target is the heading; null where the tool takes no target. */
const beside = document.getElementById("heading-tool");
const strip = document.getElementById("strip");
const title = beside?.dataset.title ?? heading.textContent ?? slug;
/** The title of the page without a target. */
const site = document.title.slice(document.title.lastIndexOf(title));
/** The input that heading and title name; empty for none. */
let named = "";
const kind = form.dataset.kind ?? "none";
const input = /** @type {HTMLInputElement | null} */ (document.getElementById("input"));
const fold = /** @type {HTMLDetailsElement | null} */ (form.querySelector("details.options"));
const options = /** @type {(HTMLInputElement | HTMLSelectElement)[]} */ ([...form.querySelectorAll("[data-option]")]);
/** The choice of a place; null where there is but one. */
const from = /** @type {HTMLSelectElement | null} */ (document.getElementById("place"));
const submit = /** @type {HTMLButtonElement} */ (byId("run"));
const cancel = byId("cancel");
/** Null where the check is none to repeat. */
const watchButton = document.getElementById("watch");
const result = byId("result");
const status = byId("status");
/**
 * What draws the answer, loaded for the first run: some visitors only sample from their browser. @type
 * {Promise<[import("../lib/view.js").Judge | null, import("../lib/view.js").View | null, typeof
 * import("../lib/answer.js") | null]> | undefined}
 */
let drawing;
const draw = () =>
  (drawing ??= Promise.all([loadJudge(slug), loadView(slug), import("../lib/answer.js").catch(() => null)]));
/** What a page says that has an answer and nothing to draw it with. */
const undrawn = "The part of this page that displays the answer did not load.";
// Where there is nothing else to do, they are there before the click.
if (!document.getElementById("connection")) draw();

const waiting = waitingOf(form);

/** The query that the form and the answer belong to. */
let linked = location.search;

/** What follows a deed within so many milliseconds is taken for its doing. */
const inOneGo = 400;

/** @type {AbortController | null} */
let running = null;

/** What ends the watch, and the second request of an answer, if there is one. */
let watching = new AbortController();

form.addEventListener("submit", (event) => {
  event.preventDefault();
  tidy();
  const query = link();
  // Pressed again, the busy button has nothing to do; a changed form is another question.
  if (running && query === location.search) return;
  if (query !== location.search) history.pushState(null, "", query || location.pathname);
  linked = location.search;
  run(true);
});
cancel.addEventListener("click", () => running?.abort());
watchButton?.addEventListener("click", () => watch("click"));
window.addEventListener("popstate", () => {
  // A jump within the page changes the address too, but not what is asked.
  if (location.search === linked) return;
  linked = location.search;
  fill();
  start();
});
unfoldOnPaper(result);
input?.addEventListener("input", typed);
// The service has named a target that the tool accepts.
if (input && beside?.textContent) {
  tidy();
  named = input.value;
}
start(history.state?.watched === true);

/**
 * Runs what the address says, if it says anything, the tool can run here, and no click is waited for.
 * @param {boolean} [again] whether this entry of the history was a watch when the page was loaded again
 */
function start(again = false) {
  // A check that is off here still names its target, and what else there is for it.
  if (submit.disabled) return frame(input?.value.trim() ?? "");
  const filled = kind === "none" || (input !== null && input.value.trim() !== "");
  if (filled) tidy();
  if (!filled || waiting.on) leave();
  else if (watchButton && (again || startsByItself(watchButton))) watch(again ? "again" : "link");
  else run(false);
  waiting.show();
}

/** Only where the browser says that no other site opened the page. @param {HTMLElement} button */
function startsByItself(button) {
  return "starts" in button.dataset && from?.value !== "all" && /[?&]watch=\d{1,9}(?:&|$)/.test(location.search);
}

/** Leaves the page as it is before a run. */
function leave() {
  if (running) {
    running.abort();
    running = null;
    busy(false);
  }
  clear();
  result.classList.remove("used");
  status.textContent = "";
  frame("");
}

/**
 * Names a target that the service has accepted in the heading and the title, or the tool for no target.
 * @param {string} target
 */
function name(target) {
  if (!beside || target === named) return;
  named = target;
  const parts = partsOf(target);
  heading.replaceChildren(...(target ? headingOf(parts) : [title]));
  beside.textContent = target ? title : "";
  document.title = target ? `${parts.host} · ${site}` : site;
}

/**
 * Makes the form one line for a target, and gives that back where there is none. The heading of another target goes.
 * @param {string} target
 */
function frame(target) {
  if (!beside) return;
  document.body.classList.toggle("asked", target !== "");
  form.classList.toggle("compact", target !== "");
  if (target !== named) name("");
  submit.dataset.idle = target ? "Run again" : "Run";
  if (!running) submit.textContent = submit.dataset.idle;
  if (fold) {
    fold.open = target === "" || fold.hasAttribute("data-refused");
    fold.removeAttribute("data-refused");
  }
  const summary = fold?.querySelector("summary");
  const set = options.filter(isSet).map(nameOf).join(", ");
  if (summary) summary.textContent = `Options${set && `: ${set}`}`;
  if (target && strip) showStrip(strip, target);
}

/** Says so where an address cannot be checked; without the module the service says it. */
async function typed() {
  const { noteUnfit } = await import("../lib/typed.js").catch(() => ({ noteUnfit: null }));
  if (input) noteUnfit?.(input, byId("input-note"));
}

/** Fills the form with what the address says. */
function fill() {
  const query = new URLSearchParams(location.search);
  if (input) input.value = query.get("input") ?? "";
  for (const option of options) {
    if (option instanceof HTMLSelectElement)
      option.selectedIndex = Math.max(
        0,
        [...option.options].findIndex((o) => o.value === query.get(option.name)),
      );
    else option.value = query.get(option.name) ?? "";
  }
}

/** Makes of a pasted URL the hostname that this tool takes, and says so. */
function tidy() {
  if (!input) return;
  const { value, note } = clean(kind, input.value);
  input.value = value;
  byId("input-note").textContent = note ?? "";
}

/** Whether an option is another than the usual one. @param {HTMLInputElement | HTMLSelectElement} option */
function isSet(option) {
  return option.value.trim() !== (option instanceof HTMLSelectElement ? option.options[0].value : "");
}

/** An option that is set, in words: its label and value; a place has but its name. @param {typeof options[number]} o */
function nameOf(o) {
  const value = o instanceof HTMLSelectElement ? o.selectedOptions[0].text : o.value.trim();
  return o === from ? value : `${o.labels?.[0].textContent} ${value}`;
}

/** @returns {string} the query that asks the same again */
function link() {
  const query = new URLSearchParams();
  if (input) query.set("input", input.value);
  for (const option of options) {
    if (isSet(option)) query.set(option.name, option.value.trim());
  }
  const other = new URLSearchParams(linked).get("compare");
  if (other) query.set("compare", other);
  const text = query.toString();
  return text ? `?${text}` : "";
}

/** Lets an answer be compared with another. @param {import("../lib/comparable.js").About} about */
async function compare(about) {
  const { comparable } = await import("../lib/comparable.js").catch(() => ({ comparable: null }));
  if (!about.signal.aborted) comparable?.(about, () => (linked = location.search));
}

/**
 * The value of an option as the API takes it. What should be a number and is none goes as it is: the answer says so.
 * A boolean is a choice of false and true.
 * @param {HTMLInputElement | HTMLSelectElement} option
 */
function valueOf(option) {
  const text = option.value.trim() || (option.dataset.usual ?? "");
  if (option.dataset.boolean !== undefined) return text === "true";
  return option.dataset.number !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : text;
}

/**
 * The usual choice of a list goes unsaid, as in the report, which so keeps its answers under the same name. @returns
 * {Asked}
 */
function asked() {
  const said = options.filter((option) => isSet(option) || !(option instanceof HTMLSelectElement));
  const filled = said.map((option) => [option.name, valueOf(option)]).filter(([, value]) => value !== "");
  return { slug, input: input?.value ?? "", options: Object.fromEntries(filled) };
}

/** @param {boolean} byHand whether the visitor pressed the button, and so expects to be taken to the answer */
async function run(byHand) {
  waiting.end();
  // Loaded again, this entry runs the check once more, and not the watch that was here before.
  if (history.state?.watched) history.replaceState({ ...history.state, watched: false }, "");
  running?.abort();
  const mine = new AbortController();
  running = mine;
  const what = asked();
  clear();
  frame(what.input);
  busy(true);
  status.textContent = "Running…";
  if (from?.value === "all") return everywhere(what, byHand, mine);
  const stop = startClock(byId("clock"));
  const live = showRun({ place: result, asked: what, view: draw().then(([, view]) => view) });
  // The visitor is taken to the answer's place now, not when the answer comes: what is being read must not move then.
  if (byHand) reveal();
  announce(`Running ${title}${what.input ? ` for ${what.input}` : ""}.`);
  try {
    const answer = await runTool(slug, what.input, what.options, mine.signal, (step) => {
      if (running === mine) name(what.input);
      live.step(step);
    });
    const waited = stop();
    if (running === mine && ran(answer)) name(what.input);
    if (running === mine) await show(answer, what, waited, byHand, live.rest);
    if (running === mine && unanswered(answer)) result.querySelector(".verdict")?.after(live.stopped() ?? "");
  } catch (failure) {
    stop();
    if (!mine.signal.aborted) throw failure;
    if (running === mine) cancelled(live.rest);
  } finally {
    live.stop();
    if (running === mine) {
      running = null;
      busy(false);
    }
  }
}

/**
 * Asks all places; one that gave no result can be asked again.
 * @param {Asked} what
 * @param {boolean} byHand
 * @param {AbortController} mine
 */
async function everywhere(what, byHand, mine) {
  const { askPlaces } = await import("../lib/places.js").catch(() => ({ askPlaces: null }));
  if (running !== mine || !from) return;
  let stop = () => 0;
  const end = () => {
    running = null;
    busy(false);
    return ms(stop());
  };
  const begin = () => {
    running ??= new AbortController();
    busy(true);
    stop();
    stop = startClock(byId("clock"));
    status.textContent = "Running…";
    return running.signal;
  };
  if (!askPlaces) {
    end();
    return result.replaceChildren(lost("The part of this page that asks several places did not load."));
  }
  askPlaces({
    ...{ asked: what, kind, choice: from, place: result, begin },
    accepted: () => name(what.input),
    done(sentence, some) {
      const cut = running?.signal.aborted;
      status.textContent = `${cut ? "Cancelled after" : "Finished in"} ${end()}.`;
      announce(sentence);
      if (some) remember(what.input);
      if (some && strip) showStrip(strip, what.input);
    },
    refused(answer) {
      end();
      clear();
      show(answer, what, 0, byHand, () => []);
    },
  });
  announce(`Running ${title} for ${what.input} from all places.`);
  if (byHand) reveal();
}

/** Scrolls to the place of the answer where its beginning is out of sight; else the heading stays in view. */
function reveal() {
  const { top } = result.getBoundingClientRect();
  if (top < 0 || top > innerHeight * 0.75) result.scrollIntoView({ block: "start" });
}

/** Asks the same once more. The button that asked for it goes away: its focus stays near. */
function again() {
  result.focus({ preventScroll: true });
  run(true);
}

/** @param {(sentence: string) => Node[]} rest */
function cancelled(rest) {
  status.textContent = "Cancelled.";
  announce("Cancelled.");
  result.replaceChildren(...rest("You cancelled this run. Below is what it had found until then."));
}

/**
 * Repeats what the form asks until it is stopped.
 * @param {"click" | "link" | "again"} by what starts it: again goes on with a watch of before the page was loaded again
 */
async function watch(by) {
  if (!watchButton) return;
  if (from?.value === "all") return void (status.textContent = "A watch runs from one place. Choose which.");
  tidy();
  const begin = () => {
    linked = location.search;
    const before = named;
    leave();
    waiting.end();
    const what = asked();
    if (what.input === before) name(before);
    frame(what.input);
    const refused = (/** @type {Answer} */ answer) => {
      clear();
      show(answer, what, 0, true, () => []);
    };
    return { asked: what, signal: watching.signal, refused, accepted: () => name(what.input) };
  };
  try {
    const { beginWatch } = await import("../lib/watch.js");
    const begun = await beginWatch(by, watchButton, { slug, title, query: link(), place: result, begin });
    if (!begun) run(false);
  } catch (failure) {
    console.warn(failure);
    status.textContent = "The watch did not load. Reload the page and try again.";
  }
}

/** @param {boolean} on */
function busy(on) {
  // The button that has the focus must not vanish under it.
  if (!on && document.activeElement === cancel) submit.focus();
  cancel.hidden = !on;
  setBusy(submit, on);
  if (on) result.classList.add("used");
  result.setAttribute("aria-busy", String(on));
  document.body.classList.toggle("running", on);
}

/**
 * Asks for what the first answer leaves open.
 * @param {import("../lib/view.js").View} view
 * @param {Answer} answer
 * @param {Asked} what
 */
async function askMore(view, answer, what) {
  const { signal } = watching;
  const { mayAsk, askSecond } = await import("../lib/second.js").catch(() => ({ mayAsk: null, askSecond: null }));
  if (mayAsk?.(form, answer) && !signal.aborted) await askSecond?.(form.dataset.second ?? "", view, what, signal);
}

function clear() {
  watching.abort();
  watching = new AbortController();
  result.replaceChildren();
  result.classList.remove("short");
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
 * @param {Answer} answer
 * @param {Asked} what
 * @param {number} waited milliseconds
 * @param {boolean} byHand
 * @param {(sentence: string) => Node[]} rest what the run had found, where it has no answer
 */
async function show(answer, what, waited, byHand, rest) {
  const [whole, inService] = [waited, answer.durationMs ?? waited].map(ms);
  status.textContent = answer.ok
    ? `Answered in ${whole}${inService === whole ? "" : ` (${inService} in the service)`}.`
    : "No result.";
  if (answer.data) {
    const { signal } = watching;
    const [judge, view, parts] = await draw();
    if (signal.aborted) return;
    const verdict = verdictOf(answer.data);
    if (!parts) result.replaceChildren(verdictLine(verdict), lost(undrawn));
    else
      result.replaceChildren(
        ...(judge && view ? parts.renderAnswer(judge, view, answer, what) : parts.renderUndrawn(answer, what)),
      );
    announce(verdict.text);
    if (what.input) remember(what.input);
    if (strip) showStrip(strip, what.input);
    if (byHand) result.focus({ preventScroll: true });
    if (view?.second) askMore(view, answer, what);
    if (judge && what.input) compare({ place: result, asked: what, title, kind, data: answer.data, judge, signal });
    return;
  }
  announce(answer.error ?? "No result.");
  result.classList.add("short");
  const refused = fieldOf(
    answer,
    fields().map((field) => field.name),
  );
  const field = fields().find(({ name }) => name === refused);
  if (!field) {
    result.replaceChildren(
      renderFailure(answer, { kind, asked: what, again }),
      ...rest("Below is what it had found until then."),
    );
    return;
  }
  status.textContent = "";
  const instead = field === input && renderNext(kind, what);
  result.replaceChildren(...(instead ? [instead] : []));
  field.setAttribute("aria-invalid", "true");
  if (fold?.contains(field)) fold.open = true;
  byId(`${field.id}-error`).textContent = answer.error ?? "";
  // The room for an answer is given back where the visitor's own deed explains that the page moves.
  if (byHand && waited < inOneGo) result.classList.remove("used");
  if (byHand) field.focus();
}

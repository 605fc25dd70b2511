// @ts-check
// The report: every tool that fits a target, each in one request, and on top what deserves attention. The address bar holds
// the link that makes the same report again.

import { runTool } from "../lib/api.js";
import { ended, makeCard, seconds } from "../lib/card.js";
import { announce, byId, el, setBusy, startClock } from "../lib/dom.js";
import { dateTime, plural } from "../lib/format.js";
import { concernsOf, headline, makeOverview, missing } from "../lib/overview.js";
import { copyAction, lost } from "../lib/parts.js";
import { makeQueue } from "../lib/queue.js";
import { recognise } from "../lib/recognise.js";
import { remember } from "../lib/store.js";
import { makeSteps } from "../lib/steps.js";
import { attempt, loadJudge, verdictOf } from "../lib/view.js";
import { waitingOf } from "../lib/waiting.js";

/** @typedef {import("../lib/api.js").Answer} Answer */
/** @typedef {import("../lib/recognise.js").Found} Found */
/** @typedef {import("../lib/view.js").Judge} Judge */
/** @typedef {import("../lib/overview.js").Check & {judging: Promise<Judge | null>, judge: Judge | null}} Check judge is there once it is loaded */

const form = /** @type {HTMLFormElement} */ (byId("report"));
const target = /** @type {HTMLInputElement} */ (byId("target"));
const submit = byId("run");
const cancel = byId("cancel");
const result = byId("result");
const status = byId("status");
const catalogue = byId("catalogue");
const name = document.title;
const waiting = waitingOf(form);

/** Takes the report on the page away, if there is one. */
let leave = () => {};
let asked = location.search;

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const found = read();
  if (!found) return target.focus();
  const link = `?${new URLSearchParams({ target: found.text })}`;
  // Pressed again, the busy button has nothing to do; another target is another report.
  if (submit.ariaBusy === "true" && link === location.search) return;
  if (link !== location.search) history.pushState(null, "", link);
  asked = location.search;
  open(found, true);
});
window.addEventListener("popstate", () => {
  // A jump to a card changes the address too, but not what is asked.
  if (location.search === asked) return;
  asked = location.search;
  target.value = new URLSearchParams(asked).get("target") ?? "";
  start();
});
window.addEventListener("beforeprint", () => result.querySelectorAll("details").forEach((fold) => { fold.open = true; }));
start();

/** Runs what the address says, if it says anything and no click is waited for. */
function start() {
  const found = target.value.trim() === "" ? null : read();
  if (found && !waiting.on) open(found, false);
  else close();
  waiting.show();
}

/** @returns {Found | null} what the field means; where that is nothing, the field says so */
function read() {
  const text = target.value.trim();
  const found = recognise(text);
  refuse(found ? "" : "Enter a domain name, a URL, an IP address, an AS number or host:port.");
  byId("target-note").textContent = found && found.text.toLowerCase() !== text.toLowerCase() ? `Took ${found.text} from what you entered.` : "";
  if (found) target.value = found.text;
  return found;
}

/** @param {string} sentence empty for none */
function refuse(sentence) {
  byId("target-error").textContent = sentence;
  if (sentence) target.setAttribute("aria-invalid", "true");
  else target.removeAttribute("aria-invalid");
}

/** Leaves the page as it is before a report. */
function close() {
  leave();
  leave = () => {};
  result.replaceChildren();
  busy(false);
  catalogue.hidden = false;
  status.textContent = "";
  document.title = name;
}

/**
 * The checks that fit, in the order of the catalogue.
 * @param {Found} found
 * @returns {Check[]}
 */
function checksFor(found) {
  const inputs = /** @type {Record<string, string | undefined>} */ (found.inputs);
  const tools = /** @type {NodeListOf<HTMLElement>} */ (catalogue.querySelectorAll("[data-slug]"));
  return [...tools].flatMap((tool) => {
    const { slug = "", kind = "", title = "" } = tool.dataset;
    const input = inputs[kind];
    if (input === undefined) return [];
    const group = tool.closest("[data-group]")?.getAttribute("data-group") ?? "";
    const glyph = tool.querySelector("svg")?.cloneNode(true) ?? null;
    return [{ slug, title, group, input, glyph, judging: loadJudge(slug), judge: null, stage: { state: "waiting" }, seen: makeSteps(), began: 0, took: 0, verdict: null, concerns: null }];
  });
}

/**
 * Makes a report.
 * @param {Found} found
 * @param {boolean} byHand whether the visitor pressed the button, and so expects to be taken to the report
 */
function open(found, byHand) {
  waiting.end();
  leave();
  const at = new Date().toISOString();
  const checks = checksFor(found);
  const cards = new Map(checks.map((check) => [check, makeCard(check, () => go([check]))]));
  const overview = makeOverview(checks);
  let began = performance.now();
  let left = false;
  const queue = makeQueue({ run: ask, tell, idle });
  /** @type {() => unknown} */
  let stopClock = () => {};
  let ticker = 0;

  leave = () => {
    left = true;
    queue.cancel();
    stopClock();
    clearInterval(ticker);
  };
  cancel.onclick = queue.cancel;
  catalogue.hidden = true;
  document.title = `${found.text} · ${name}`;
  const heading = el("h2", { id: "report-title", tabindex: "-1" }, found.text);
  const trouble = el("div");
  const files = ["JSON", "HTML"].map((kind) => exportButton(kind, () => save(kind, found, at, checks, trouble)));
  result.replaceChildren(head(heading, `${found.label}, ${dateTime(at)}`, files), trouble, overview.node, ...groups(checks, cards));
  remember(found.text);
  announce(`Running ${plural(checks.length, "check")} on ${found.text}.`);
  go(checks);
  if (byHand) heading.focus();

  /** @param {Check[]} some */
  function go(some) {
    if (cancel.hidden) began = performance.now();
    busy(true);
    for (const file of files) file.disabled = true;
    stopClock();
    stopClock = startClock(byId("clock"));
    clearInterval(ticker);
    ticker = setInterval(tick, 200);
    queue.add(...some);
  }

  /** The clocks go on as long as one has something to count. */
  function tick() {
    cards.forEach((card) => card.tick());
    const counting = checks.some(({ stage }) => !ended(stage) || (stage.state === "limited" && stage.until > performance.now()));
    if (!counting) clearInterval(ticker);
  }

  /** @param {Check} check @param {import("../lib/queue.js").Stage<Answer>} stage */
  function tell(check, stage) {
    if (left) return;
    check.stage = stage;
    if (stage.state === "running") {
      check.began = performance.now();
      check.seen = makeSteps();
    }
    conclude(check);
    cards.get(check)?.show();
    overview.update();
    status.textContent = `${checks.filter((c) => ended(c.stage)).length} of ${plural(checks.length, "check")} ended.`;
  }

  function idle() {
    if (left) return;
    stopClock();
    busy(false);
    for (const file of files) file.disabled = false;
    overview.update();
    const cancelled = checks.some((check) => check.stage.state === "cancelled");
    const answered = checks.filter((check) => check.stage.state === "answered" && check.stage.reply.ok).length;
    status.textContent = `${answered} of ${plural(checks.length, "check")} answered ${cancelled ? "before the report was cancelled" : `in ${seconds(performance.now() - began)}`}.`;
    announce([status.textContent, headline(checks), ...missing(checks)].join(" "));
    refuse(refusal(checks));
  }
}

/**
 * Sends one check.
 * @param {Check} check
 * @param {AbortSignal} signal
 */
async function ask(check, signal) {
  const answer = await runTool(check.slug, check.input, {}, signal, (step) => check.seen.add(step));
  check.took = performance.now() - check.began;
  check.judge = await check.judging;
  return answer;
}

/**
 * What the answer that a check has now comes to.
 * @param {Check} check
 */
function conclude(check) {
  const { slug, input, stage, judge } = check;
  const asked = { slug, input, options: {} };
  const data = stage.state === "answered" && stage.reply.ok && judge ? stage.reply.data : null;
  check.verdict = judge && data ? verdictOf(judge, data, asked) : null;
  check.concerns = judge && data ? attempt(() => judge.concerns(data, asked), null) : null;
}

/**
 * The sentence for the field where every check refused the target for the same reason.
 * @param {Check[]} checks
 */
function refusal(checks) {
  const errors = new Set(checks.map(({ stage }) => (stage.state === "answered" && stage.reply.status === 400 ? stage.reply.error : null)));
  return errors.size === 1 ? [...errors][0] ?? "" : "";
}

/** @param {boolean} on */
function busy(on) {
  // The button that has the focus must not vanish under it.
  if (!on && document.activeElement === cancel) submit.focus();
  cancel.hidden = !on;
  setBusy(submit, on);
  result.setAttribute("aria-busy", String(on));
}

/**
 * @param {HTMLElement} heading
 * @param {string} when
 * @param {HTMLElement[]} files
 */
function head(heading, when, files) {
  const print = el("button", { type: "button", class: "quiet" }, "Print");
  print.addEventListener("click", () => window.print());
  return el("div", { class: "report-head" }, el("div", {}, heading, el("p", { class: "muted" }, when)),
    el("div", { class: "toolbar", role: "group", "aria-label": "This report" }, ...files, print, copyAction("Copy link", () => location.href)));
}

/** @param {string} kind @param {() => void} act */
function exportButton(kind, act) {
  const button = el("button", { type: "button", class: "quiet", id: `export-${kind.toLowerCase()}` }, `Download ${kind}`);
  button.addEventListener("click", act);
  return button;
}

/**
 * @param {Check[]} checks
 * @param {Map<Check, {node: HTMLElement}>} cards
 */
function groups(checks, cards) {
  return [...new Set(checks.map((check) => check.group))].map((group, i) => el("section", { class: "report-group", "aria-labelledby": `group-${i}` },
    el("h2", { id: `group-${i}` }, group),
    el("div", { class: "tool-cards" }, ...checks.filter((check) => check.group === group).map((check) => cards.get(check)?.node))));
}

/**
 * Hands the report over as a file. What writes it is fetched now: most visitors never need it.
 * @param {string} kind JSON or HTML
 * @param {Found} found
 * @param {string} at
 * @param {Check[]} checks
 * @param {HTMLElement} trouble where to say that there is no file
 */
async function save(kind, found, at, checks, trouble) {
  const modules = await Promise.all([import("../lib/export.js"), import("../lib/answer.js")]).catch((failure) => unsaved(failure, trouble));
  if (!modules) return;
  const [{ asHTML, asJSON }, { download, fileName }] = modules;
  const report = { target: found.text, recognisedAs: found.label, at, summary: [headline(checks), ...missing(checks)], attention: concernsOf(checks), checks: checks.map(exported) };
  const file = fileName({ slug: "report", input: found.text, options: {} });
  if (kind === "JSON") download(`${file}.json`, "application/json", asJSON(report));
  else download(`${file}.html`, "text/html;charset=utf-8", asHTML(report));
}

/**
 * @param {unknown} failure
 * @param {HTMLElement} trouble
 */
function unsaved(failure, trouble) {
  const sentence = "The file was not made: the part of this page that writes it did not load.";
  console.warn(failure);
  trouble.replaceChildren(lost(sentence));
  announce(sentence);
}

/** @param {Check} check @returns {import("../lib/export.js").Check} */
function exported({ slug, title, group, input, stage, verdict, concerns, judge }) {
  const reply = "reply" in stage && stage.reply ? stage.reply : { ok: false, status: 0, error: "This check gave no answer before the report was saved." };
  const { ok, status, data, error, durationMs, requestId } = reply;
  const facts = ok && judge ? attempt(() => judge.facts(data), undefined) : undefined;
  return { slug, title, group, input, ok, status, data, error, durationMs, requestId, verdict: verdict ?? undefined, concerns: concerns ?? [], facts };
}

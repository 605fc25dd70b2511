// @ts-check
// The report: every tool that fits a target, each in one request, and on top what deserves attention. The address bar holds
// the link that makes the same report again, and with compare= the one to hold against it.

import { runTool } from "../lib/api.js";
import { ended, makeCard, seconds } from "../lib/card.js";
import { announce, byId, el, setBusy, startClock } from "../lib/dom.js";
import { dateTime, listed, plural } from "../lib/format.js";
import { concernsOf, headline, makeOverview, missing, reportState } from "../lib/overview.js";
import { copyAction, lost, notice } from "../lib/parts.js";
import { makeQueue } from "../lib/queue.js";
import { recognise } from "../lib/recognise.js";
import { remember } from "../lib/store.js";
import { makeSteps } from "../lib/steps.js";
import { attempt, loadJudge, verdictOf } from "../lib/view.js";
import { waitingOf } from "../lib/waiting.js";

/** @typedef {import("../lib/api.js").Answer} Answer */
/** @typedef {import("../lib/recognise.js").Found} Found */
/** @typedef {import("../lib/view.js").Judge} Judge */
/** @typedef {import("../lib/overview.js").Check & {kind: string, judging: Promise<Judge | null>}} Check its judge is there once it is loaded */

const form = /** @type {HTMLFormElement} */ (byId("report"));
const target = /** @type {HTMLInputElement} */ (byId("target"));
const submit = byId("run");
const cancel = byId("cancel");
const result = byId("result");
const status = byId("status");
const catalogue = byId("catalogue");
const frame = byId("ask");
const name = document.title;
const waiting = waitingOf(form);

/** Takes the report on the page away, if there is one. */
let leave = () => {};
let asked = location.search;

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const found = read();
  if (!found) return target.focus();
  const link = linkTo(found.text);
  // Pressed again, the busy button has nothing to do; another target is another report.
  if (submit.ariaBusy === "true" && link === location.search) return;
  visit(link);
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

/** @param {string} text @param {string} [other] what to hold against it */
function linkTo(text, other) {
  return `?${new URLSearchParams({ target: text, ...(other && { compare: other }) })}`;
}

/** @param {string} link */
function visit(link) {
  if (link !== location.search) history.pushState(null, "", link);
  asked = location.search;
}

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
  frame.classList.remove("asked-for", "asked");
  status.textContent = "";
  document.title = name;
}

/** Every check that runs here, in the order of the catalogue. */
const tools = [.../** @type {NodeListOf<HTMLElement>} */ (catalogue.querySelectorAll("[data-slug]"))].map((tool) => {
  const { slug = "", kind = "", title = "", sheet = "" } = tool.dataset;
  return { slug, kind, title, style: sheet, group: tool.closest("[data-group]")?.getAttribute("data-group") ?? "", glyph: () => tool.querySelector("svg")?.cloneNode(true) ?? null };
});

/**
 * The checks that fit.
 * @param {Found} found
 * @returns {Check[]}
 */
function checksFor(found) {
  const inputs = /** @type {Record<string, string | undefined>} */ (found.inputs);
  return tools.flatMap((tool) => {
    const input = inputs[tool.kind];
    if (input === undefined) return [];
    return [{ ...tool, input, glyph: tool.glyph(), judging: loadJudge(tool.slug), judge: null, stage: { state: "waiting" }, seen: makeSteps(), began: 0, took: 0, at: 0, verdict: null, concerns: null }];
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
  const unfit = tools.filter((tool) => !checks.some((check) => check.slug === tool.slug)).map((tool) => tool.title);
  const cards = new Map(checks.map((check) => [check, makeCard(check, () => go([check]))]));
  const overview = makeOverview(checks, found);
  let began = performance.now();
  let left = false;
  let refused = "";
  // A refusal comes before the first step of an answer: until the first check has one, the others wait.
  let held = checks.slice(1);
  const queue = makeQueue({ run: (check, signal) => ask(check, signal, check === checks[0] ? release : undefined), tell, idle });
  /** @type {() => unknown} */
  let stopClock = () => {};
  let ticker = 0;

  leave = () => {
    left = true;
    held = [];
    queue.cancel();
    against?.leave();
    stopClock();
    clearInterval(ticker);
  };
  cancel.onclick = () => { abandon(); against?.leave(); };
  catalogue.hidden = true;
  frame.classList.add("asked-for", "asked");
  document.title = `${found.text} · ${name}`;
  const heading = el("h2", { id: "report-title", tabindex: "-1" }, found.text);
  const trouble = el("div");
  const files = [
    action("export-markdown", "Copy as Markdown", () => copyMarkdown(report(), trouble)),
    ...["JSON", "HTML"].map((kind) => action(`export-${kind.toLowerCase()}`, `Download ${kind}`, () => save(kind, report(), trouble))),
    action("compare", "Compare", () => opposite()),
  ];
  const beside = el("section", { id: "comparison", "aria-label": "Comparison" });
  const place = el("div", { class: "all-cards" }, ...groups(checks, cards));
  result.replaceChildren(head(heading, `${found.label}, ${dateTime(at)}`), trouble, ...overview.nodes, toolbar(files), beside, place, unfitLine(unfit));
  /** @type {{leave: () => void} | null} the other report of a comparison */
  let against = null;
  const other = new URLSearchParams(location.search).get("compare");
  if (other) beside.append(el("p", { class: "muted" }, `The comparison with ${other} begins as soon as this report is complete.`));
  beside.classList.toggle("wanted", Boolean(other));
  remember(found.text);
  announce(`Running ${plural(checks.length, "check")} on ${found.text}.`);
  for (const card of cards.values()) card.show();
  go(checks.slice(0, 1));
  if (byHand) heading.focus();

  function release() {
    const some = held;
    held = [];
    if (some.length > 0) queue.add(...some);
  }

  function abandon() {
    const some = held;
    held = [];
    for (const check of some) tell(check, { state: "cancelled" });
    queue.cancel();
  }

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
    if (stage.state === "answered") check.at = Date.now();
    if (stage.state === "running") {
      check.began = performance.now();
      check.seen = makeSteps();
    }
    conclude(check);
    cards.get(check)?.show();
    overview.update();
    status.textContent = `${checks.filter((c) => ended(c.stage)).length} of ${plural(checks.length, "check")} ended.`;
    // What is refused for itself would be refused by every check.
    if (refused === "" && refusal(checks, check) !== "") {
      refused = refusal(checks, check);
      held = [];
      queue.cancel();
    }
    if (ended(stage) || stage.state === "limited") release();
  }

  function idle() {
    if (left) return;
    stopClock();
    busy(false);
    for (const file of files) file.disabled = false;
    if (refused !== "") return turnAway();
    overview.update();
    const cancelled = checks.some((check) => check.stage.state === "cancelled");
    const answered = checks.filter((check) => check.stage.state === "answered" && check.stage.reply.ok).length;
    status.textContent = `${answered} of ${plural(checks.length, "check")} answered ${cancelled ? "before the report was cancelled" : `in ${seconds(performance.now() - began)}`}.`;
    announce([status.textContent, reportState(checks, found)?.text, ...missing(checks)].join(" "));
    settle(place, checks, cards);
    if (other && !against && !cancelled) opposite(other);
  }

  /** The whole report of a target that is refused is the sentence why. */
  function turnAway() {
    // The field is marked; the sentence stands once, below it.
    target.setAttribute("aria-invalid", "true");
    status.textContent = "";
    announce(refused);
    result.replaceChildren(head(heading, found.label), el("div", { class: "refused" }, notice("bad", refused)));
  }

  /** @returns {import("../lib/export.js").Report} */
  function report() {
    const state = reportState(checks, found)?.text ?? "";
    return { target: found.text, recognisedAs: found.label, at, summary: [state, headline(checks, found), ...missing(checks)].filter(Boolean), attention: concernsOf(checks, found), checks: checks.map(exported) };
  }

  /**
   * Holds another report against this one.
   * @param {string} [text] its target; without it the visitor is asked
   */
  async function opposite(text) {
    const part = await import("../lib/report-compare.js").catch((failure) => unmade(failure, trouble, "The comparison was not made: the part of this page that makes it did not load."));
    if (!part || left) return;
    const mine = () => side(part, found, checks, at);
    const show = (/** @type {import("../lib/report-compare.js").Report} */ theirs) => {
      beside.classList.add("wanted");
      beside.replaceChildren(...part.drawn(mine(), theirs, shut));
      // Whoever came by a link reads from the top.
      if (text === undefined) document.getElementById("comparison-title")?.focus();
    };
    const take = (/** @type {string} */ wanted) => {
      const second = recognise(wanted);
      if (!second) return "Enter a domain name, a URL, an IP address, an AS number or host:port.";
      visit(linkTo(found.text, second.text));
      against?.leave();
      against = otherReport(second, (rest) => beside.replaceChildren(el("p", { class: "muted" }, `Looking at ${second.text}: ${rest}`)), (others) => show(side(part, second, others, new Date().toISOString())));
      return "";
    };
    const known = new Map(tools.map((tool) => [tool.slug, { title: tool.title, judge: () => loadJudge(tool.slug) }]));
    const file = async (/** @type {Blob} */ chosen) => {
      const saved = await part.readSaved(chosen, known);
      if (saved) show({ ...saved, when: dateTime(saved.when) });
      return saved ? "" : "This file is no report that was saved as JSON.";
    };
    if (text !== undefined && take(text) === "") return;
    beside.classList.add("wanted");
    beside.replaceChildren(part.question({ target: take, file }));
    beside.querySelector("input")?.focus();
  }

  function shut() {
    against?.leave();
    against = null;
    beside.replaceChildren();
    beside.classList.remove("wanted");
    visit(linkTo(found.text));
    heading.focus();
  }
}

/**
 * Makes the other report of a comparison, of which only the answers are wanted.
 * @param {Found} found
 * @param {(rest: string) => void} progress
 * @param {(checks: Check[]) => void} done
 */
function otherReport(found, progress, done) {
  const checks = checksFor(found);
  let left = false;
  const queue = makeQueue({
    run: (check, signal) => ask(check, signal),
    tell(check, stage) {
      if (left) return;
      check.stage = stage;
      if (stage.state === "running") check.began = performance.now();
      conclude(check);
      progress(`${checks.filter((c) => ended(c.stage)).length} of ${plural(checks.length, "check")} ended.`);
    },
    idle() {
      if (!left) done(checks);
    },
  });
  queue.add(...checks);
  return { leave() { left = true; queue.cancel(); } };
}

/**
 * One side of a comparison.
 * @param {typeof import("../lib/report-compare.js")} part
 * @param {Found} found
 * @param {Check[]} checks
 * @param {string} at
 * @returns {import("../lib/report-compare.js").Report}
 */
function side(part, found, checks, at) {
  const data = (/** @type {Check} */ check) => (check.stage.state === "answered" && check.stage.reply.ok ? check.stage.reply.data : null);
  return { name: found.text, verdict: reportState(checks, found), when: dateTime(at), checks: checks.map((check) => ({ slug: check.slug, title: check.title, facts: part.factsOf(check.judge, data(check)) })) };
}

/**
 * Sends one check.
 * @param {Check} check
 * @param {AbortSignal} signal
 * @param {() => void} [begun] is told of each step
 */
async function ask(check, signal, begun) {
  const answer = await runTool(check.slug, check.input, {}, signal, (step) => {
    check.seen.add(step);
    begun?.();
  });
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
 * The sentence that refuses the target itself: the first answer, and all others so far, are that sentence.
 * @param {Check[]} checks
 * @param {Check} check the one that was answered last
 */
function refusal(checks, check) {
  const replies = checks.flatMap(({ stage }) => (stage.state === "answered" ? [stage.reply] : []));
  const errors = new Set(replies.map((reply) => (reply.status === 400 ? reply.error : null)));
  // A name that is not in the DNS is refused by those that would connect to it; what looks it up has an answer.
  const telling = check === checks[0] || check.kind === "address" || check.kind === "network" || replies.length === checks.length;
  return errors.size === 1 && telling ? [...errors][0] ?? "" : "";
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
 */
const head = (heading, when) => el("div", { class: "report-head" }, heading, el("p", { class: "muted" }, when));

/** @param {HTMLElement[]} files */
function toolbar(files) {
  const print = el("button", { type: "button", class: "quiet" }, "Print");
  print.addEventListener("click", () => window.print());
  return el("div", { class: "toolbar", role: "group", "aria-label": "This report" }, ...files, print, copyAction("Copy link", () => location.href));
}

/** @param {string} id @param {string} label @param {() => unknown} act */
function action(id, label, act) {
  const button = el("button", { type: "button", class: "quiet", id }, label);
  button.addEventListener("click", act);
  return button;
}

/** What cannot look at such a target, in one line. @param {string[]} titles */
const unfitLine = (titles) => el("p", { class: "unfit" }, titles.length > 0 && `Not for this kind of target: ${listed(titles)}.`);

/** @typedef {Map<Check, {node: HTMLElement}>} Cards */

/**
 * @param {Check[]} checks
 * @param {Cards} cards
 */
function groups(checks, cards) {
  return [...new Set(checks.map((check) => check.group))].map((group, i) => el("section", { class: "report-group", "aria-labelledby": `group-${i}` },
    el("h2", { id: `group-${i}` }, group),
    el("div", { class: "tool-cards" }, ...checks.filter((check) => check.group === group).map((check) => cards.get(check)?.node))));
}

/** So many checks that failed for one reason are told in one line. */
const alike = 3;

/**
 * Puts the cards in their final places: checks that failed for the same reason are one line. The cards are put in anew, so
 * that what moves up below the findings does so at once.
 * @param {HTMLElement} place
 * @param {Check[]} checks
 * @param {Cards} cards
 */
function settle(place, checks, cards) {
  const focused = document.activeElement;
  const errors = checks.map(({ stage }) => (stage.state === "answered" && stage.reply.status === 400 ? stage.reply.error ?? "" : ""));
  const common = [...new Set(errors)].filter((error) => error !== "" && errors.filter((e) => e === error).length >= alike);
  const folded = checks.filter((_, i) => common.includes(errors[i]));
  const lines = common.map((error) => {
    const some = checks.filter((_, i) => errors[i] === error);
    return el("details", { class: "failed-alike" }, el("summary", {}, el("strong", {}, `${plural(some.length, "check")} without an answer: `), `${listed(some.map((check) => check.title))}. ${error}`),
      el("div", { class: "tool-cards" }, ...some.map((check) => cards.get(check)?.node)));
  });
  place.replaceChildren(...groups(checks.filter((check) => !folded.includes(check)), cards), ...lines);
  if (focused instanceof HTMLElement && place.contains(focused)) focused.focus({ preventScroll: true });
}

/**
 * Hands the report over as a file. What writes it is fetched now: most visitors never need it.
 * @param {string} kind JSON or HTML
 * @param {import("../lib/export.js").Report} report
 * @param {HTMLElement} trouble where to say that there is no file
 */
async function save(kind, report, trouble) {
  const modules = await Promise.all([import("../lib/export.js"), import("../lib/answer.js")]).catch((failure) => unmade(failure, trouble, unwritten));
  if (!modules) return;
  const [{ asHTML, asJSON }, { download, fileName }] = modules;
  const file = fileName({ slug: "report", input: report.target, options: {} });
  if (kind === "JSON") download(`${file}.json`, "application/json", asJSON(report));
  else download(`${file}.html`, "text/html;charset=utf-8", asHTML(report));
}

const unwritten = "The file was not made: the part of this page that writes it did not load.";

/**
 * @param {import("../lib/export.js").Report} report
 * @param {HTMLElement} trouble
 */
async function copyMarkdown(report, trouble) {
  const modules = await Promise.all([import("../lib/export.js"), import("../lib/copy.js")]).catch((failure) => unmade(failure, trouble, "Nothing was copied: the part of this page that writes the text did not load."));
  if (!modules) return;
  const [{ asMarkdown }, { copy }] = modules;
  const done = await copy(asMarkdown(report, location.href));
  announce(done ? "Copied." : "Copying did not work.");
  const button = byId("export-markdown");
  button.classList.add(done ? "copied" : "failed");
  setTimeout(() => button.classList.remove("copied", "failed"), 1500);
}

/**
 * @param {unknown} failure
 * @param {HTMLElement} trouble
 * @param {string} sentence
 */
function unmade(failure, trouble, sentence) {
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

start();

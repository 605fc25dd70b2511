// @ts-check
// The report: every tool that fits a target, each in one request, and on top what deserves attention. The address bar
// holds the link that makes the same report again, and with compare= the one to hold against it.

import { announce, byId, el, setBusy, startClock, unfoldOnPaper } from "../lib/dom.js";
import { linkTo } from "../lib/fitting.js";
import { dateTime, listed, plural } from "../lib/format.js";
import { headingOf, partsOf } from "../lib/heading.js";
import { copyAction, copyLink, lost, menu, notice } from "../lib/parts.js";
import { recognise } from "../lib/recognise.js";
import { remember } from "../lib/store.js";
import { waitingOf } from "../lib/waiting.js";

/** @typedef {import("../lib/recognise.js").Found} Found */
/** @typedef {import("../lib/report-checks.js").Check} Check */

const form = /** @type {HTMLFormElement} */ (byId("report"));
const target = /** @type {HTMLInputElement} */ (byId("target"));
/** The choice of a place; null where there is but one. */
const from = /** @type {HTMLSelectElement | null} */ (document.getElementById("place"));
const submit = byId("run");
const cancel = byId("cancel");
const result = byId("result");
const status = byId("status");
const catalogue = byId("catalogue");
/** The title of the page without a target. */
const name = document.title.slice(document.title.lastIndexOf("Report"));
/**
 * The target that the service has accepted, as the heading and the title name it; null for none. At first it is that of
 * the link. @type {{text: string, host: string, nodes: (string | Node)[]} | null}
 */
let named = null;
const waiting = waitingOf(form);
/** What makes a report, null where it does not load. */
const parts = import("../lib/report-parts.js").catch((failure) => console.warn(failure));

/** What the title begins with once the state is known. */
const signs = { good: "✓ ", warn: "! ", bad: "✗ ", info: "", off: "" };
/** At least so many milliseconds lie between two sentences for screen readers. */
const saidEvery = 4000;

/** Takes the report on the page away, if there is one. */
let leave = () => {};
/** How many reports were begun or left: what was still waiting for its parts then comes to nothing. */
let turn = 0;
let asked = location.search;

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const found = read();
  if (!found) return target.focus();
  const link = queryOf(found.text);
  // Pressed again, the busy button has nothing to do; another target is another report.
  if (submit.ariaBusy === "true" && link === location.search) return;
  visit(link);
  open(found, true);
});
window.addEventListener("popstate", () => {
  // A jump to a card changes the address too, but not what is asked.
  if (location.search === asked) return;
  asked = location.search;
  const query = new URLSearchParams(asked);
  target.value = query.get("target") ?? "";
  if (from)
    from.selectedIndex = Math.max(
      0,
      [...from.options].findIndex((o) => o.value === query.get("place")),
    );
  start();
});
unfoldOnPaper(result);
target.addEventListener("input", typed);
if (document.title !== name)
  named = {
    text: recognise(target.value)?.text ?? "",
    host: document.title.slice(0, -` · ${name}`.length),
    nodes: [...(result.querySelector("h2")?.childNodes ?? [])],
  };

/** Says so where an address cannot be checked; without the module the service says it. */
async function typed() {
  const { noteUnfit } = await import("../lib/typed.js").catch(() => ({ noteUnfit: null }));
  noteUnfit?.(target, byId("target-note"));
}

/** @param {string} text @param {string} [other] what to hold against it */
function queryOf(text, other) {
  const place = placed();
  return `?${new URLSearchParams({ target: text, ...(place && { place }), ...(other && { compare: other }) })}`;
}

/** The place to run from, empty for this one. */
function placed() {
  return from && from.selectedIndex > 0 ? from.value : "";
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
  byId("target-note").textContent =
    found && found.text.toLowerCase() !== text.toLowerCase() ? `Using ${found.text} from what you entered.` : "";
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
  turn += 1;
  leave();
  leave = () => {};
  result.replaceChildren();
  busy(false);
  catalogue.hidden = false;
  document.body.classList.remove("asked");
  status.textContent = "";
  document.title = name;
}

/**
 * Makes a report.
 * @param {Found} found
 * @param {boolean} byHand whether the visitor pressed the button, and so expects to be taken to the report
 */
async function open(found, byHand) {
  waiting.end();
  if (found.kind === "asn" && catalogue.querySelector('[data-slug="asn-lookup"]')) {
    // One tool takes an AS number: its page says more than a report with one card.
    const place = placed();
    return location.replace(linkTo("asn-lookup", found.text, place ? { place } : {}));
  }
  from?.removeAttribute("aria-invalid");
  leave();
  leave = () => {};
  busy(true);
  const mine = ++turn;
  const made = await parts;
  if (turn !== mine) return;
  if (!made) {
    busy(false);
    return result.replaceChildren(lost("The part of this page that makes reports did not load."));
  }
  const {
    calmed,
    checksFor,
    concernsOf,
    ended,
    exported,
    groups,
    headline,
    inapplicable,
    makeCard,
    makeOverview,
    makeRun,
    markdown,
    missing,
    nearby,
    paced,
    reading,
    reportState,
    save,
    seconds,
    settle,
    stateText,
    toolsOf,
    unmade,
  } = made;
  const tools = toolsOf(catalogue);
  const at = new Date().toISOString();
  const where = placed();
  const whereName = where ? (from?.selectedOptions[0].text ?? "") : "";
  const checks = checksFor(tools, found, where);
  const unfit = tools.filter((tool) => !checks.some((check) => check.slug === tool.slug)).map((tool) => tool.title);
  /** @type {Map<Check, ReturnType<typeof makeCard>>} */
  const cards = new Map();
  const overview = makeOverview(checks, found);
  const run = makeRun(checks, { accepted, moved, idle });
  if (named?.text !== found.text) named = null;
  const heading = el("h2", { id: "report-title", tabindex: "-1" }, ...(named?.nodes ?? ["Report"]));
  const trouble = el("div");
  const beside = el("section", { id: "comparison", "aria-label": "Comparison" });
  const visitWith = (/** @type {string | undefined} */ other) => visit(queryOf(found.text, other));
  /**
   * What holds this report against another, once someone asks for that. @type {ReturnType<typeof
   * import("../lib/report-other.js").makeComparison> | null}
   */
  let comparison = null;
  const markdownButton = copyAction("Copy as Markdown", () => markdown(report(), trouble));
  markdownButton.id = "export-markdown";
  const files = [
    markdownButton,
    ...["JSON", "HTML"].map((kind) =>
      action({ id: `export-${kind.toLowerCase()}` }, `Download ${kind}`, () => save(kind, report(), trouble)),
    ),
  ];
  const compareButton = action({ id: "compare" }, "Compare", () => compare());
  const whenWhole = [...files, compareButton];
  const place = el("div", { class: "all-cards making" });
  let other = new URLSearchParams(location.search).get("compare");
  let left = false;
  let known = false;
  let running = false;
  let began = performance.now();
  /** @type {() => unknown} */
  let stopClock = () => undefined;
  let ticker = 0;
  /** How many checks screen readers have heard of, and when. */
  let told = { count: 0, at: 0 };
  // Most answers come in a row; each would draw the whole head anew.
  const drawing = paced(draw, 150);

  leave = () => {
    left = true;
    run.leave();
    drawing.cancel();
    comparison?.leave();
    stopClock();
    clearInterval(ticker);
  };
  cancel.onclick = () => {
    run.cancel();
    comparison?.cancel();
  };
  result.onclick = (event) => {
    const link = event.target instanceof Element && event.target.closest('a[href^="#card-"]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    cards.forEach((card, { slug }) => link.getAttribute("href") === `#card-${slug}` && card.reveal());
  };
  catalogue.hidden = true;
  document.body.classList.add("asked");
  document.title = titled(name);
  result.replaceChildren(
    head(heading, `${found.label}, ${dateTime(at)}${whereName && `, from ${whereName}`}`),
    trouble,
    ...overview.nodes,
    toolbar(files, compareButton),
    beside,
    place,
    unfitLine(unfit),
  );
  if (other) beside.append(el("p", { class: "muted" }, "The comparison begins as soon as this report is complete."));
  beside.classList.toggle("wanted", Boolean(other));
  announce(`Running ${plural(checks.length, "check")} on ${found.text}.`);
  drawing.now();
  // The head is seen first: to make all cards takes a slow phone a tenth of a second.
  setTimeout(makeCards);
  go(...checks.slice(0, 1));
  if (byHand) heading.focus();

  /** @param {...Check} some */
  function go(...some) {
    if (!running) {
      began = performance.now();
      told = { count: done(), at: began };
    }
    running = true;
    busy(true);
    for (const button of whenWhole) button.disabled = true;
    stopClock();
    stopClock = startClock(byId("clock"), 0);
    clearInterval(ticker);
    ticker = setInterval(tick, 500);
    run.add(...some);
  }

  /** The clocks go on as long as one has something to count. */
  function tick() {
    cards.forEach((card) => card.tick());
    milestone();
    const counting = checks.some(
      ({ stage }) => !ended(stage) || (stage.state === "limited" && stage.until > performance.now()),
    );
    if (!counting) clearInterval(ticker);
  }

  /** Names the target in the heading and the title, and keeps it for the history. */
  function accepted() {
    if (known) return;
    known = true;
    remember(found.text);
    if (named) return;
    // What is before the @ of an address is a stranger's text like any other.
    const parts = partsOf(found.kind === "email" ? (found.host ?? "") : found.text);
    named = { text: found.text, host: parts.host, nodes: headingOf(parts) };
    heading.replaceChildren(...named.nodes);
    document.title = titled(name);
  }

  /** @param {Check} check */
  function moved(check) {
    for (const other of new Set([...calmed(checks, found), check])) cards.get(other)?.show();
    drawing.ask();
  }

  function makeCards() {
    for (const check of checks)
      cards.set(
        check,
        makeCard(check, found.text, () => go(check)),
      );
    cards.forEach((card) => card.show());
    place.replaceChildren(...groups(checks, cards));
    place.classList.remove("making");
  }

  function draw() {
    overview.update();
    const state = reportState(checks, found);
    document.title = `${state ? signs[state.tone] : ""}${titled(name)}`;
    status.textContent = `${done()} of ${plural(checks.length, "check")} ended.`;
  }

  function done() {
    return checks.filter((check) => ended(check.stage)).length;
  }

  /** Informs screen readers how far the report is, at most every few seconds. */
  function milestone() {
    const [count, now] = [done(), performance.now()];
    if (!running || count === told.count || now - told.at < saidEvery) return;
    told = { count, at: now };
    announce(`${count} of ${plural(checks.length, "check")} finished.`);
  }

  /** @param {string} refused */
  function idle(refused) {
    running = false;
    const back = reading(place);
    stopClock();
    busy(false);
    for (const button of whenWhole) button.disabled = false;
    if (refused !== "") {
      drawing.cancel();
      const { stage } = checks[0];
      const about = stage.state === "answered" && stage.reply.field === "options.place" ? from : null;
      return turnAway(heading, found, refused, about ?? target);
    }
    const near = nearby(place);
    drawing.now();
    const cancelled = checks.some((check) => check.stage.state === "cancelled");
    const answered = checks.filter((check) => check.stage.state === "answered" && check.stage.reply.ok).length;
    status.textContent =
      `${answered} of ${plural(checks.length, "check")} answered ` +
      `${cancelled ? "before the report was cancelled" : `in ${seconds(performance.now() - began)}`}.`;
    announce([status.textContent, stateText(reportState(checks, found)), ...missing(checks, found)].join(" "));
    settle(place, checks, cards, near, inapplicable(checks, found));
    back();
    if (!other || cancelled) return;
    compare(other);
    other = null;
  }

  /** @param {string} [text] the target of the other report; without it the visitor is asked */
  async function compare(text) {
    const none = (/** @type {unknown} */ failure) => ({
      makeComparison: unmade(
        failure,
        trouble,
        "The comparison was not made: the part of this page that makes it did not load.",
      ),
    });
    const { makeComparison } = await import("../lib/report-other.js").catch(none);
    if (!makeComparison || left) return;
    comparison ??= makeComparison({
      report: { found, checks, at },
      tools,
      where,
      place: beside,
      trouble,
      visit: visitWith,
      closed: () => heading.focus(),
    });
    comparison.begin(text);
  }

  /** @returns {import("../lib/export.js").Report} */
  function report() {
    const state = stateText(reportState(checks, found));
    return {
      target: found.text,
      recognisedAs: found.label,
      place: whereName,
      at,
      summary: [state, headline(checks, found), ...missing(checks, found)].filter(Boolean),
      attention: concernsOf(checks, found),
      checks: checks.map(exported),
    };
  }
}

/**
 * The whole report of a target that is refused is the sentence why.
 * @param {HTMLElement} heading
 * @param {Found} found
 * @param {string} refused
 * @param {HTMLElement} field
 */
function turnAway(heading, found, refused, field) {
  // The field is marked; the sentence stands once, below it.
  field.setAttribute("aria-invalid", "true");
  status.textContent = "";
  announce(refused);
  result.replaceChildren(head(heading, found.label), el("div", { class: "refused" }, notice("bad", refused)));
}

/** A title that begins with the target. @param {string} title */
const titled = (title) => (named ? `${named.host} · ${title}` : title);

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

/** @param {HTMLElement[]} files @param {HTMLElement} beside */
function toolbar(files, beside) {
  return el(
    "div",
    { class: "toolbar", role: "group", "aria-label": "This report" },
    menu(
      copyLink(),
      ...files,
      action({}, "Print", () => window.print()),
    ),
    beside,
  );
}

/** @param {{id?: string}} names @param {string} label @param {() => unknown} act */
function action(names, label, act) {
  const button = el("button", { type: "button", class: "quiet", ...names }, label);
  button.addEventListener("click", act);
  return button;
}

/** What cannot look at such a target, in one line. @param {string[]} titles */
const unfitLine = (titles) =>
  el("p", { class: "unfit" }, titles.length > 0 && `Not for this kind of target: ${listed(titles)}.`);

start();

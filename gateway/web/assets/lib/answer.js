// @ts-check
// An answer as the page of a tool shows it: the conclusion, what it means, what changed, the pictures and tables; and
// folded away the same check in a terminal, and the sources.

import { keep, keyOfFinding, oneSided } from "./compare.js";
import { el, freshId } from "./dom.js";
import { download, fileName } from "./download.js";
import { fixPart } from "./fix.js";
import { cutAnswer, dateTime, relative } from "./format.js";
import {
  code,
  command,
  copyAction,
  copyLink,
  facts,
  folded,
  leadTo,
  lost,
  menu,
  more,
  notice,
  section,
  table,
  value,
  verdictLine,
} from "./parts.js";
import { attempt, verdictOf } from "./view.js";

/** @typedef {import("./api.js").Answer} Answer */
/** @typedef {import("./view.js").Judge} Judge */
/** @typedef {import("./view.js").View} View */
/** @typedef {import("./view.js").Asked} Asked */

/**
 * A whole answer.
 * @param {Judge} judge
 * @param {View} view
 * @param {Answer} answer with data
 * @param {Asked} asked
 * @param {import("./compare.js").Past} [past] where the answer has been kept already; else it is kept now
 * @returns {Node[]}
 */
export function renderAnswer(judge, view, answer, asked, past) {
  const d = dataOf(answer);
  const verdict = verdictOf(d);
  const json = jsonPart(d, asked);
  json.hidden = true;
  const changed = changedPart(past ?? keep(judge, d, asked));
  const parts = el(
    "div",
    { class: "parts" },
    ...attempt(
      () => view.show(d, asked),
      [notice("warn", "This page could not display the answer. The full answer is under JSON.")],
    ),
    lessonsPart(attempt(() => view.lessons?.(d) ?? [], [])),
    terminalPart(attempt(() => view.terminal(asked, d), [])),
    sourcesPart(attempt(() => view.sources(d), [])),
  );
  parts.append(...fixes(d, asked, parts));
  // On a wide screen the words stand beside the pictures, else above them.
  const words = el(
    "div",
    { class: "words" },
    meaningPart(d.conclusion?.meaning),
    attempt(() => view.yours?.(d, asked) ?? null, null),
    toolbar(d, asked, toggleBetween(parts, json)),
    changed,
    contents(parts),
  );
  return [
    verdictLine(verdict),
    ...cutPart(d),
    el("div", { class: "answer" }, words, parts, json),
    requestLine(answer, asked),
  ];
}

/**
 * The texts to paste that the view has no place for.
 * @param {import("./view.js").Data} d
 * @param {Asked} asked
 * @param {HTMLElement} parts
 */
function fixes({ findings }, asked, parts) {
  const before = Array.isArray(findings) ? findings : [];
  const shown = [...parts.querySelectorAll("[data-fix]")].map((part) => part.getAttribute("data-fix"));
  const left = before.filter((f) => f?.paste && !shown.includes(keyOfFinding(f)));
  if (left.length === 0) return [];
  return [
    section(
      "To fix",
      ...left.map((f) => more(f.message, f.remedy && el("p", {}, f.remedy), fixPart(f, { asked, before }))),
    ),
  ];
}

/**
 * Where the parts of an answer are, beside it on a wide screen. What is folded away opens on the way there.
 * @param {HTMLElement} parts
 */
function contents(parts) {
  const headings = [...parts.querySelectorAll(":scope > .part > h2, :scope > .fold > summary > h2")];
  if (headings.length < 3) return null;
  const list = el(
    "ul",
    {},
    ...headings.map((heading) => {
      const link = el("a", { href: `#${heading.id}` }, heading.textContent);
      leadTo(link, () => heading);
      return el("li", {}, link);
    }),
  );
  return el("nav", { class: "on-page", "aria-label": "On this page" }, list);
}

/** @param {Answer} answer with data */
const dataOf = (answer) => /** @type {import("./view.js").Data} */ (answer.data);

/** What a page shows where it has an answer and nothing to draw it with. */
const undrawn = "The part of this page that displays the answer did not load. Below is the answer as JSON.";

/**
 * An answer that cannot be drawn, since a module of its tool did not load: its conclusion and its JSON.
 * @param {Answer} answer with data
 * @param {Asked} asked
 * @returns {Node[]}
 */
export function renderUndrawn(answer, asked) {
  const d = dataOf(answer);
  return [
    verdictLine(verdictOf(d)),
    ...cutPart(d),
    lost(undrawn),
    toolbar(d, asked),
    jsonPart(d, asked),
    requestLine(answer, asked),
  ];
}

/** @param {import("./view.js").Data} d */
const cutPart = (d) => (d.truncated ? [notice("info", cutAnswer)] : []);

/**
 * @param {HTMLElement} body
 * @param {HTMLElement} json
 */
function toggleBetween(body, json) {
  const toggle = el("button", { type: "button", class: "quiet", id: "show-json", "aria-pressed": "false" }, "JSON");
  toggle.addEventListener("click", () => {
    const on = json.hidden;
    json.hidden = !on;
    body.hidden = on;
    toggle.setAttribute("aria-pressed", String(on));
  });
  return toggle;
}

/**
 * @param {import("./view.js").Data} d
 * @param {Asked} asked
 * @param {HTMLElement[]} views buttons that show the answer in another way
 */
function toolbar(d, asked, ...views) {
  const save = el("button", { type: "button", class: "quiet", id: "download-json" }, "Download JSON");
  save.addEventListener("click", () =>
    download(`${fileName(asked.slug, asked.input)}.json`, "application/json", pretty(d)),
  );
  return el(
    "div",
    { class: "toolbar" },
    menu(
      copyLink(),
      ...views,
      copyAction("Copy JSON", () => pretty(d)),
      save,
    ),
  );
}

/** @param {import("./view.js").Data} d */
const pretty = (d) => `${JSON.stringify(d, null, 2)}\n`;

/** @param {import("./compare.js").Past} past @returns {HTMLElement | null} */
function changedPart({ at, list }) {
  if (at === null) return null;
  const since = `your last run in this browser, ${relative(at)}`;
  if (list.length === 0) return el("p", { class: "unchanged" }, `Nothing changed since ${since}.`);
  const ordered = [...list.filter(oneSided), ...list.filter((c) => !oneSided(c))];
  const rows = ordered.map((c) => [c.label, lines(c.gone, "gone"), lines(c.come, "come")]);
  const columns = [{ title: "What" }, { title: "Before" }, { title: "Now" }];
  const id = freshId("part");
  return el(
    "section",
    { class: "changed", "aria-labelledby": id },
    el("h2", { id }, "What changed"),
    el("p", {}, `Compared with ${since}.`),
    table({ caption: "What changed", columns, rows, hideCaption: true }),
  );
}

/** @param {string[]} list @param {string} kind */
function lines(list, kind) {
  return list.length === 0
    ? el("span", { class: "none" }, "—")
    : el("ul", { class: `values ${kind}` }, ...list.map((text) => el("li", {}, text)));
}

/** @param {string | null} [meaning] of the conclusion */
const meaningPart = (meaning) => (meaning ? section("What this means", prose(meaning)) : null);

/** @param {string[]} lessons */
const lessonsPart = (lessons) => (lessons.length > 0 ? folded("Background", "", prose(...lessons)) : null);

/** @param {...string} paragraphs */
const prose = (...paragraphs) => el("div", { class: "prose" }, ...paragraphs.map((text) => el("p", {}, text)));

/** @param {import("./view.js").Command[]} commands */
function terminalPart(commands) {
  if (commands.length === 0) return null;
  const blocks = commands.flatMap((c) => [
    el("p", { class: "command-label" }, c.label),
    command(c.command, `command: ${c.label}`),
  ]);
  return folded("The same check in your terminal", "", el("div", { class: "commands" }, ...blocks));
}

/** @param {import("./view.js").Source[]} sources */
function sourcesPart(sources) {
  if (sources.length === 0) return null;
  return folded(
    "Sources",
    [...new Set(sources.map((s) => s.name))].join("; "),
    facts(sources.map((s) => [s.name, el("div", {}, place(s), when(s))])),
  );
}

/** @param {import("./view.js").Source} s */
function place(s) {
  const text = s.url ?? s.zone ?? s.server;
  return text ? value(text, { what: "source" }) : null;
}

/** What was not fetched earlier was looked at for this very answer. @param {import("./view.js").Source} s */
function when({ fetchedAt, ageMs = 0, cached, measured, shared, told }) {
  const at = fetchedAt ?? Date.now() - ageMs;
  if (measured)
    return el(
      "div",
      { class: "muted" },
      `Measured ${dateTime(at)}${shared ? ", for another request a few seconds before yours" : ""}.`,
    );
  return el(
    "div",
    { class: "muted" },
    told ?? `Fetched ${relative(at)}, ${dateTime(at)}${cached ? ", from our cache" : ""}.`,
  );
}

/**
 * @param {import("./view.js").Data} d
 * @param {Asked} asked
 */
function jsonPart(d, asked) {
  return el(
    "section",
    { class: "json", "aria-label": "The answer as JSON" },
    code(pretty(d), `the answer of ${asked.slug} as JSON`),
  );
}

/** @param {Answer} answer @param {Asked} asked */
function requestLine(answer, asked) {
  return el(
    "div",
    { class: "request" },
    facts([
      ["Place", asked.options.place ? (answer.data?.place?.name ?? null) : null],
      ["Request", answer.requestId ? value(answer.requestId, { what: "request id" }) : null],
    ]),
  );
}

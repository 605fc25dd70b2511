// @ts-check
// Two reports side by side, fact by fact: what only one of them has, what differs, and what is the same. The other one
// is made now, or was saved as a file.

import { changes, codeChanges, oneSided, outcomeOf } from "./compare.js";
import { el } from "./dom.js";
import { listed, plural } from "./format.js";
import { folded, lines, mark, table } from "./parts.js";
import { attempt } from "./view.js";

/** @typedef {import("./view.js").Facts} Facts */
/** @typedef {import("./view.js").Judge} Judge */
/** @typedef {{facts: Facts, outcome: import("./compare.js").Outcome}} Answer what is compared of an answer */
/** @typedef {{slug: string, title: string, answer: Answer | null}} Side one check of a report */
/** @typedef {import("./compare.js").Change} Change */
/** @typedef {{title: string, changes: Change[]}} Difference */
/** @typedef {{title: string, facts: [label: string, values: string[]][]}} Same the facts that are the same */
/** @typedef {{name: string, verdict: import("./view.js").Verdict | null, when: string, checks: Side[]}} Report */

/** Stands for the target itself in the facts of both sides, so that its own name is no difference. */
const itself = "\0";

/** @param {Facts} facts @param {string} name of the target @returns {Facts} */
function unnamed(facts, name) {
  const hide = (/** @type {string} */ fact) => (fact === name ? itself : fact);
  return Object.fromEntries(
    Object.entries(facts).map(([label, fact]) => [hide(label), Array.isArray(fact) ? fact.map(hide) : hide(fact)]),
  );
}

/** Two targets have a finding in common where its code is the same. @param {import("./compare.js").Found} found */
const byCode = ({ code }) => code;

/** Where the targets themselves are the fact. */
const ownAddress = "Its address";

/** @param {Answer} a @param {Answer} b @param {[string, string]} names @returns {Change[]} */
function changesBetween(a, b, [left, right]) {
  const shown = (/** @type {string[]} */ list, /** @type {string} */ name) =>
    list.map((text) => (text === itself ? name : text));
  const list = changes(unnamed(a.facts, left), unnamed(b.facts, right)).map(({ label, gone, come }) => ({
    label: label === itself ? ownAddress : label,
    gone: shown(gone, left),
    come: shown(come, right),
  }));
  return [...codeChanges(a.outcome, b.outcome, byCode), ...list];
}

/** @param {Answer} a @param {Answer} b @param {[string, string]} names @returns {Same["facts"]} */
function sharedBy(a, b, [left, right]) {
  const [ours, theirs] = [unnamed(a.facts, left), unnamed(b.facts, right)];
  const differ = new Set(changes(ours, theirs).map(({ label }) => label));
  const shown = (/** @type {string} */ text) => (text === itself ? `${left}, ${right}` : text);
  return Object.entries(ours).flatMap(([label, fact]) => {
    const values = [fact].flat().filter((text) => text !== "" && text !== null && text !== undefined);
    const name = label === itself ? ownAddress : label;
    return differ.has(label) || values.length === 0
      ? []
      : [/** @type {Same["facts"][number]} */ ([name, values.map((text) => shown(String(text)))])];
  });
}

/**
 * @param {Side[]} left
 * @param {Side[]} right
 * @param {[string, string]} names of their targets
 * @returns {{only: Difference[], differing: Difference[], same: Same[], alike: string[], single: [title: string, left:
 *   boolean][]}} only is what one side has; alike are checks without a difference; single are those that answered on
 *   one side, and whether that is the left one
 */
export function differences(left, right, names) {
  const titles = new Map([...left, ...right].map((side) => [side.slug, side.title]));
  const of = (/** @type {Side[]} */ sides, /** @type {string} */ slug) =>
    sides.find((side) => side.slug === slug)?.answer ?? null;
  /** @type {ReturnType<typeof differences>} */
  const found = { only: [], differing: [], same: [], alike: [], single: [] };
  const add = (/** @type {Difference[]} */ list, /** @type {string} */ title, /** @type {Change[]} */ some) =>
    some.length > 0 && list.push({ title, changes: some });
  for (const [slug, title] of titles) {
    const [a, b] = [of(left, slug), of(right, slug)];
    if (!a && !b) continue;
    if (!a || !b) {
      found.single.push([title, a !== null]);
      continue;
    }
    const list = changesBetween(a, b, names);
    add(found.only, title, list.filter(oneSided));
    add(
      found.differing,
      title,
      list.filter((change) => !oneSided(change)),
    );
    if (list.length === 0) found.alike.push(title);
    const facts = sharedBy(a, b, names);
    if (facts.length > 0) found.same.push({ title, facts });
  }
  return found;
}

/**
 * What is compared of an answer, null where there is none.
 * @param {Judge | null} judge
 * @param {import("./view.js").Data | null | undefined} data
 * @returns {Answer | null}
 */
export const answerOf = (judge, data) =>
  judge && data ? attempt(() => ({ facts: judge.facts(data), outcome: outcomeOf(data) }), null) : null;

/** The largest file that is read: a saved report has at most a few hundred kilobytes. */
const largest = 8 << 20;

/**
 * A report that was saved as JSON.
 * @param {Blob} file
 * @param {Map<string, {title: string, judge: () => Promise<Judge | null>}>} known the tools: a file names what it likes
 * @returns {Promise<Report | null>} null where it is none
 */
export async function readSaved(file, known) {
  if (file.size > largest) return null;
  const saved = parsed(await file.text());
  if (typeof saved?.target !== "string" || !Array.isArray(saved.tools)) return null;
  const checks = await Promise.all(
    saved.tools.flatMap((/** @type {Saved | null} */ one) => {
      const tool = one && known.get(one.slug);
      return tool
        ? [
            tool.judge().then((judge) => ({
              slug: one.slug,
              title: tool.title,
              answer: answerOf(judge, one.ok === true ? one.data : null),
            })),
          ]
        : [];
    }),
  );
  return {
    name: saved.target.slice(0, 300),
    verdict: null,
    when: typeof saved.at === "string" ? saved.at.slice(0, 40) : "",
    checks,
  };
}

/** @typedef {{slug: string, ok?: boolean, data?: import("./view.js").Data}} Saved one check of a saved report */

/** @param {string} text @returns {{target?: unknown, at?: unknown, tools?: unknown} | null} */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** How many checks they are of. @param {Difference[]} list */
const checksIn = (list) => new Set(list.map(({ title }) => title)).size;

/** What a row is about. @param {string} title @param {string} label @param {boolean} solo of the only check */
const rowName = (title, label, solo) => (solo ? label : `${title}: ${label}`);

/**
 * @param {Report} left
 * @param {Report} right
 * @param {() => void} close
 * @returns {Node[]}
 */
export function drawn(left, right, close) {
  const found = differences(left.checks, right.checks, [left.name, right.name]);
  const { only, differing, same, alike, single } = found;
  const unlike = [...only, ...differing];
  const solo = left.checks.length === 1 && right.checks.length === 1;
  const count = unlike.reduce((n, d) => n + d.changes.length, 0);
  // The same name on both sides is distinguished by its time.
  const names =
    left.name === right.name
      ? [`${left.name}, now`, `${right.name}, ${right.when || "saved"}`]
      : [left.name, right.name];
  const end = el("button", { type: "button", class: "quiet" }, "Close the comparison");
  end.addEventListener("click", close);
  const sum =
    count > 0
      ? `${plural(count, "difference")}${solo ? "" : ` in ${plural(checksIn(unlike), "check")}`}.`
      : "No differences in what both reports checked.";
  return [
    el(
      "div",
      { class: "comparison-head" },
      el("h2", { id: "comparison-title", tabindex: "-1" }, `${names[0]} and ${names[1]}`),
      end,
    ),
    el(
      "div",
      { class: "sides" },
      ...[left, right].map((side, i) =>
        el(
          "p",
          { class: `side ${side.verdict?.tone ?? ""}` },
          side.verdict && mark(side.verdict.tone),
          el(
            "span",
            {},
            side.verdict?.text ??
              `${names[i]}: ${plural(side.checks.filter((check) => check.answer).length, "answer")}.`,
          ),
        ),
      ),
    ),
    el("p", { class: "sum" }, sum),
    onlyOne(only, single, names, solo),
    ...differing.map((d) => differencesOf(d, names)),
    theSame(same, alike, solo),
  ].filter((node) => node !== null);
}

/**
 * What only one of the two has.
 * @param {Difference[]} only
 * @param {[string, boolean][]} single
 * @param {string[]} names
 * @param {boolean} solo
 */
function onlyOne(only, single, names, solo) {
  const rows = [
    ...only.flatMap(({ title, changes: list }) =>
      list.map((c) => [rowName(title, c.label, solo), lines(c.gone), lines(c.come)]),
    ),
    ...single.map(([title, first]) => [title, lines(first ? ["answered"] : []), lines(first ? [] : ["answered"])]),
  ];
  if (rows.length === 0) return null;
  const columns = [{ title: "What" }, { title: names[0] }, { title: names[1] }];
  const part = folded(
    "Only one of the two has",
    plural(rows.length, "item"),
    table({ caption: "What only one of the two has", columns, rows, hideCaption: true }),
  );
  part.setAttribute("open", "");
  return part;
}

/** @param {Same[]} same @param {string[]} alike @param {boolean} solo */
function theSame(same, alike, solo) {
  const rows = same.flatMap(({ title, facts }) =>
    facts.map(([label, list]) => [rowName(title, label, solo), lines(list)]),
  );
  if (rows.length === 0 && alike.length === 0) return null;
  const columns = [{ title: "What" }, { title: "Both" }];
  return folded(
    "The same",
    listed(alike.length > 0 ? alike : [plural(rows.length, "fact")]),
    rows.length > 0 && table({ caption: "What is the same", columns, rows, hideCaption: true }),
  );
}

/** A check with more differences than this is folded until it is asked for. */
const fewChanges = 5;

/** @param {Difference} difference @param {string[]} names */
function differencesOf({ title, changes: list }, names) {
  const columns = [{ title: "What" }, { title: names[0] }, { title: names[1] }];
  const rows = list.map((c) => [c.label, lines(c.gone), lines(c.come)]);
  const part = folded(
    title,
    `differs in ${plural(list.length, "fact")}`,
    table({ caption: `What differs in ${title}`, columns, rows, hideCaption: true }),
  );
  if (list.length <= fewChanges) part.setAttribute("open", "");
  return part;
}

/**
 * The question what to compare with.
 * @param {{target: (text: string) => string, file?: (file: Blob) => Promise<string>}} take each gives the sentence of
 *   a refusal, or nothing
 * @returns {HTMLElement}
 */
export function question(take) {
  const input = el("input", {
    id: "compare-target",
    type: "text",
    placeholder: "example.org",
    autocomplete: "off",
    autocapitalize: "none",
    spellcheck: "false",
    "aria-describedby": "compare-error",
  });
  const file = el("input", {
    id: "compare-file",
    type: "file",
    accept: ".json,application/json",
    "aria-describedby": "compare-error",
  });
  const error = el("p", { class: "error", id: "compare-error" });
  const form = el(
    "form",
    { class: "compare-form", novalidate: true },
    el(
      "div",
      { class: "field" },
      el("label", { for: "compare-target" }, "Compare with another target"),
      el("div", { class: "row" }, input, el("button", { type: "submit" }, "Compare")),
    ),
    take.file &&
      el("div", { class: "field" }, el("label", { for: "compare-file" }, "Or with a report saved as JSON"), file),
    error,
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    error.textContent = take.target(input.value);
    if (error.textContent !== "") input.focus();
  });
  file.addEventListener("change", async () => {
    const chosen = file.files?.[0];
    if (chosen) error.textContent = (await take.file?.(chosen)) ?? "";
  });
  return form;
}

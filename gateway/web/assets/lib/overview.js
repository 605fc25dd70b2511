// @ts-check
// The top of a report: its state in one sentence, the facts that most people want, what deserves attention, and where
// every check is. Its space is reserved while checks are out, so that nothing below it moves.

import { attention } from "./attention.js";
import { ended, stateOf } from "./card.js";
import { el, keyed } from "./dom.js";
import { fixPart } from "./fix.js";
import { fold, forMailAlone, isUnasked, withoutSite } from "./fold.js";
import { listed, plural } from "./format.js";
import { doNotApply } from "./report-cards.js";
import { mark, more } from "./parts.js";
import { proven } from "./proven.js";
import { relevance } from "./rank.js";
import { earlyState, stateOf as wholeState } from "./state.js";
import { makeTiles } from "./tiles.js";

/**
 * @typedef {import("./card.js").Check & {group: string, concerns: import("./view.js").Concern[] | null}} Check concerns
 *   are null where there is no answer that could be read
 */
/** @typedef {{text: string, host: string | null, kind: import("./recognise.js").Meaning}} Target */
/** @typedef {Omit<ReturnType<typeof attention<Judged>>[number], "from"> & {from: Check[]}} Entry */
/** @typedef {Check & {concerns: import("./view.js").Concern[]}} Judged */
/** @typedef {Entry["group"]} Group */

/** More than these are folded away where there is no room to spare; on a phone each takes several lines. */
const usual = (/** @type {number} */ width) => (width < 480 ? 4 : 6);

/** More than these are folded away in any case. */
const mostShown = 12;

/** @param {Check} check */
const dataOf = (check) =>
  check.stage.state === "answered" && check.stage.reply.ok ? check.stage.reply.data : undefined;

/**
 * All concerns, worst first, what is beside the point last; what follows from one cause is with it.
 * @param {Check[]} checks
 * @param {Target} target
 */
export const concernsOf = (checks, target) => foldedOf(checks, target).entries;

/** @param {Check[]} checks @param {Target} target */
function foldedOf(checks, target) {
  const place = (/** @type {Check} */ check) => relevance(target.kind, { slug: check.slug, data: dataOf(check) });
  const judged = /** @type {Judged[]} */ (checks.filter((check) => check.concerns !== null));
  const entries = attention(
    judged.toSorted((a, b) => place(a) - place(b)),
    (check) => place(check) >= 100,
  );
  const put = forMailAlone(checks, target.kind) ? withoutSite : fold;
  return put(/** @type {Entry[]} */ (entries), checks, target.kind);
}

/**
 * The checks whose faults are no problem of the target.
 * @template {Check} C
 * @param {C[]} checks
 * @param {Target} target
 */
function harmless(checks, { kind }) {
  const alone = forMailAlone(checks, kind);
  return checks.filter((check) => isUnasked(check, kind) || (alone && check.slug === "uptime"));
}

/** @typedef {import("./view.js").Conclusion} Conclusion */

/** A conclusion without its fault. @param {Conclusion} conclusion @returns {Conclusion} */
const calm = (conclusion) => ({
  ...conclusion,
  state: ["fail", "warn"].includes(conclusion.state) ? "info" : conclusion.state,
});

/** The answers of a report by their tools. @param {Check[]} checks @param {Target} target */
function answersOf(checks, target) {
  const some = harmless(checks, target);
  return new Map(
    checks.flatMap((check) => {
      const data = check.concerns ? dataOf(check) : undefined;
      if (!data) return [];
      const shown = some.includes(check) ? { ...data, conclusion: calm(data.conclusion) } : data;
      return [/** @type {const} */ ([check.slug, shown])];
    }),
  );
}

/** The conclusions of checks that failed. @param {Check[]} checks @param {Target} target */
function failuresOf(checks, target) {
  const some = harmless(checks, target);
  return new Map(
    checks.flatMap((check) => {
      const conclusion = check.stage.state === "answered" && check.stage.reply.conclusion;
      if (!conclusion) return [];
      return [/** @type {const} */ ([check.slug, some.includes(check) ? calm(conclusion) : conclusion])];
    }),
  );
}

/**
 * Takes the red from the conclusions of checks whose faults are no problem of the target.
 * @template {Check} C
 * @param {C[]} checks
 * @param {Target} target
 * @returns {C[]} those that are to be drawn anew
 */
export const calmed = (checks, target) =>
  harmless(checks, target).filter((check) => {
    const { verdict } = check;
    const loud = verdict !== null && ["bad", "warn"].includes(verdict.tone);
    if (loud) check.verdict = { ...verdict, tone: "info" };
    return loud;
  });

/** More of a name than this is in the heading. */
const longestName = 60;

/** A target as a sentence names it: a page or a mailbox by its host. @param {Target} target */
function shortName({ text, host, kind }) {
  const name = kind === "url" || kind === "email" ? (host ?? text) : text;
  return name.length > longestName ? `${name.slice(0, longestName)}…` : name;
}

/**
 * The report in one sentence.
 * @param {Check[]} checks
 * @param {Target} target
 * @returns {import("./state.js").State | null} null while the answer that decides is out
 */
export function reportState(checks, target) {
  const open = checks.filter((check) => !ended(check.stage)).length;
  const [name, concerns] = [shortName(target), concernsOf(checks, target)];
  const failed = [...failuresOf(checks, target)].filter(([, { state }]) => state === "fail");
  /** @type {Map<string, import("./view.js").Data>} */
  const answers = new Map(failed.map(([slug, conclusion]) => [slug, { conclusion, findings: [] }]));
  for (const [slug, data] of answersOf(checks, target)) answers.set(slug, data);
  if (target.kind === "address" && answers.get("uptime")?.conclusion.state !== "ok") answers.delete("uptime");
  return open > 0 ? earlyState(name, target.kind, answers, concerns, open) : wholeState(name, answers, concerns);
}

/** The same as text. @param {import("./state.js").State | null} state */
export const stateText = (state) =>
  state ? [state.text, state.aside && `${state.aside}.`].filter(Boolean).join(" ") : "";

/**
 * What the list of concerns is, in one sentence.
 * @param {Check[]} checks
 * @param {Target} target
 */
export function headline(checks, target) {
  const open = checks.filter((check) => !ended(check.stage)).length;
  if (open > 0) return `${checks.length - open} of ${plural(checks.length, "check")} finished so far.`;
  const judged = checks.filter((check) => check.concerns !== null).length;
  if (judged === 0) return "No check gave an answer.";
  const found = concernsOf(checks, target).length;
  if (found > 0) return `${plural(found, "finding")} in ${plural(judged, "answer")}.`;
  return judged === 1 ? "The check is fine." : `All ${judged} checks are fine.`;
}

/** The checks that a name without an address leaves nothing to do. @param {Check[]} checks @param {Target} target */
export const inapplicable = (checks, target) =>
  foldedOf(checks, target).silent.filter(({ stage }) => stage.state === "answered" && stage.reply.status === 400);

/**
 * Which checks gave nothing to look at, or not all there is, in sentences.
 * @param {Check[]} checks
 * @param {Target} target
 * @returns {string[]}
 */
export function missing(checks, target) {
  const explained = foldedOf(checks, target).silent;
  const apart = inapplicable(checks, target);
  const off = checks.filter((check) => check.stage.state === "answered" && check.stage.reply.status === 501);
  const silent = checks.filter(
    (check) =>
      ended(check.stage) &&
      ["failed", "limited"].includes(stateOf(check.stage)) &&
      ![...off, ...explained].includes(check),
  );
  const unread = checks.filter((check) => stateOf(check.stage) === "done" && check.concerns === null);
  const cut = checks.filter((check) => check.stage.state === "answered" && check.stage.reply.data?.truncated);
  const failures = failuresOf(silent, target);
  /** @type {Map<string, string[]>} */
  const reasons = new Map();
  for (const { slug, title } of silent) {
    const reason = failures.get(slug)?.message;
    if (reason) reasons.set(reason, [...(reasons.get(reason) ?? []), title]);
  }
  return [
    apart.length > 0 ? `${doNotApply(apart.length)}.` : "",
    ...[...reasons].map(([reason, titles]) => `${listed(titles)}: ${reason}`),
    who(
      silent.filter(({ slug }) => !failures.has(slug)),
      "could not answer",
    ),
    unread.length > 0
      ? "This page could not read the " +
        `${unread.length === 1 ? "answer of 1 check" : `answers of ${unread.length} checks`}: ` +
        `${listed(unread.map((check) => check.title))}.`
      : "",
    who(
      checks.filter((check) => check.stage.state === "cancelled"),
      "gave no answer before the report was cancelled",
    ),
    cut.length > 0
      ? `${plural(cut.length, "answer was too long and has", "answers were too long and have")} been cut: ` +
        `${listed(cut.map((check) => check.title))}.`
      : "",
    off.length > 0 ? `Not enabled here: ${listed(off.map((check) => check.title))}.` : "",
  ].filter((sentence) => sentence !== "");
}

/** @param {Check[]} checks @param {string} what */
function who(checks, what) {
  return checks.length === 0
    ? ""
    : `${plural(checks.length, "check")} ${what}: ${listed(checks.map((check) => check.title))}.`;
}

/** The groups of findings: the colour of their filter, what one is called, and their heading. */
const groups = /** @type {const} */ ([
  ["broken", "bad", "problem", "Does not work"],
  ["safer", "warn", "suggestion", "Could be safer"],
  ["note", "info", "note", "Good to know"],
]);

/** What the place of the findings holds before the first; the server's page has the same. */
const promise = "Findings appear here, most important first.";

/**
 * @param {Check[]} checks
 * @param {Target} target
 * @returns {{nodes: HTMLElement[], update: () => void}}
 */
export function makeOverview(checks, target) {
  const list = el("ol", { class: "concerns", hidden: true });
  const rest = el("ol", { class: "concerns" });
  const label = el("summary");
  const fold = el("details", { class: "more", hidden: true }, label, rest);
  const first = el("p", { class: "headline" });
  const last = el("div", { class: "missing" });
  const well = el("div", { class: "proven" });
  const name = shortName(target);
  // A long name takes more lines on a phone: as many are reserved as any sentence about it takes.
  const sizes = /** @type {const} */ ([
    [45, "longest"],
    [30, "long"],
    [14, "middle"],
  ]);
  const state = el("div", { class: `state ${sizes.find(([most]) => name.length > most)?.[1] ?? ""}`.trim() });
  const tiles = makeTiles(checks.map((check) => check.slug));
  // Few checks find little: they get less room.
  const size = checks.length > 8 ? "many" : checks.length > 3 ? "some" : "few";
  /** @type {Group | null} */
  let only = null;
  const filters = groups.map(([group, tone, word]) => filter(group, tone, word));
  const box = el(
    "section",
    { id: "attention", class: size, "aria-labelledby": "attention-title" },
    el(
      "div",
      { class: "attention-head" },
      el("h2", { id: "attention-title" }, "What deserves attention"),
      el("div", { class: "filters", role: "group", "aria-label": "Show only" }, ...filters.map((f) => f.node)),
    ),
    first,
    list,
    fold,
    last,
    well,
  );
  const contents = el("ul");
  const [drawState, drawContents] = [keyed(state), keyed(contents)];
  const overview = el(
    "div",
    { class: "overview" },
    box,
    el("nav", { class: "contents", "aria-label": "Checks of this report" }, contents),
  );
  /** @type {Map<string, HTMLLIElement>} */
  const lines = new Map();
  /** @type {HTMLLIElement[]} */
  let arranged = [];
  let width = 0;

  /** @param {Group} group @param {string} tone @param {string} word */
  function filter(group, tone, word) {
    const node = el("button", { type: "button", class: `filter ${tone}`, "aria-pressed": "false" });
    node.addEventListener("click", () => {
      only = only === group ? null : group;
      update();
    });
    return { group, word, node, draw: keyed(node) };
  }

  function update() {
    const found = concernsOf(checks, target);
    const open = checks.some((check) => !ended(check.stage));
    for (const { group, word, node, draw } of filters) {
      const n = found.filter((entry) => entry.group === group).length;
      draw([[String(n), () => el("span", {}, el("strong", {}, String(n)), ` ${n === 1 ? word : `${word}s`}`)]]);
      node.setAttribute("aria-pressed", String(only === group));
      node.disabled = n === 0 && only !== group;
    }
    drawState([stateLine()]);
    tiles.show(answersOf(checks, target), open, failuresOf(checks, target));
    drawContents(checks.map(contentsLine));
    const nothing = !open && checks.some((check) => check.concerns) && found.length === 0;
    first.classList.toggle("nothing", nothing);
    // Where there are findings their counts say it.
    first.hidden = found.length > 0;
    if (!open) first.replaceChildren(...(nothing ? [mark("good")] : []), headline(checks, target));
    else if (first.textContent !== promise) first.textContent = promise;
    last.replaceChildren(...missing(checks, target).map((sentence) => el("p", {}, sentence)));
    if (!open) showProven(found.some((entry) => entry.group === "broken") ? [] : proven(answersOf(checks, target)));
    if (box.hasAttribute("data-open") && !open) settle();
    box.toggleAttribute("data-open", open);
    const wanted = found.filter((entry) => only === null || entry.group === only).map(line);
    wanted.forEach((node, i) => {
      const { group = "" } = node.dataset;
      const first = wanted[i - 1]?.dataset.group !== group;
      const title = groups.find(([name]) => name === group)?.[3];
      if (first && title) node.dataset.title = title;
      else delete node.dataset.title;
    });
    // To arrange them takes a look at the layout, which most answers do not change.
    if (open && wanted.length === arranged.length && wanted.every((node, i) => node === arranged[i])) return;
    arranged = wanted;
    arrange(wanted);
  }

  /** Beside the findings there is room for it, on a phone it is folded away. @param {Element[]} parts */
  function showProven(parts) {
    const node = el("div", { class: "proven-parts" }, ...parts);
    const shown = usual(box.offsetWidth) < 6 ? more("What was proven", node) : node;
    well.replaceChildren(...(parts.length > 0 ? [shown] : []));
  }

  /** Put in anew as the box gets its last size, what is below it counts as new and not as moved. */
  function settle() {
    const focused = document.activeElement;
    overview.replaceChildren(...overview.childNodes);
    if (focused instanceof HTMLElement && overview.contains(focused)) focused.focus({ preventScroll: true });
  }

  /** @returns {[string, () => Element]} */
  function stateLine() {
    const state = reportState(checks, target);
    if (state)
      return [
        [state.tone, state.text, state.aside].join(" "),
        () =>
          el(
            "p",
            { class: `verdict ${state.tone}` },
            mark(state.tone),
            el(
              "span",
              {},
              state.text,
              state.aside && " ",
              state.aside && el("span", { class: "aside" }, `${state.aside}.`),
            ),
          ),
      ];
    const silent = checks.find((check) => check.slug === "uptime" && check.stage.state === "running");
    const text = silent?.seen.conclusion?.message ?? `Checking ${name}…`;
    return [
      text,
      () =>
        el(
          "p",
          { class: "verdict pending" },
          el("span", { class: "mark spinner", "aria-hidden": "true" }),
          el("span", {}, text),
        ),
    ];
  }

  /** @param {Entry} entry */
  function line(entry) {
    const key = JSON.stringify([
      entry.tone,
      entry.group,
      entry.text,
      entry.remedy,
      entry.paste,
      entry.from.map((check) => check.slug),
    ]);
    const made = lines.get(key) ?? concernLine(entry);
    lines.set(key, made);
    return made;
  }

  /**
   * Shows the usual number: fewer where the room that is reserved while checks are out is too small, and in the end as
   * many more as there is room for beside the list of checks.
   * @param {HTMLLIElement[]} all
   */
  function arrange(all) {
    const focused = document.activeElement;
    const unfolded = fold.open;
    const running = box.hasAttribute("data-open");
    const some = Math.min(usual(box.offsetWidth), all.length);
    // What was asked for by its filter is shown whole.
    const least = running ? 0 : only ? all.length : some;
    fold.open = false;
    split(all, least);
    const room = box.offsetHeight;
    for (let shown = running ? some : Math.min(mostShown, all.length); shown > least; shown--) {
      split(all, shown);
      if (box.offsetHeight <= room) break;
      // The first is shown in any case.
      if (shown === least + 1 && !running) split(all, least);
    }
    fold.open = unfolded;
    if (focused instanceof HTMLElement && box.contains(focused)) focused.focus({ preventScroll: true });
  }

  /** @param {HTMLLIElement[]} all @param {number} shown */
  function split(all, shown) {
    list.hidden = shown === 0;
    list.replaceChildren(...all.slice(0, shown));
    rest.replaceChildren(...all.slice(shown));
    rest.start = shown + 1;
    fold.hidden = shown === all.length;
    label.textContent = shown === 0 ? "" : `${all.length - shown} more`;
  }

  new ResizeObserver(() => {
    if (box.offsetWidth === width) return;
    width = box.offsetWidth;
    arrange([...list.children, ...rest.children].map((child) => /** @type {HTMLLIElement} */ (child)));
  }).observe(box);

  return { nodes: [state, tiles.node, overview], update };
}

/** @param {Entry} entry */
function concernLine(entry) {
  const { tone, code, text, group, from } = entry;
  const links = from.flatMap((check, i) => [i > 0 && ", ", el("a", { href: `#card-${check.slug}` }, check.title)]);
  return el(
    "li",
    { "data-tone": tone, "data-group": group, "data-code": code },
    mark(tone),
    el("div", {}, el("p", {}, text, " ", el("span", { class: "from" }, ...links)), advice(entry)),
  );
}

/** What to do, which can be read on demand. @param {Entry} entry */
function advice({ code, subject, remedy, paste, from: [check] }) {
  if (!remedy && !paste) return null;
  const { slug, input, options } = check;
  const found = { asked: { slug, input, options }, before: dataOf(check)?.findings ?? [] };
  return el(
    "details",
    { class: "advice" },
    el("summary", {}, "Fix"),
    remedy && el("p", {}, remedy),
    paste && fixPart({ code, subject, paste }, found),
  );
}

/**
 * What a state looks like in the list of checks, and how it is read out. @type {Record<import("./card.js").State,
 * [string, string]>}
 */
const signs = {
  waiting: ["", "Waiting: "],
  running: ["", "Running: "],
  done: ["i", "Answered: "],
  failed: ["–", "No answer: "],
  limited: ["–", "Limited: "],
  cancelled: ["–", "Cancelled: "],
};

/** @param {Check} check @returns {[string, () => Element]} */
function contentsLine({ slug, title, stage, verdict }) {
  const state = stateOf(stage);
  return [
    `${state} ${verdict?.tone}`,
    () => {
      const [sign, word] = signs[state];
      const bullet = verdict
        ? mark(verdict.tone)
        : el(
            "span",
            { class: "mark" },
            el("span", { "aria-hidden": "true" }, sign),
            el("span", { class: "offscreen" }, word),
          );
      return el("li", { "data-state": state }, bullet, el("a", { href: `#card-${slug}` }, title));
    },
  ];
}

// @ts-check
// The parts that every view is made of, so that all pages have one hand.

import { copyButton, copies } from "./copy.js";
import { announce, el, freshId } from "./dom.js";

/** @typedef {import("./dom.js").Child} Child */
/** @typedef {import("./view.js").Tone} Tone */

/** What a tone is without its colour: a mark, and a word for screen readers. */
const marks = { good: "✓", warn: "!", bad: "✗", info: "i", off: "?" };
const toneWords = { good: "Good: ", warn: "Warning: ", bad: "Problem: ", info: "Note: ", off: "Not known: " };

/**
 * The sentence that an answer comes to.
 * @param {import("./view.js").Verdict} verdict
 * @returns {HTMLElement}
 */
export function verdictLine({ tone, text }) {
  return el("p", { class: `verdict ${tone}` }, mark(tone), el("span", {}, text));
}

/**
 * The round mark of a tone.
 * @param {Tone} tone
 * @returns {HTMLElement}
 */
export function mark(tone) {
  return el(
    "span",
    { class: `mark ${tone}` },
    el("span", { "aria-hidden": "true" }, marks[tone]),
    el("span", { class: "offscreen" }, toneWords[tone]),
  );
}

/**
 * A word or two with a tone: "expired", "TLS 1.0", "good". The words must say it without the colour.
 * @param {Tone} tone off is plain
 * @param {string} text
 * @returns {HTMLElement}
 */
export function badge(tone, text) {
  return el("span", { class: `badge ${tone}` }, text);
}

/**
 * A boxed remark.
 * @param {Tone} tone
 * @param {...Child} children paragraphs, or one sentence
 * @returns {HTMLElement}
 */
export function notice(tone, ...children) {
  const sentence = children.length === 1 && typeof children[0] === "string";
  return el(
    "div",
    { class: `notice ${tone}` },
    mark(tone),
    el("div", {}, ...(sentence ? [el("p", {}, children[0])] : children)),
  );
}

/**
 * What is shown where a part of the page itself did not load.
 * @param {string} sentence what is missing for it
 * @returns {HTMLElement}
 */
export function lost(sentence) {
  const reload = el("button", { type: "button", class: "quiet" }, "Reload the page");
  reload.addEventListener("click", () => location.reload());
  return notice("warn", el("p", {}, sentence), el("p", {}, reload));
}

/**
 * A titled part of an answer. Its heading is an h2; what is inside starts at h3.
 * @param {string} title
 * @param {...Child} children
 * @returns {HTMLElement}
 */
export function section(title, ...children) {
  const id = freshId("part");
  return el("section", { class: "part", "aria-labelledby": id }, el("h2", { id }, title), ...children);
}

/**
 * A titled part that is folded away: evidence, which few need to see and all may. Its heading is an h2 as that of a
 * section.
 * @param {string} title
 * @param {string | Node} note what is in it, in a few words: "12 headers"; empty for none
 * @param {...Child} children
 * @returns {HTMLElement}
 */
export function folded(title, note, ...children) {
  const id = freshId("part");
  const head = el("summary", {}, el("h2", { id }, title), note && el("span", { class: "fold-note" }, note));
  return el("details", { class: "part fold", "aria-labelledby": id }, head, el("div", {}, ...children));
}

/**
 * Makes a link lead to a part of the page, which opens where it is folded away.
 * @param {HTMLAnchorElement} link
 * @param {() => Element | null} part a heading, or a details element
 */
export function leadTo(link, part) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    const to = part();
    const fold = to?.closest("details");
    if (fold) fold.open = true;
    to?.scrollIntoView();
    const place = fold?.querySelector("summary") ?? to;
    if (!(place instanceof HTMLElement)) return;
    if (!fold) place.tabIndex = -1;
    place.focus({ preventScroll: true });
  });
}

/**
 * Something folded away.
 * @param {string} summary
 * @param {...Child} children
 * @returns {HTMLElement}
 */
export function more(summary, ...children) {
  return el("details", { class: "more" }, el("summary", {}, summary), el("div", {}, ...children));
}

/**
 * A value that one may want elsewhere: the text, and a button that copies it.
 * @param {string | number} text
 * @param {{what?: string, mono?: boolean, quiet?: boolean, copied?: string}} [how] what it is, for screen readers; mono
 *   for
 *   addresses, names, codes and hashes; quiet for those that few copy, whose button shows where they are pointed at, as
 * where
 *   mono is false; copied where another text than the shown one is to be copied
 * @returns {HTMLElement}
 */
export function value(text, { what, mono = true, quiet = !mono, copied } = {}) {
  const shown = String(text);
  return el(
    "span",
    { class: ["value", mono && "mono", quiet && "quieter"].filter(Boolean).join(" ") },
    el("span", { class: "text" }, shown),
    copyButton(copied ?? shown, what ?? shown.slice(0, 60)),
  );
}

/** What is not there. @param {string} [text] */
export function none(text = "none") {
  return el("span", { class: "none" }, text);
}

/**
 * A list of values, one a line; none() where it is empty.
 * @param {(string | number)[]} list
 * @param {{what?: string, mono?: boolean, quiet?: boolean}} [how]
 * @returns {HTMLElement}
 */
export function values(list, how) {
  if (list.length === 0) return none();
  if (list.length === 1) return value(list[0], how);
  return el("ul", { class: "values" }, ...list.map((item) => el("li", {}, value(item, how))));
}

/** More lines of a list than this are in the answer itself. */
const mostLines = 8;

/** A list in plain lines, for comparisons. @param {string[]} list */
export function lines(list) {
  if (list.length === 0) return none("—");
  const more = list.length - mostLines;
  return el(
    "ul",
    { class: "values" },
    ...list.slice(0, mostLines).map((text) => el("li", {}, text)),
    more > 0 && el("li", { class: "muted" }, `and ${more} more`),
  );
}

/**
 * What stands below something of which the service cut a list or a text; nothing where it did not.
 * @param {{truncated?: boolean} | null | undefined} holder the object of the answer that holds it: its mark is for all
 *   that it holds
 * @param {string} [text]
 * @returns {HTMLElement | null}
 */
export function cut(holder, text = "Part of this was cut: it was longer than this service passes on.") {
  return holder?.truncated ? el("p", { class: "hint" }, text) : null;
}

/**
 * Names with their values. A string or number becomes a copyable value; what is null or undefined is left out.
 * @param {[string, Node | string | number | null | undefined][]} rows
 * @returns {HTMLElement}
 */
export function facts(rows) {
  const list = el("dl", { class: "facts" });
  for (const [name, fact] of rows) {
    if (fact === null || fact === undefined || fact === "") continue;
    list.append(
      el(
        "div",
        {},
        el("dt", {}, name),
        el("dd", {}, fact instanceof Node ? fact : value(fact, { what: name, mono: false })),
      ),
    );
  }
  return list;
}

/**
 * @typedef {{title: string, numeric?: boolean, hint?: string}} Column numeric ones are aligned right; the hint is an
 *   explanation on hover and for screen readers
 */

/**
 * A table. It scrolls by itself where it is wider than the page, and on a phone its rows are stacked. A long one can be
 * had as a file.
 * @param {{caption: string, columns: Column[], rows: (Child[] | HTMLTableRowElement)[], hideCaption?: boolean,
 *   stacked?: boolean}} what
 *   each row has as many cells as there are columns; the first cell of a row is its header. caption says what the table
 * shows;
 *   stacked is false for one that is a picture of rows and columns
 * @returns {HTMLElement}
 */
export function table({ caption, columns, rows, hideCaption = false, stacked = true }) {
  const head = el(
    "tr",
    {},
    ...columns.map((c) =>
      el(
        "th",
        { scope: "col", class: c.numeric && "numeric" },
        c.title,
        c.hint && el("span", { class: "column-hint" }, c.hint),
      ),
    ),
  );
  const body = rows.map((row) => (row instanceof HTMLTableRowElement ? row : tableRow(columns, row)));
  const node = el(
    "table",
    {},
    el("caption", { class: hideCaption && "offscreen" }, el("span", {}, caption)),
    el("thead", {}, head),
    el("tbody", {}, ...body),
  );
  const scroll = el(
    "div",
    { class: stacked ? "scroll stacked" : "scroll", role: "group", "aria-label": caption, tabindex: "0" },
    node,
  );
  return rows.length < worthAFile ? scroll : el("div", { class: "tabled" }, scroll, fileButton(node, caption));
}

/** Fewer rows than these need no file. */
const worthAFile = 5;

/**
 * A button that saves rows as a file, for what is drawn otherwise than as a table of its own.
 * @param {HTMLTableElement | (() => (string | number | null)[][])} rows the titles first
 * @param {string} caption what they show
 * @returns {HTMLElement}
 */
export function fileButton(rows, caption) {
  const button = el(
    "button",
    { type: "button", class: "quiet csv" },
    "Download CSV",
    el("span", { class: "offscreen" }, `: ${caption}`),
  );
  button.addEventListener("click", () => {
    import("./table-file.js").then(
      (file) => file.save(rows, caption),
      () => announce("The file could not be made: a part of this page did not load."),
    );
  });
  return button;
}

/**
 * @param {Column[]} columns
 * @param {Child[]} cells
 * @param {import("./dom.js").Attributes} [attributes]
 * @returns {HTMLTableRowElement}
 */
function tableRow(columns, cells, attributes = {}) {
  return el(
    "tr",
    attributes,
    ...cells.map((cell, i) => {
      const numeric = columns[i]?.numeric && "numeric";
      // On a phone each row is a list of its cells, which then need their column's title unless there is but one; so
      // does a number at its head.
      return i === 0
        ? el("th", { scope: "row", class: numeric, "data-label": /^\d+$/.test(String(cell)) && columns[0].title }, cell)
        : el(
            "td",
            { class: numeric, "data-label": (columns.length > 2 || columns[i]?.numeric) && columns[i]?.title },
            cell,
          );
    }),
  );
}

/**
 * Text of several lines as it is, with a button that copies it.
 * @param {string} text
 * @param {string} what "the record to publish"
 * @param {Child[]} [shown] the text in parts
 * @returns {HTMLElement}
 */
export function code(text, what, shown = [text]) {
  return el(
    "div",
    { class: "code" },
    el("pre", { tabindex: "0", role: "group", "aria-label": what }, ...shown),
    copyButton(text, what),
  );
}

/**
 * A line for a shell, with a button that copies it.
 * @param {string} line
 * @param {string} what
 * @returns {HTMLElement}
 */
export function command(line, what) {
  return code(
    line,
    what,
    line.split(/( )/).map((word) => (word === " " ? word : el("span", {}, word))),
  );
}

/**
 * Tabs (WAI-ARIA authoring practices: arrows move, Home and End go to the ends; the chosen panel is shown at once).
 * @param {string} label what the tabs choose
 * @param {{title: string, panel: Node, id?: string}[]} tabs
 * @param {{chosen?: number, onChoose?: (i: number) => void}} [how]
 * @returns {HTMLElement}
 */
export function tabs(label, tabs, { chosen = 0, onChoose } = {}) {
  const stem = freshId("tab");
  const buttons = tabs.map((t, i) =>
    el("button", { type: "button", role: "tab", id: `${stem}-${i}`, "aria-controls": `${stem}-panel-${i}` }, t.title),
  );
  const panels = tabs.map((t, i) =>
    el("div", { role: "tabpanel", id: `${stem}-panel-${i}`, "aria-labelledby": `${stem}-${i}` }, t.panel),
  );
  const choose = (/** @type {number} */ at) => {
    buttons.forEach((b, i) => {
      b.setAttribute("aria-selected", String(i === at));
      b.tabIndex = i === at ? 0 : -1;
    });
    panels.forEach((p, i) => {
      p.hidden = i !== at;
    });
  };
  const list = el("div", { role: "tablist", class: "tabs", "aria-label": label }, ...buttons);
  list.addEventListener("click", (event) => {
    const at = buttons.findIndex((b) => b.contains(/** @type {Node} */ (event.target)));
    if (at >= 0) {
      choose(at);
      onChoose?.(at);
    }
  });
  list.addEventListener("keydown", (event) => {
    const at = tabAfter(
      event.key,
      buttons.findIndex((b) => b === document.activeElement),
      buttons.length,
    );
    if (at === null) return;
    event.preventDefault();
    choose(at);
    buttons[at].focus();
    onChoose?.(at);
  });
  choose(chosen);
  return el("div", { class: "tabbed" }, list, ...panels);
}

/** @param {string} key @param {number} at @param {number} count */
function tabAfter(key, at, count) {
  if (at < 0) return null;
  if (key === "ArrowRight") return (at + 1) % count;
  if (key === "ArrowLeft") return (at + count - 1) % count;
  if (key === "Home") return 0;
  return key === "End" ? count - 1 : null;
}

/**
 * What can be taken along, in a menu that lies over the page: it closes by Escape, and when the focus or a click is
 * elsewhere.
 * @param {...HTMLElement} buttons
 * @returns {HTMLElement}
 */
export function menu(...buttons) {
  const head = el("summary", {}, "Share and export");
  const node = /** @type {HTMLDetailsElement} */ (
    el("details", { class: "menu" }, head, el("div", { role: "group", "aria-label": "Share and export" }, ...buttons))
  );
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !node.open) return;
    node.open = false;
    head.focus();
  });
  node.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget instanceof Node && !node.contains(relatedTarget)) node.open = false;
  });
  const away = (/** @type {Event} */ { target }) => {
    if (target instanceof Node && !node.contains(target)) node.open = false;
  };
  node.addEventListener("toggle", () =>
    node.open ? document.addEventListener("click", away) : document.removeEventListener("click", away),
  );
  return node;
}

/**
 * A button in words that copies a text.
 * @param {string} label
 * @param {import("./copy.js").Text} text
 * @returns {HTMLButtonElement}
 */
export function copyAction(label, text) {
  return copies(el("button", { type: "button", class: "quiet" }, label), text);
}

/** The entry that copies the link of the page, which runs the same again. A fragment belongs to this visit. */
export const copyLink = () => copyAction("Copy link", () => location.href.replace(/#.*/s, ""));

// @ts-check
// The front page: one field for anything, and the tools that fit what was recognised in it. It is a combobox as the
// WAI-ARIA authoring practices have it: the focus stays in the field, the arrows choose in the list.

import { announce, byId, el } from "../lib/dom.js";
import { fit, linkTo, suitsOf } from "../lib/fitting.js";
import { plural, relative } from "../lib/format.js";
import { wishIn } from "../lib/intent.js";
import { mistakeIn } from "../lib/mistakes.js";
import { unfit } from "../lib/public.js";
import { targetsIn } from "../lib/recognise.js";
import { forget, recents } from "../lib/store.js";

/** @typedef {import("../lib/recognise.js").Found} Found */
/**
 * @typedef {{slug: string, title: string, promise: string, kind: string, suits: Map<string, number>, glyph: Node |
 *   null}} Tool
 */
/** @typedef {{tool: Tool, input: string, link: string}} Offer */

const field = /** @type {HTMLInputElement} */ (byId("target"));
const form = /** @type {HTMLFormElement} */ (byId("ask"));
const suggestions = byId("suggestions");
const meaning = byId("meaning");
const list = byId("offers");
const tools = [...document.querySelectorAll("a[data-slug]:not([data-unavailable])")].map((link) =>
  described(/** @type {HTMLElement} */ (link)),
);

/** The button names what it does. */
const words = byId("open-words");
const idle = words.textContent ?? "";

/** @type {Offer[]} */
let offers = [];
let chosen = 0;
/** Whether the visitor has chosen by hand; until then the first is chosen, whatever is typed on. */
let picked = false;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let telling;

field.addEventListener("input", look);
field.addEventListener("focus", () => field.value.trim() && look());
field.addEventListener("click", () => field.value.trim() && suggestions.hidden && look());
field.addEventListener("keydown", key);
field.addEventListener("paste", paste);
form.addEventListener(
  "focusout",
  (event) => !form.contains(/** @type {Node | null} */ (event.relatedTarget)) && close(),
);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  look();
  if (offers.length > 0) open(offers[chosen], false);
  else field.focus();
});
// The field keeps the focus, or its list would close before the click.
suggestions.addEventListener("pointerdown", (event) => event.preventDefault());
suggestions.addEventListener("mousedown", (event) => event.preventDefault());
// A list that scrolls under a resting pointer has not been pointed at.
list.addEventListener(
  "pointermove",
  (event) => (event.movementX !== 0 || event.movementY !== 0) && pick(indexOf(event)),
);
for (const click of ["click", "auxclick"])
  list.addEventListener(click, (event) => press(/** @type {MouseEvent} */ (event)));
byId("forget").addEventListener("click", () => {
  forget();
  showRecent();
  field.focus();
  announce("Recent targets cleared.");
});
// A page that comes back by the browser's history comes back as it was left.
window.addEventListener("pageshow", showRecent);
showRecent();

/**
 * @param {HTMLElement} link of the catalogue
 * @returns {Tool}
 */
function described(link) {
  const { slug = "", kind = "", suits = "" } = link.dataset;
  const entry = link.closest("li, section");
  return {
    slug,
    kind,
    title: link.textContent ?? "",
    promise: entry?.querySelector("p")?.textContent ?? "",
    suits: suitsOf(suits),
    glyph: entry?.querySelector("svg") ?? null,
  };
}

/** The whole of a site asks for nothing in particular. @param {Found} found */
const isOrigin = ({ kind, text }) => kind === "url" && /^https?:\/\/[^/]+\/$/.test(text);

/**
 * The tools that fit, best first.
 * @param {Found} found
 * @param {import("../lib/intent.js").Wish | null} wish
 * @returns {Offer[]}
 */
function fitting(found, wish) {
  const first = wish?.slugs ?? (isOrigin(found) ? ["report"] : []);
  const place = (/** @type {Offer} */ { tool }) => (first.indexOf(tool.slug) + first.length + 1) % (first.length + 1);
  return tools
    .flatMap((tool) => {
      const fits = fit(found, tool);
      const options = tool.slug === wish?.slugs[0] ? wish.options : undefined;
      return fits ? [{ tool, ...fits, link: linkTo(tool.slug, fits.input, options) }] : [];
    })
    .sort((a, b) => place(a) - place(b) || b.weight - a.weight);
}

/**
 * The pages of tools that are asked for without a target.
 * @param {import("../lib/intent.js").Wish | null} wish
 * @returns {Offer[]}
 */
const named = (wish) =>
  tools.filter(({ slug }) => wish?.slugs[0] === slug).map((tool) => ({ tool, input: "", link: `/tools/${tool.slug}` }));

/** Shows what the text means, and what can be done with it. */
function look() {
  const empty = field.value.trim() === "";
  const mistake = mistakeIn(field.value);
  const [found, ...others] = mistake && !mistake.instead ? [] : targetsIn(mistake?.instead ?? field.value);
  picked &&= !suggestions.hidden && !empty;
  const before = picked ? offers[chosen]?.tool.slug : undefined;
  const refused = unfit(found?.host);
  const wish = wishIn(field.value);
  const mine = wish?.slugs[0] === "my-ip";
  offers = refused || (mistake && !found) ? [] : found && !mine ? fitting(found, wish) : named(wish);
  suggestions.hidden = empty;
  field.setAttribute("aria-expanded", String(offers.length > 0));
  const without = offers.length > 0 ? (mine ? "Your own address:" : "Add a target to check it at once.") : nothing;
  const hint = refused || (mistake && !found ? mistake.hint : "");
  const what = found && (mistake?.hint ?? `${found.label}:`);
  meaning.replaceChildren(
    ...(hint ? [hint] : found && !mine ? [`${what} `, el("strong", {}, found.text), ...chips(others)] : [without]),
  );
  list.replaceChildren(...offers.map((offer, i) => option(offer, i, found?.text ?? "")));
  list.hidden = offers.length === 0;
  choose(offers.findIndex((offer) => offer.tool.slug === before));
  tell(
    empty ? "" : hint || (found ? `${what} ${found.text}. ${plural(offers.length, "tool")} to choose from.` : without),
  );
}

/** The other targets of a text, each of which takes its place. @param {Found[]} others @returns {Node[]} */
function chips(others) {
  const buttons = others.map(({ text }) => {
    const chip = el("button", { type: "button", class: "chip" }, text);
    chip.addEventListener("click", () => {
      field.value = text;
      field.focus();
      look();
    });
    return chip;
  });
  return buttons.length > 0 ? [el("span", { class: "also" }, "Also in this text:", ...buttons)] : [];
}

const nothing =
  "There is nothing to check in this text yet. Enter a domain name, a web address, an e-mail " +
  "address, an IP address, host:port or an AS number.";

/**
 * Takes several lines as words with spaces between; the browser would join the end of one line with the start of the
 * next.
 * @param {ClipboardEvent} event
 */
function paste(event) {
  const text = event.clipboardData?.getData("text/plain") ?? "";
  if (!text.includes("\n")) return;
  event.preventDefault();
  field.setRangeText(text.replace(/\s+/g, " "), field.selectionStart ?? 0, field.selectionEnd ?? 0, "end");
  look();
}

/**
 * Says it to screen readers once the visitor pauses: every letter typed would interrupt the one before.
 * @param {string} text
 */
function tell(text) {
  clearTimeout(telling);
  telling = setTimeout(() => announce(text), 700);
}

/**
 * @param {Offer} offer
 * @param {number} i
 * @param {string} meant what was recognised; a tool that takes something else of it says what
 */
function option({ tool, input }, i, meant) {
  const other = input !== meant && el("span", { class: "offer-input" }, input);
  return el(
    "li",
    { role: "option", id: `offer-${i}`, "data-slug": tool.slug },
    tool.glyph?.cloneNode(true),
    el("span", { class: "offer-title" }, tool.title),
    other,
    el("span", { class: "offer-promise" }, tool.promise),
  );
}

/** @param {number} at -1 is the first */
function choose(at) {
  chosen = Math.max(0, at);
  [...list.children].forEach((node, i) => node.setAttribute("aria-selected", String(i === chosen)));
  words.textContent = offers[chosen]?.tool.title ?? idle;
  if (offers.length > 0) field.setAttribute("aria-activedescendant", `offer-${chosen}`);
  else field.removeAttribute("aria-activedescendant");
}

/** @param {number} at chosen by hand */
function pick(at) {
  picked = true;
  choose(at);
}

function close() {
  suggestions.hidden = true;
  field.setAttribute("aria-expanded", "false");
  field.removeAttribute("aria-activedescendant");
}

/** @param {KeyboardEvent} event */
function key(event) {
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  if (event.key === "Escape") close();
  else if (
    suggestions.hidden &&
    event.key.startsWith("Arrow") &&
    event.key !== "ArrowLeft" &&
    event.key !== "ArrowRight"
  )
    look();
  else move(event);
}

/** @param {KeyboardEvent} event */
function move(event) {
  const last = offers.length - 1;
  /** @type {Record<string, number>} */
  const places = {
    ArrowDown: chosen === last ? 0 : chosen + 1,
    ArrowUp: chosen === 0 ? last : chosen - 1,
    Home: 0,
    End: last,
  };
  const to = places[event.key];
  if (suggestions.hidden || last < 0 || to === undefined) return;
  event.preventDefault();
  pick(to);
  list.children[to].scrollIntoView({ block: "nearest" });
}

/** @param {Event} event @returns {number} which offer it is about */
function indexOf(event) {
  const node = event.target instanceof Element ? event.target.closest("[role=option]") : null;
  return node ? [...list.children].indexOf(node) : chosen;
}

/** @param {MouseEvent} event */
function press(event) {
  const offer = event.target === list ? undefined : offers[indexOf(event)];
  if (offer && event.button < 2) open(offer, event.button === 1 || event.ctrlKey || event.metaKey);
}

/**
 * @param {Offer} offer
 * @param {boolean} apart in a tab of its own
 */
function open({ link }, apart) {
  if (apart) window.open(link, "_blank", "noopener");
  else location.assign(link);
}

function showRecent() {
  const all = recents();
  byId("recent").hidden = all.length === 0;
  const links = all.map(({ target, at }) => {
    const link = `/report?${new URLSearchParams({ target })}`;
    return el("li", {}, el("a", { href: link, rel: "nofollow", title: `Checked ${relative(at)}` }, target));
  });
  byId("recent")
    .querySelector("ul")
    ?.replaceChildren(...links);
}

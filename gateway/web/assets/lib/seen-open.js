// @ts-check
// A result that came in a link, as a page shows it: without marks, colours, links and repairs, since this service has
// not seen it. Nothing is requested for it but this page's own files.

import { announce, el } from "./dom.js";
import { dateTime, listed, ms, plural, relative } from "./format.js";
import { facts, section } from "./parts.js";
import { decoded, longestFragment } from "./seen-code.js";
import { canonical, unpacked, version, worded } from "./seen-record.js";
import { loadSentences } from "./seen-sentences.js";
import { gap } from "./seen-typed.js";
import { styled } from "./styled.js";

/** @typedef {import("./seen-record.js").Seen} Seen */
/**
 * The page that a link opened.
 * @typedef {object} Page
 * @property {string} link its path and query
 * @property {string} target
 * @property {{slug: string, title: string}[]} tools those that it would run
 * @property {HTMLElement} place where to show the result
 * @property {AbortSignal} signal aborts when the place is used for something else
 * @property {((since: Seen | null) => void) | null} run runs them, and compares where a result is given; null where
 *   they cannot run here
 */

const foreign = "This link has a result of another check than this page's, so it is not shown.";

/**
 * Reads the result in a fragment.
 * @param {string} fragment without its hash sign
 * @param {Pick<Page, "link" | "target" | "tools">} page
 * @returns {Promise<Seen | string>} a sentence where there is nothing to show
 */
export async function seenIn(fragment, { link, target, tools }) {
  if (fragment.length > longestFragment)
    return "The result in this link is longer than 8 KiB, so it is not one of this service's and is not shown.";
  if (typeof DecompressionStream === "undefined") return "This browser is too old to read the result in this link.";
  const value = await decoded(fragment);
  if (value === undefined) return "The result in this link is damaged, so it is not shown.";
  if (Array.isArray(value) && Number.isInteger(value[0]) && value[0] !== version)
    return "The result in this link is of another version of this service, which this one does not read.";
  const seen = unpacked(value, { target, slugs: tools.map(({ slug }) => slug) }, Date.now());
  // A value is permitted where it is the target's own, so that a result of another target is mostly not even readable.
  if (Array.isArray(value) && typeof value[1] === "string" && canonical(value[1]) !== canonical(link)) return foreign;
  return seen ?? "The result in this link is not in a form that this service makes, so it is not shown.";
}

/**
 * Shows the result in a fragment.
 * @param {string} fragment without its hash sign
 * @param {Page} page
 */
export async function openSeen(fragment, page) {
  const [seen] = await Promise.all([seenIn(fragment, page), styled(new URL("../seen.css", import.meta.url).href)]);
  if (page.signal.aborted) return;
  if (typeof seen === "string") {
    page.place.replaceChildren(bar([seen, "Nothing has been run."], page.run, null));
    return announce(seen);
  }
  const checks = await Promise.all(seen.checks.map((check) => drawn(check, page)));
  if (page.signal.aborted) return;
  const when = `Seen on ${dateTime(seen.at)}, ${relative(seen.at)}, and not checked again.`;
  const doubt = "It came in a link, and this service cannot confirm it.";
  page.place.replaceChildren(bar([when, doubt], page.run, seen), ...checks);
  announce(`${when} ${doubt}`);
}

/**
 * What stays in view while the result does.
 * @param {[string, string]} sentences
 * @param {Page["run"]} run
 * @param {Seen | null} seen
 */
function bar([first, second], run, seen) {
  const action = (/** @type {string} */ label, /** @type {Seen | null} */ since) => {
    const button = el("button", { type: "button", class: since && "second" }, label);
    button.addEventListener("click", () => run?.(since));
    return button;
  };
  return el(
    "div",
    { class: "seen-bar", role: "note" },
    el("p", {}, el("strong", {}, first), " ", second),
    run && el("p", { class: "actions" }, action("Run now", null), seen && action("What changed since", seen)),
  );
}

/** @param {import("./seen-record.js").Check} check @param {Page} page */
async function drawn(check, { tools }) {
  const title = tools.find(({ slug }) => slug === check.slug)?.title ?? check.slug;
  const sentences = await loadSentences(check.slug);
  const { text, findings } = sentences ? worded(check, sentences) : { text: "", findings: [] };
  const times = Object.entries(check.times).map(([label, took]) => [label, ms(took)]);
  const rows = [...Object.entries(check.facts), ...times].map(
    ([label, fact]) => /** @type {[string, Node]} */ ([label, plain(fact)]),
  );
  const several = tools.length > 1;
  const found = new Set(findings.map((finding) => finding.text));
  const said = [text || "This service has no sentence for what was seen.", ...found];
  const list = rows.length > 0 && facts(rows);
  const missing = [
    ...(check.left > 0 ? [plural(check.left, "fact")] : []),
    ...(said.some((one) => one.includes(gap)) ? [`the words of “${gap}”`] : []),
  ];
  const node = section(
    several ? title : "What was seen",
    el("p", { class: "seen-verdict" }, el("bdi", {}, said[0])),
    said.length > 1 &&
      el("ul", { class: "seen-findings" }, ...said.slice(1).map((one) => el("li", {}, el("bdi", {}, one)))),
    list && several ? el("details", {}, el("summary", {}, plural(rows.length, "fact")), list) : list,
    missing.length > 0 && el("p", { class: "hint" }, `Left out of the link: ${listed(missing)}.`),
  );
  node.classList.add("seen");
  return node;
}

/** A fact as text, which is no link. @param {string | string[]} fact */
const plain = (fact) =>
  Array.isArray(fact)
    ? el("ul", { class: "values" }, ...fact.map((text) => el("li", {}, el("bdi", {}, text))))
    : el("bdi", {}, fact);

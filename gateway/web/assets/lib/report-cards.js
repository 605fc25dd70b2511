// @ts-check
// Where the cards of a report stand: in the order of the checks, and what failed for one reason in one line.

import { el } from "./dom.js";
import { listed, plural } from "./format.js";

/** @typedef {import("./report-checks.js").Check} Check */
/** @typedef {Map<Check, {node: HTMLElement}>} Cards */

/**
 * @param {Check[]} checks
 * @param {Cards} cards
 * @returns {HTMLElement[]}
 */
export function groups(checks, cards) {
  return [
    el(
      "section",
      { class: "report-group", "aria-labelledby": "checks-title" },
      el("h2", { id: "checks-title" }, "Checks"),
      el("div", { class: "tool-cards" }, ...checks.map((check) => cards.get(check)?.node)),
    ),
  ];
}

/**
 * The groups that can be seen, or can come into sight as what is above them gets shorter. @param {HTMLElement} place
 */
export const nearby = (place) =>
  [...place.children].filter((group) => group.getBoundingClientRect().top < 2 * innerHeight);

/**
 * Where a visitor reads who has scrolled past the findings, or has opened a card.
 * @param {HTMLElement} place
 * @returns {() => unknown} scrolls back to there after what is above has changed its height
 */
export function reading(place) {
  const top = (/** @type {Element} */ node) => node.getBoundingClientRect().top;
  const cards = [...place.querySelectorAll(".tool-card")].filter((card) => top(card) < innerHeight);
  const opened = cards.find((card) => card.matches(".open") && card.getBoundingClientRect().bottom > 0);
  const card = opened ?? (top(place) < 0 ? cards.find((one) => top(one) >= 0) : undefined);
  const before = card ? top(card) : 0;
  return () => card && scrollBy({ top: top(card) - before, behavior: "instant" });
}

/** So many checks without an answer for one reason share one line. */
const alike = 3;

/** @param {number} n checks */
export const doNotApply = (n) => `${plural(n, "check does", "checks do")} not apply: the name has no address`;

/** Why a check has nothing to show at all, empty where it has something. @param {Check} check @returns {string} */
function nothingBecause({ stage, seen }) {
  if (stage.state === "answered" && stage.reply.status === 400) return stage.reply.error ?? "";
  if (seen.count > 0) return "";
  if (stage.state === "cancelled") return "Cancelled before an answer came.";
  return stage.state === "answered" && !stage.reply.ok ? (stage.reply.error ?? "") : "";
}

/**
 * Puts the cards in their final places: checks with nothing to show for the same reason are one line. Those that are
 * near
 * are put in anew, so that what moves up below the findings does so at once.
 * @param {HTMLElement} place
 * @param {Check[]} checks
 * @param {Cards} cards
 * @param {Element[]} near groups of it
 * @param {unknown[]} apart checks that do not apply to the target
 */
export function settle(place, checks, cards, near, apart) {
  const focused = document.activeElement;
  /** @type {Map<string, Check[]>} */
  const byReason = new Map();
  for (const check of checks) {
    const why = apart.includes(check) ? doNotApply(apart.length) : nothingBecause(check);
    if (why) byReason.set(why, [...(byReason.get(why) ?? []), check]);
  }
  const common = [...byReason].filter(([, some]) => some.length >= alike);
  const folded = common.flatMap(([, some]) => some);
  if (folded.length === 0 && !place.querySelector(":scope > .failed-alike")) {
    for (const group of near) group.replaceWith(group);
    if (focused instanceof HTMLElement && place.contains(focused)) focused.focus({ preventScroll: true });
    return;
  }
  const lines = common.map(([why, some]) => {
    const names = common.length > 1 ? `${listed(some.map((check) => check.title))}. ` : "";
    return el(
      "details",
      { class: "failed-alike" },
      apart.includes(some[0])
        ? el("summary", {}, `${why}.`)
        : el("summary", {}, el("strong", {}, `${plural(some.length, "check")} without an answer: `), names, why),
      el("div", { class: "tool-cards" }, ...some.map((check) => cards.get(check)?.node)),
    );
  });
  place.replaceChildren(
    ...groups(
      checks.filter((check) => !folded.includes(check)),
      cards,
    ),
    ...lines,
  );
  if (focused instanceof HTMLElement && place.contains(focused)) focused.focus({ preventScroll: true });
}

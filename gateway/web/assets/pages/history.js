// @ts-check
// What this browser remembers of earlier checks, by target. Nothing is asked for: all of it is in the browser's
// storage.

import { announce, byId, el } from "../lib/dom.js";
import { linkTo } from "../lib/fitting.js";
import { dateTime, listed, plural, relative } from "../lib/format.js";
import { mark, more } from "../lib/parts.js";
import { remembered, targetOf } from "../lib/remembered.js";
import { answers, forget, forgetTargets, recents } from "../lib/store.js";

/** @typedef {import("../lib/store.js").Known} Known */
/** @typedef {import("../lib/store.js").Change} Change */

const titles = new Map(
  [...document.querySelectorAll("#titles li")].map((item) => [
    /** @type {HTMLElement} */ (item).dataset.slug,
    item.textContent ?? "",
  ]),
);

byId("clear").addEventListener("click", () => {
  forget();
  show();
  announce("All targets and answers are forgotten.");
});
// A page that comes back by the browser's history shows what has come since.
window.addEventListener("pageshow", show);
show();

function show() {
  const all = remembered(answers(), recents());
  byId("nothing").hidden = all.length > 0;
  byId("clearing").hidden = all.length === 0;
  byId("history").replaceChildren(...all.map(box));
}

/** @param {import("../lib/remembered.js").Remembered} one */
function box({ target, checks }) {
  const clear = el(
    "button",
    { type: "button", class: "quiet" },
    "Forget",
    el("span", { class: "offscreen" }, ` ${target}`),
  );
  clear.addEventListener("click", () => {
    forgetTargets((input) => targetOf(input) === target);
    show();
    announce(`${target} is forgotten.`);
    byId("main").focus();
  });
  const heading = el("h2", {}, el("a", { href: linkTo("report", target), rel: "nofollow" }, target));
  if (checks.length === 0)
    return el(
      "section",
      { class: "remembered", "data-target": target },
      el("header", {}, heading, el("p", { class: "muted" }, "A report, of which no answer is kept."), clear),
    );
  const newest = Math.max(...checks.map(({ at }) => at));
  return el(
    "section",
    { class: "remembered", "data-target": target },
    el("header", {}, heading, el("ul", { class: "states" }, ...checks.map(state)), when(newest), clear),
    more(`${plural(checks.length, "result")} and what changed`, el("ul", {}, ...checks.map(line))),
  );
}

/** @param {number} at */
function when(at) {
  return el("time", { class: "when", datetime: new Date(at).toISOString(), title: dateTime(at) }, relative(at));
}

/** The page that shows a check again. @param {Known["key"]} key */
function pageOf([slug, input, options]) {
  const query = new URLSearchParams({
    input,
    ...Object.fromEntries(Object.entries(options).map(([name, value]) => [name, String(value)])),
  });
  return `/tools/${slug}?${query}`;
}

/** @param {Known["key"]} key */
function nameOf([slug, , options]) {
  return `${titles.get(slug) ?? slug}${options.place ? ` from ${options.place}` : ""}`;
}

/** The state of one check in the strip: its mark, which leads to it. @param {Known} known */
function state({ key, tone, verdict }) {
  const text = `${nameOf(key)}: ${verdict ?? "kept by an older version of this page"}`;
  const bullet = tone ? mark(tone) : el("span", { class: "mark" });
  return el(
    "li",
    {},
    el(
      "a",
      { href: pageOf(key), rel: "nofollow", title: text },
      bullet,
      el("span", { class: "offscreen" }, nameOf(key)),
    ),
  );
}

/** @param {Known} known */
function line({ key, at, tone, verdict, changes }) {
  return el(
    "li",
    {},
    tone ? mark(tone) : el("span", { class: "mark" }),
    el("a", { href: pageOf(key), rel: "nofollow" }, nameOf(key)),
    el("span", { class: "said" }, verdict ?? "Kept by an older version of this page."),
    when(at),
    changes.length > 0 && el("ul", { class: "changes" }, ...changes.map(change)),
  );
}

/** @param {Change} change */
function change({ at, label, gone, come }) {
  return el(
    "li",
    {},
    el("time", { datetime: new Date(at).toISOString(), title: dateTime(at) }, relative(at)),
    `: ${label} `,
    gone.length > 0 && el("del", {}, listed(gone)),
    gone.length > 0 && come.length > 0 && " → ",
    come.length > 0 && el("ins", {}, listed(come)),
  );
}

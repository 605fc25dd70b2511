// @ts-check
// One check from all places side by side: a card for each as its result comes, and once all have ended the sentence
// that they come to, one picture and a table of what differs.

import { makeCard, ended } from "./card.js";
import { announce, el, freshId } from "./dom.js";
import { plural } from "./format.js";
import { lost, verdictLine } from "./parts.js";
import { factTables, linesOf, pictureOf } from "./place-parts.js";
import { quorum, sentenceOf, worst } from "./quorum.js";
import { makeRun } from "./report-run.js";
import { makeSteps } from "./steps.js";
import { attempt } from "./view.js";

/** @typedef {import("./api.js").Answer} Answer */
/** @typedef {import("./report-checks.js").Check} Check */
/** @typedef {import("./place-parts.js").Side} Side */

/** @param {HTMLSelectElement} choice @returns {{id: string, name: string, here: boolean}[]} all places of a form */
const placesOf = (choice) =>
  [...choice.options]
    .filter(({ value }) => value !== "all")
    .map(({ value, text }, i) => ({ id: value, name: text.replace(/ \(here\)$/, ""), here: i === 0 }));

/** Statuses of a place that did not run the check: nothing was sent to the target. */
const notAsked = [400, 403, 413, 429, 501, 503];

/** @param {Check} check @returns {Side} */
function sideOf({ title, stage }) {
  if (stage.state === "cancelled") return { name: title, data: null, why: "Not asked: cancelled." };
  const reply = "reply" in stage ? stage.reply : undefined;
  if (stage.state === "answered" && reply?.ok) return { name: title, data: reply.data, why: "" };
  const asked = stage.state === "answered" && !notAsked.includes(stage.reply.status);
  const conclusion = reply?.conclusion;
  const silent = `${asked ? "No answer" : "Not asked"}: ${reply?.error ?? "the service is limiting requests."}`;
  return { name: title, data: null, why: conclusion?.state === "fail" ? conclusion.brief : silent, conclusion };
}

/**
 * @param {object} what
 * @param {import("./view.js").Asked} what.asked its option place is left out
 * @param {string} what.kind of the tool's input
 * @param {HTMLSelectElement} what.choice the field with the places and the sentences
 * @param {HTMLElement} what.place where the results stand
 * @param {() => void} what.accepted is called when a place has accepted the input
 * @param {() => AbortSignal} what.begin is called as places are asked, the first time or again
 * @param {(sentence: string, some: boolean) => void} what.done is called once all places have ended, with what they
 *   come to, and whether any gave a result
 * @param {(answer: Answer) => void} what.refused is called instead where the first place refuses the input
 */
export function askPlaces({ asked, kind, choice, place, accepted, begin, done, refused }) {
  const checks = placesOf(choice).map(({ id, name, here }) => {
    const { place: _, ...options } = asked.options;
    return /** @type {Check} */ ({
      ...{ slug: asked.slug, kind, title: name, style: "", group: "", glyph: null, key: id, input: asked.input },
      options: here ? options : { ...options, place: id },
      ...{ judge: null, stage: { state: "waiting" }, seen: makeSteps(), began: 0, took: 0, at: 0 },
      ...{ verdict: null, concerns: null, past: null },
    });
  });
  const cards = new Map(checks.map((check) => [check, makeCard(check, asked.input, () => go(check))]));
  const verdict = el("div", { class: "places-verdict" });
  const below = el("div", { class: "parts" });
  let ticker = 0;
  const run = makeRun(checks, { accepted, moved, idle });
  const heading = freshId("places");
  place.replaceChildren(
    verdict,
    el(
      "section",
      { class: "places", "aria-labelledby": heading },
      el("h2", { id: heading, class: "offscreen" }, "Places"),
      el("div", { class: "all-cards" }, ...[...cards.values()].map((card) => card.node)),
    ),
    below,
  );
  cards.forEach((card) => card.show());
  go(...checks.slice(0, 1));

  /** @param {...Check} some */
  function go(...some) {
    begin().addEventListener("abort", () => run.cancel());
    clearInterval(ticker);
    ticker = setInterval(() => cards.forEach((card) => card.tick()), 500);
    below.replaceChildren();
    run.add(...some);
  }

  /** @param {Check} check */
  function moved(check) {
    const { stage } = check;
    const reply = stage.state === "answered" ? stage.reply : null;
    if (check === checks[0] && reply && [400, 413].includes(reply.status)) {
      clearInterval(ticker);
      run.leave();
      return refused(reply);
    }
    cards.get(check)?.show();
    const count = checks.filter((c) => ended(c.stage)).length;
    const text = `${count} of ${plural(checks.length, "place")} finished…`;
    verdict.replaceChildren(
      el(
        "p",
        { class: "verdict pending" },
        el("span", { class: "mark spinner", "aria-hidden": "true" }),
        el("span", {}, text),
      ),
    );
    if (reply && count < checks.length) announce(`${check.title}: ${check.verdict?.text ?? sideOf(check).why}`);
  }

  function idle() {
    clearInterval(ticker);
    const sides = checks.map(sideOf);
    const judge = checks.find((check) => check.judge)?.judge;
    const differ = judge ? linesOf(asked.slug, judge, sides).some((line) => line.differs) : false;
    const found = quorum(asked.slug, sides, differ);
    const sentence = sentenceOf(JSON.parse(choice.dataset.sentences ?? "{}"), found);
    // A place that found nothing out takes no part in the sentence.
    const open = checks.some((check) => check.verdict?.tone === "off");
    if (sentence)
      verdict.replaceChildren(verdictLine({ ...sentence, tone: worst([sentence.tone, open ? "info" : "good"]) }));
    const count = sides.filter(({ data }) => data).length;
    if (count > 1 && judge)
      below.replaceChildren(
        ...[
          attempt(() => pictureOf(judge, sides), null),
          ...attempt(() => factTables(asked.slug, judge, sides), []),
        ].filter((node) => node !== null),
      );
    else if (count > 1) below.replaceChildren(lost("The part of this page that compares the places did not load."));
    done(sentence?.text ?? "", count > 0);
  }
}

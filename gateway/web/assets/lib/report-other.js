// @ts-check
// A report beside another: the other one is made here, or read from a file, and what differs is drawn below the first.

import { el } from "./dom.js";
import { dateTime, plural } from "./format.js";
import { ended } from "./card.js";
import { reportState } from "./overview.js";
import { makeQueue } from "./queue.js";
import { recognise } from "./recognise.js";
import { advance, ask, checksFor } from "./report-checks.js";
import { unmade } from "./report-files.js";
import { loadJudge } from "./view.js";

/** @typedef {import("./recognise.js").Found} Found */
/** @typedef {import("./report-checks.js").Check} Check */
/** @typedef {import("./report-checks.js").Tool} Tool */
/** @typedef {typeof import("./report-compare.js")} Part what draws a comparison; it is fetched for the first one */
/** @typedef {{found: Found, checks: Check[], at: string}} Made a report that was made here, and when (RFC 3339) */

/**
 * @param {object} about
 * @param {Made} about.report
 * @param {Tool[]} about.tools
 * @param {string} about.where the ID of the place that runs both, empty for this one
 * @param {HTMLElement} about.place where the comparison stands
 * @param {HTMLElement} about.trouble where to say that there is none
 * @param {(other?: string) => void} about.visit puts what is compared into the address of the page
 * @param {() => void} about.closed is called once a comparison was taken away
 */
export function makeComparison({ report, tools, where, place, trouble, visit, closed }) {
  /** @type {{leave: () => void} | null} */
  let other = null;
  let left = false;

  /**
   * @param {string} [text] the target of the other report; without it the visitor is asked
   */
  async function begin(text) {
    const part = await import("./report-compare.js").catch((failure) =>
      unmade(failure, trouble, "The comparison was not made: the part of this page that makes it did not load."),
    );
    if (!part || left) return;
    const show = (/** @type {import("./report-compare.js").Report} */ theirs) => {
      wanted(part.drawn(side(part, report), theirs, shut));
      // A visitor who came by a link reads from the top.
      if (text === undefined) document.getElementById("comparison-title")?.focus();
    };
    const target = (/** @type {string} */ typed) => take(typed, (theirs) => show(side(part, theirs)));
    const file = async (/** @type {Blob} */ chosen) => {
      const saved = await part.readSaved(
        chosen,
        new Map(tools.map(({ slug, title }) => [slug, { title, judge: () => loadJudge(slug) }])),
      );
      if (saved) show({ ...saved, when: dateTime(saved.when) });
      return saved ? "" : "This is not a report saved as JSON.";
    };
    if (text !== undefined && target(text) === "") return;
    wanted([part.question({ target, file })]);
    place.querySelector("input")?.focus();
  }

  /**
   * Begins the other report.
   * @param {string} typed its target
   * @param {(theirs: Made) => void} done
   * @returns {string} what is wrong with the target, empty for nothing
   */
  function take(typed, done) {
    const found = recognise(typed);
    if (!found) return "Enter a domain name, a URL, an IP address, an AS number or host:port.";
    visit(found.text);
    other?.leave();
    const progress = (/** @type {string} */ rest) =>
      place.replaceChildren(el("p", { class: "muted" }, `Checking ${found.text}: ${rest}`));
    other = make(checksFor(tools, found, where), progress, (checks) =>
      done({ found, checks, at: new Date().toISOString() }),
    );
    return "";
  }

  /** @param {(Node | null)[]} nodes */
  function wanted(nodes) {
    place.classList.add("wanted");
    place.replaceChildren(...nodes.filter((node) => node !== null));
  }

  function shut() {
    other?.leave();
    other = null;
    place.replaceChildren();
    place.classList.remove("wanted");
    visit();
    closed();
  }

  return {
    begin,
    /** Cancels the other report. */
    cancel: () => other?.leave(),
    leave() {
      left = true;
      other?.leave();
    },
  };
}

/**
 * Makes a report of which only the answers are wanted.
 * @param {Check[]} checks
 * @param {(rest: string) => void} progress
 * @param {(checks: Check[]) => void} done
 */
function make(checks, progress, done) {
  let left = false;
  const queue = makeQueue({
    run: (/** @type {Check} */ check, signal) => ask(check, signal),
    tell(check, stage) {
      if (left) return;
      advance(check, stage);
      progress(`${checks.filter((c) => ended(c.stage)).length} of ${plural(checks.length, "check")} ended.`);
    },
    idle() {
      if (!left) done(checks);
    },
  });
  queue.add(...checks);
  return {
    leave() {
      left = true;
      queue.cancel();
    },
  };
}

/**
 * One side of a comparison.
 * @param {Part} part
 * @param {Made} report
 * @returns {import("./report-compare.js").Report}
 */
function side(part, { found, checks, at }) {
  const data = (/** @type {Check} */ { stage }) => (stage.state === "answered" ? stage.reply.data : null);
  return {
    name: found.text,
    verdict: reportState(checks, found),
    when: dateTime(at),
    checks: checks.map((check) => ({
      slug: check.slug,
      title: check.title,
      answer: part.answerOf(check.judge, data(check)),
    })),
  };
}

// @ts-check
// The run of a report: its first check alone until it has begun, then the others; a refusal of the target ends them
// all.

import { ended } from "./card.js";
import { ran } from "./heading.js";
import { makeQueue } from "./queue.js";
import { advance, ask, refusal } from "./report-checks.js";

/** @typedef {import("./report-checks.js").Check} Check */
/** @typedef {import("./queue.js").Stage<import("./api.js").Answer>} Stage */

/** What starts with the first, wherever it stands in the report. */
const soon = ["uptime", "ssl-checker", "ping", "email-dns-health"];

/**
 * @param {Check[]} checks
 * @param {object} told
 * @param {() => void} told.accepted whenever the service shows that it has accepted the target
 * @param {(check: Check) => void} told.moved whenever a check has come to another stage
 * @param {(refused: string) => void} told.idle once nothing is left to do, with the sentence that refuses the target,
 *   empty for none
 */
export function makeRun(checks, { accepted, moved, idle }) {
  let left = false;
  let refused = "";
  // A refusal comes before the first step of an answer: until the first check has one, the others wait. Those that take
  // long leave the first places to those that decide, and to mail.
  const early = (/** @type {Check} */ { slug }) => soon.includes(slug);
  let held = checks.slice(1).toSorted((a, b) => Number(early(b)) - Number(early(a)));
  const queue = makeQueue({
    run: (/** @type {Check} */ check, signal) =>
      ask(check, signal, (step) => {
        if (left) return;
        accepted();
        if (check === checks[0]) release();
        if (step.kind === "conclusion") moved(check);
      }),
    tell,
    idle() {
      if (!left) idle(refused);
    },
  });

  /** @returns {Check[]} those that waited for the first */
  function unheld() {
    const some = held;
    held = [];
    return some;
  }

  function release() {
    const some = unheld();
    if (some.length > 0) queue.add(...some);
  }

  /** @param {Check} check @param {Stage} stage */
  function tell(check, stage) {
    if (left) return;
    advance(check, stage);
    if (stage.state === "answered" && ran(stage.reply)) accepted();
    moved(check);
    // What is refused for itself would be refused by every check.
    if (refused === "" && refusal(checks, check) !== "") {
      refused = refusal(checks, check);
      unheld();
      queue.cancel();
    }
    if (ended(stage) || stage.state === "limited") release();
  }

  return {
    /** Runs checks, for the first time or again. @param {...Check} some */
    add: (...some) => queue.add(...some),
    /** Ends the run; what has no answer yet is reported as cancelled. */
    cancel() {
      for (const check of unheld()) tell(check, { state: "cancelled" });
      queue.cancel();
    },
    /** Ends the run and reports nothing more. */
    leave() {
      left = true;
      unheld();
      queue.cancel();
    },
  };
}

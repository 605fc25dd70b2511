// @ts-check
// The checks of a report: which fit its target, how one is sent, and what its answer comes to.

import { runTool } from "./api.js";
import { keep } from "./compare.js";
import { turnOf } from "./rank.js";
import { makeSteps } from "./steps.js";
import { concernsIn, loadJudge, verdictOf } from "./view.js";

/** @typedef {import("./api.js").Answer} Answer */
/** @typedef {import("./recognise.js").Found} Found */
/**
 * @typedef {{slug: string, kind: string, title: string, style: string, group: string, glyph: () => Node | null}} Tool
 */
/** @typedef {import("./overview.js").Check & {kind: string}} Check its judge is there with its first answer */

/** Every tool of a catalogue that a report can run. @param {HTMLElement} catalogue @returns {Tool[]} */
export function toolsOf(catalogue) {
  return [.../** @type {NodeListOf<HTMLElement>} */ (catalogue.querySelectorAll("[data-slug]"))].map((tool) => {
    const { slug = "", kind = "", title = "", sheet = "" } = tool.dataset;
    return {
      slug,
      kind,
      title,
      style: sheet,
      group: tool.closest("[data-group]")?.getAttribute("data-group") ?? "",
      glyph: () => tool.querySelector("svg")?.cloneNode(true) ?? null,
    };
  });
}

/**
 * The checks that fit a target, the decisive first.
 * @param {Tool[]} tools
 * @param {Found} found
 * @param {string} [place] the ID of the place that runs them, empty for this one
 * @returns {Check[]}
 */
export function checksFor(tools, found, place) {
  /** @type {Record<string, string>} */
  const options = place ? { place } : {};
  const inputs = /** @type {Record<string, string | undefined>} */ (found.inputs);
  const ordered = tools.toSorted((a, b) => turnOf(found.kind, a.slug) - turnOf(found.kind, b.slug));
  return ordered.flatMap((tool) => {
    const input = inputs[tool.kind];
    if (input === undefined) return [];
    return [
      {
        ...tool,
        input,
        options,
        glyph: tool.glyph(),
        judge: null,
        stage: { state: "waiting" },
        seen: makeSteps(),
        began: 0,
        took: 0,
        at: 0,
        verdict: null,
        concerns: null,
        past: null,
      },
    ];
  });
}

/**
 * Sends one check, and fetches its judge meanwhile.
 * @param {Check} check
 * @param {AbortSignal} signal
 * @param {(step: import("./api.js").Step) => void} [seen] is called at each step
 * @returns {Promise<Answer>}
 */
export async function ask(check, signal, seen) {
  const judging = check.judge ?? loadJudge(check.slug);
  const answer = await runTool(check.slug, check.input, check.options, signal, (step) => {
    check.seen.add(step);
    seen?.(step);
  });
  check.took = performance.now() - check.began;
  check.judge = await judging;
  return answer;
}

/**
 * Moves a check on to its next stage, reads its answer, and keeps that in this browser.
 * @param {Check} check
 * @param {import("./queue.js").Stage<Answer>} stage
 */
export function advance(check, stage) {
  check.stage = stage;
  if (stage.state === "answered") check.at = Date.now();
  if (stage.state === "running") {
    check.began = performance.now();
    check.seen = makeSteps();
  }
  const { slug, input, options, judge } = check;
  const reply = stage.state === "answered" ? stage.reply : null;
  const data = reply?.ok ? reply.data : null;
  const { conclusion } = data ?? reply ?? {};
  check.verdict = data || conclusion ? verdictOf(/** @type {any} */ ({ conclusion })) : null;
  check.concerns = data ? concernsIn(data) : null;
  check.past = judge && data ? keep(judge, data, { slug, input, options }) : null;
}

/**
 * The sentence that rejects the target itself, or the place: the first answer, and all others so far, reject it.
 * @param {Check[]} checks
 * @param {Check} check the one that was answered last
 * @returns {string} empty where the target is not rejected
 */
export function refusal(checks, check) {
  const replies = checks.flatMap(({ stage }) => (stage.state === "answered" ? [stage.reply] : []));
  const rejected = replies.every(
    ({ status, field = "input" }) => status === 400 && ["input", "options.place"].includes(field),
  );
  // A name that is not in the DNS is rejected by the tools that would connect to it; those that look it up answer.
  const decisive =
    check === checks[0] || check.kind === "address" || check.kind === "network" || replies.length === checks.length;
  return rejected && decisive ? (replies[0]?.error ?? "") : "";
}

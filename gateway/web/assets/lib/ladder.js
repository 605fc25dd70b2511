// @ts-check
// The phases of a connection as a run reports them: each with what it took, and the last one with how long it has gone
// on and when it is given up. After a failure the last one is where it stopped.

import { el } from "./dom.js";
import { unreachable } from "./fold.js";
import { ms } from "./format.js";
import { boundOf } from "./steps.js";

/** @typedef {import("./steps.js").Stage} Stage */
/** @typedef {{name: string, text: string, state: "done" | "now" | "stopped"}} Phase */

/** What goes on, by its stage. @type {Record<string, string>} */
const going = { connecting: "connecting", handshake: "TLS", waiting: "waiting", reading: "reading" };

/** More connections than these are not shown. */
const most = 4;

/** Whether an answer reports that a site gave none. @param {{data?: any}} answer */
export const unanswered = ({ data }) =>
  (unreachable(data?.conclusion?.code ?? "") && !data.status) ||
  (data?.outcome === "unreachable" && data.redirectCount === 0);

/** @param {number} n milliseconds */
const seconds = (n) => `${(n / 1000).toFixed(1)} s`;

/**
 * @param {Stage} stage with an address
 * @param {number} now by performance.now()
 * @param {boolean} over whether the run has ended
 * @returns {Phase[]}
 */
export function phasesOf(stage, now, over) {
  const { dnsMs, connectMs, tlsMs, since = now } = stage;
  const done = /** @type {[string, number | undefined][]} */ ([
    ["DNS", dnsMs],
    ["connected", connectMs],
    ["TLS", tlsMs],
  ]).flatMap(([name, took]) =>
    typeof took === "number" ? [{ name, text: ms(took), state: /** @type {const} */ ("done") }] : [],
  );
  const name = going[stage.stage];
  if (!name) return done;
  const limit = `gives up at ${boundOf(stage)} s`;
  return [
    ...done,
    over
      ? { name, text: "stopped here", state: "stopped" }
      : { name, text: `${seconds(now - since)}, ${limit}`, state: "now" },
  ];
}

/** @type {Record<Phase["state"], string>} */
const signs = { done: " ✓ ", now: " ", stopped: " ✗ " };

/**
 * A line for each connection, null where there is none.
 * @param {import("./steps.js").Seen} seen
 * @param {boolean} [over] whether the run has ended
 * @param {number} [last] at most so many, the newest
 * @returns {HTMLElement | null}
 */
export function ladder({ stages }, over = false, last = most) {
  const all = [...stages.values()].slice(-last);
  const several = new Set(all.map(({ address }) => address)).size > 1;
  const lines = all.map((stage) => {
    const second = (stage.attempt ?? 1) > 1;
    const who = [several && stage.address, second && (several ? "again" : "Again")].filter(Boolean).join(" ");
    return el(
      "span",
      { class: "ladder-line" },
      who && el("span", { class: "ladder-who" }, `${who}: `),
      ...phasesOf(stage, performance.now(), over).flatMap(({ name, text, state }, i) => [
        i > 0 && " · ",
        el("span", { class: `phase-${state}` }, `${name}${signs[state]}${text}`),
      ]),
    );
  });
  return lines.length > 0 ? el("span", { class: "ladder" }, ...lines) : null;
}

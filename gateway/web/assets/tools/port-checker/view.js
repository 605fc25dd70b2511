// @ts-check
// A TCP port, address by address: who answered what, and how fast.

import { el, svg } from "../../lib/dom.js";
import { findingOf } from "../../lib/findings.js";
import { askVisitor } from "../../lib/for-you.js";
import { ms } from "../../lib/format.js";
import { remarks } from "../../lib/notes.js";
import { badge, facts, folded, none, section, table, value } from "../../lib/parts.js";
import { fit, label, picture, ticks } from "../../lib/picture.js";
import { sh } from "../../lib/shell.js";
import { stateWord } from "./facts.js";

/** @typedef {import("../../lib/view.js").Tone} Tone */
/** @typedef {import("./facts.js").PortChecker} PortChecker */
/** @typedef {import("./facts.js").Tried} Tried */

/** The tone of a state, and what happened. @type {Record<Tried["state"], [Tone, string]>} */
const states = {
  open: ["good", "accepted"],
  closed: ["bad", "refused"],
  filtered: ["warn", "no answer"],
  unreachable: ["bad", "not reachable"],
  skipped: ["info", "not tried"],
};

/** @param {Tried} a */
const shownTime = (a) =>
  a.responseTimeMs === null ? states[a.state][1] : `${states[a.state][1]} after ${ms(a.responseTimeMs)}`;

/** Below this width what happened stands under the address, not beside it. */
const narrow = 520;

/** A row for each address: a line from this service to it, as long as the answer took. @param {Tried[]} list */
function answers(list) {
  // Without an answer there is nothing to measure.
  const slowest = Math.max(0, ...list.map((a) => a.responseTimeMs ?? 0));
  const scale = slowest > 0 ? ticks(slowest) : [];
  const each = (/** @type {number} */ width) => (width < narrow ? 62 : 48);
  return picture({
    label: `From this service: ${list.map((a) => `${a.address} ${shownTime(a)}`).join("; ")}.`,
    height: (width) => list.length * each(width) + (slowest > 0 ? 24 : 0),
    draw: (width) => {
      const bottom = list.length * each(width);
      const x = (/** @type {number} */ time) => 6 + (time / (scale.at(-1) || 1)) * (width - 14);
      return [
        ...scale.flatMap((t, i) => [
          svg("line", { class: "line", x1: x(t), x2: x(t), y1: 0, y2: bottom }),
          label(
            i === 0 ? 0 : i === scale.length - 1 ? width : x(t),
            bottom + 18,
            `${t} ms`,
            i === 0 ? "soft" : i === scale.length - 1 ? "soft end" : "soft middle",
          ),
        ]),
        ...list.flatMap((a, i) => rowNodes(a, i * each(width), x, width)),
      ];
    },
  });
}

/** @param {Tried} a @param {number} y @param {(time: number) => number} x @param {number} width @returns {Node[]} */
function rowNodes(a, y, x, width) {
  const [tone] = states[a.state];
  const end = a.responseTimeMs === null ? width - 8 : x(a.responseTimeMs);
  const words = [
    label(0, y + 14, fit(a.address, width), "mono"),
    label(width, y + (width < narrow ? 48 : 14), `IPv${a.family}: ${shownTime(a)}`, "end"),
  ];
  if (a.state === "skipped") return words;
  const way =
    a.responseTimeMs === null
      ? [
          svg("line", {
            class: `stroke-${tone}`,
            "stroke-width": 2,
            "stroke-dasharray": "2 6",
            x1: x(0),
            x2: end,
            y1: y + 28,
            y2: y + 28,
          }),
        ]
      : [svg("rect", { class: `fill-${tone}`, x: x(0), y: y + 25, width: Math.max(2, end - x(0)), height: 6 })];
  return [
    ...words,
    ...way,
    svg("circle", { class: "dot fill-soft", cx: x(0), cy: y + 28, r: 6 }),
    ...endNodes(a.state, tone, end, y + 28),
  ];
}

/**
 * The end of a line: open is a disc, closed a cross, silence a question mark.
 * @param {Tried["state"]} state
 * @param {Tone} tone
 * @param {number} x
 * @param {number} y
 */
function endNodes(state, tone, x, y) {
  if (state === "open") return [svg("circle", { class: `dot fill-${tone}`, cx: x, cy: y, r: 7 })];
  if (state === "filtered") return [label(x, y + 5, "?", "strong end")];
  return [svg("path", { class: `stroke-${tone}`, "stroke-width": 3, d: `M${x - 6} ${y - 6}l12 12m0-12l-12 12` })];
}

/** @param {PortChecker} d */
function addresses(d) {
  const columns = [
    { title: "Address" },
    { title: "State" },
    { title: "Answered after", numeric: true },
    { title: "What happened" },
  ];
  const rows = d.addresses.map((a) => [
    value(a.address),
    badge(states[a.state][0], stateWord(a.state)),
    ms(a.responseTimeMs),
    el("p", { class: "sentence" }, a.reason ?? "The connection was accepted."),
  ]);
  return table({
    caption: ["Every address that was tried, at most two of each family.", findingOf(d, "MORE_ADDRESSES")?.message]
      .filter(Boolean)
      .join(" "),
    columns,
    rows,
  });
}

/** @param {PortChecker} d */
const summary = (d) =>
  facts([
    ["Host", value(d.host)],
    ["Port", value(d.port, { quiet: true })],
    ["Usual service", d.service ? value(d.service, { quiet: true }) : none("none known for this port")],
    [
      "Best answer",
      `${stateWord(d.state)}, from ${d.address}${d.responseTimeMs === null ? "" : ` after ${ms(d.responseTimeMs)}`}`,
    ],
    ["Reachable", d.reachable ? "yes" : "no"],
  ]);

/** @type {import("../../lib/view.js").View<PortChecker>} */
export default {
  yours: (d, asked) => askVisitor(d.state === "open", asked),
  live: (seen) => [section("From this service to each address", answers(seen.list("address")))],
  show: (d) => [
    ...remarks(d, /^(?:MORE_ADDRESSES|ADDRESS_NOT_TRIED)$/),
    section("From this service to each address", answers(d.addresses), addresses(d)),
    folded("In short", d.service ? `usually ${d.service}` : "", summary(d)),
  ],
  terminal: (_, d) => [
    { label: "Whether the port accepts a connection", command: sh`nc -vz -w 5 ${d.host} ${d.port}` },
    ...(d.addresses.length > 1
      ? d.addresses.map((a) => ({
          label: `The same for ${a.address}`,
          command: sh`nc -vz -w 5 ${a.address} ${d.port}`,
        }))
      : []),
  ],
  sources: (d) =>
    d.addresses.filter((a) => a.state !== "skipped").map((a) => ({ name: "The host itself", server: a.address })),
};

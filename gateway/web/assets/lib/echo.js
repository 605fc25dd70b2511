// @ts-check
// What the answers of ping and packet-loss have in common: echo probes from our server to a host.

import { svg, el } from "./dom.js";
import { endingOf } from "./echo-verdict.js";
import { listed, ms, number, percent, plural } from "./format.js";
import { code, cut, facts, folded, section, table } from "./parts.js";
import { label, picture, ticks } from "./picture.js";
import { sh } from "./shell.js";
import { summary } from "./stats.js";

/**
 * A probe that waits has no answer yet, while it is being measured. @typedef {{seq: number, rttMs: number | null, ttl:
 * number | null, late?: true, undecided?: true, damaged?: true, waiting?: boolean}} Reply
 */
/** @typedef {import("./view.js").Asked} Asked */
/** @typedef {import("./echo-verdict.js").Ping} Ping */

/** What became of a probe. @param {Reply} r @returns {Cell} */
export function cellOf(r) {
  if (r.waiting) return "waiting";
  if (r.damaged) return "damaged";
  if (r.rttMs !== null) return r.late ? "late" : "answered";
  return r.undecided ? "uncounted" : "lost";
}

/** @typedef {Pick<Ping, "received" | "minMs" | "maxMs" | "medianMs" | "undecided"> & {replies: Reply[]}} Measured */

/** The probes that were lost. @param {Measured} d @returns {number[]} */
const lost = (d) => d.replies.filter((r) => cellOf(r) === "lost").map((r) => r.seq);

/**
 * The round trip of each probe as a bar, and a cross where it was lost.
 * @param {Measured} d
 * @returns {HTMLElement | null}
 */
export function roundTrips(d) {
  const { replies, medianMs } = d;
  if (d.received === 0 || medianMs === null) return null;
  const scale = ticks(Math.max(...replies.map((r) => r.rttMs ?? 0)), 4);
  const words = scale.map((t) => `${number(Number(t.toFixed(3)))} ms`);
  const high = 180;
  // As much room as the longest label takes at 13 px.
  const left = Math.max(62, 14 + 7.5 * Math.max(...words.map((w) => w.length)));
  const y = (/** @type {number} */ time) => 10 + high - (time / scale[scale.length - 1]) * high;
  const gone = lost(d);
  const figure = picture({
    label:
      `Round trip of each probe: from ${ms(d.minMs)} to ${ms(d.maxMs)}, median ${ms(d.medianMs)}; ` +
      `${gone.length === 0 ? "none was lost" : `lost: ${listed(gone.map(String))}`}.`,
    height: high + 48,
    caption:
      "Round trip by the number of the probe; the dotted line is the median, a cross is a probe without a whole reply" +
      (d.undecided > 0 ? ", a dot one that was sent too late to be answered." : "."),
    draw: (width) => {
      const each = (width - left) / replies.length;
      const thick = Math.min(12, Math.max(1.5, each * 0.5));
      const middle = (/** @type {number} */ i) => left + each * (i + 0.5);
      const step = Math.ceil(28 / each);
      return [
        ...scale.flatMap((t, i) => [
          svg("line", { class: "line", x1: left, x2: width, y1: y(t), y2: y(t) }),
          label(left - 8, y(t) + 4, words[i], "soft end"),
        ]),
        ...replies.flatMap((r, i) =>
          [
            !r.waiting &&
              (r.undecided
                ? svg("circle", { class: "fill-soft", cx: middle(i), cy: y(0) - 9, r: Math.min(4, each / 2 - 0.5) })
                : r.rttMs === null
                  ? cross(middle(i), y(0) - 9, Math.min(5, each / 2 - 0.5))
                  : svg("rect", {
                      class: "fill-1",
                      x: middle(i) - thick / 2,
                      y: y(r.rttMs),
                      width: thick,
                      height: Math.max(1, y(0) - y(r.rttMs)),
                    })),
            i % step === 0 && middle(i) + 9 <= width && label(middle(i), high + 30, String(r.seq), "soft middle"),
          ].filter((n) => n instanceof Node),
        ),
        svg("line", {
          class: "stroke-2 dashed",
          "stroke-width": 1.5,
          x1: left,
          x2: width,
          y1: y(medianMs),
          y2: y(medianMs),
        }),
      ];
    },
  });
  return section("Round trips", figure);
}

/** @param {number} x @param {number} y @param {number} r */
const cross = (x, y, r) =>
  svg("path", {
    class: "stroke-warn",
    fill: "none",
    "stroke-width": 2,
    d: `M${x - r} ${y - r}l${2 * r} ${2 * r}m0 ${-2 * r}l${-2 * r} ${2 * r}`,
  });

/**
 * The answers that have come, in the places that all of them will have. Once the run has ended there are no places for
 * more.
 * @param {import("./steps.js").Seen} seen
 * @param {number} count how many probes are sent
 * @returns {(Node | null)[]}
 */
export function liveEcho(seen, count) {
  const known = /** @type {Map<number, Reply>} */ (new Map(seen.list("reply").map((r) => [r.seq, r])));
  const ended = seen.stage?.stage === "ended";
  const replies = Array.from(
    { length: ended ? Math.min(count, Math.max(0, ...known.keys())) : count },
    (_, i) => known.get(i + 1) ?? { seq: i + 1, rttMs: null, ttl: null, waiting: true },
  );
  const { count: received, min: minMs, max: maxMs, median: medianMs } = summary(replies.flatMap((r) => r.rttMs ?? []));
  const words = ended
    ? `${received} of ${count} probes had been answered.`
    : `${received} of ${count} probes answered so far.`;
  const cells = replies.map(cellOf);
  /** @type {Cell[]} */
  const legend = ended && !cells.includes("waiting") ? ["answered"] : ["answered", "waiting"];
  return [
    section(
      "Probes in order",
      ended && el("p", {}, words),
      strip(cells, words, legend, ended ? "no answer" : "waiting"),
    ),
    roundTrips({ replies, received, minMs, maxMs, medianMs, undecided: 0 }),
  ];
}

/** @typedef {"answered" | "late" | "failed" | "lost" | "damaged" | "uncounted" | "waiting"} Cell */

/** @type {Record<Cell, (x: number, y: number) => SVGElement>} */
const shapes = {
  answered: (x, y) => svg("rect", { class: "fill-good", x: x + 1, y: y + 1, width: 10, height: 10, rx: 2 }),
  late: (x, y) =>
    svg("path", { class: "stroke-warn", fill: "none", "stroke-width": 1.5, d: `M${x + 1.5} ${y + 10.5}h9l-4.5 -9z` }),
  failed: (x, y) => cross(x + 6, y + 6, 4),
  lost: (x, y) => cross(x + 6, y + 6, 4),
  damaged: (x, y) =>
    svg("path", { class: "stroke-warn", fill: "none", "stroke-width": 2, d: `M${x + 2} ${y + 10}l8 -8` }),
  uncounted: (x, y) => svg("circle", { class: "fill-soft", cx: x + 6, cy: y + 6, r: 3 }),
  waiting: (x, y) => svg("rect", { class: "line", x: x + 1.5, y: y + 1.5, width: 9, height: 9, rx: 2 }),
};

/**
 * Every sample as a small cell, in the order of sending; shapes differ as well as colours.
 * @param {Cell[]} cells
 * @param {string} words the text equivalent
 * @param {Cell[]} kinds those of the legend
 * @param {string} [waiting] what the legend calls a probe that waits
 * @returns {HTMLElement}
 */
export function strip(cells, words, kinds, waiting = "waiting") {
  const pitch = 15;
  const wide = (/** @type {number} */ width) => Math.max(1, Math.floor(width / pitch));
  const figure = picture({
    label: words,
    height: (width) => Math.ceil(Math.max(1, cells.length) / wide(width)) * pitch,
    draw: (width) =>
      cells.map((cell, i) => shapes[cell]((i % wide(width)) * pitch, Math.floor(i / wide(width)) * pitch)),
  });
  figure.append(
    el(
      "ul",
      { class: "legend", "aria-hidden": "true" },
      ...kinds.map((kind) =>
        el(
          "li",
          {},
          svg("svg", { width: 12, height: 12 }, shapes[kind](0, 0)),
          { uncounted: "not counted", waiting }[/** @type {string} */ (kind)] ?? kind,
        ),
      ),
    ),
  );
  return figure;
}

/**
 * @param {Ping} d
 * @returns {HTMLElement}
 */
export function figures(d) {
  const ttls = [...new Set(d.replies.map((r) => r.ttl).filter((t) => t !== null))];
  const time = (/** @type {number | null} */ t) => (t === null ? null : ms(t));
  return section(
    "In numbers",
    facts([
      ["Target", d.target],
      ["Address", d.address],
      ["Family", `IPv${d.family}`],
      ["Probes sent", d.sent],
      ["Probes answered", d.received],
      ["Answered after more than 2 s", d.late || null],
      ["Lost", percent(d.lossPercent)],
      ["Damaged replies (neither answered nor lost)", d.damaged || null],
      ["Sent too late to be answered (not counted)", d.undecided || null],
      ["Duplicate answers", d.duplicates],
      [
        "Sent afterwards, more slowly",
        d.confirmation &&
          `${plural(d.confirmation.sent, "probe")}, ${ms(d.confirmation.intervalMs)} apart: ` +
            `${d.confirmation.received} answered`,
      ],
      ["Fastest", time(d.minMs)],
      ["Average", time(d.averageMs)],
      ["Median", time(d.medianMs)],
      ["Slowest", time(d.maxMs)],
      ["Standard deviation", time(d.stddevMs)],
      ["Jitter", time(d.jitterMs)],
      ["TTL of the answers", ttls.join(", ")],
      ["Why it ended", endingOf(d)],
    ]),
  );
}

/**
 * @param {Ping} d
 * @returns {HTMLElement}
 */
export function probes(d) {
  return narrow({
    caption: "Each probe",
    columns: [
      { title: "Probe", numeric: true },
      { title: "Round trip", numeric: true },
      { title: "TTL", numeric: true },
    ],
    rows: d.replies.map((r) => [String(r.seq), roundTrip(r), r.ttl === null ? "—" : String(r.ttl)]),
  });
}

/** @param {Reply} r */
function roundTrip(r) {
  if (r.damaged) return "damaged reply";
  return r.rttMs !== null ? ms(r.rttMs) : r.undecided ? "not yet" : "no answer";
}

/**
 * A table of a few numbers, which are not to be drawn apart on a wide page.
 * @param {Parameters<typeof table>[0]} what
 * @returns {HTMLElement}
 */
export const narrow = (what) => el("div", { class: "narrow" }, table(what));

/** @param {Ping} d @returns {HTMLElement | null} */
export function raw(d) {
  return typeof d.raw === "string"
    ? folded(
        "As ping would print it",
        "",
        code(d.raw, "the raw output"),
        cut(d, "The output was cut here: it is longer than this service passes on."),
      )
    : null;
}

/** What counts as what. */
export const lessons = () => [
  "A probe without an answer counts as lost. We cannot see where on the path it was lost.",
  "We listen until 2 s after the last probe. A probe that had less time than the slowest answer took counts as " +
    "neither answered nor lost.",
];

/**
 * Who was measured, and when.
 * @param {Ping} d
 * @returns {import("./view.js").Source[]}
 */
export const sources = (d) => [
  { name: "The host itself", server: d.address, fetchedAt: d.measuredAt, measured: true, shared: d.shared },
];

/**
 * @param {Asked} asked
 * @param {Ping} d
 * @param {number} count
 * @param {number} gap seconds
 * @returns {import("./view.js").Command[]}
 */
export function terminal(asked, d, count, gap) {
  const host = asked.input || d.target;
  const family = `-${d.family}`;
  return [
    {
      label:
        `${count} probes, ${gap} seconds ` +
        `apart${gap < 0.2 ? " (some systems allow intervals under 0.2 s only to root)" : ""}`,
      command: `ping ${family} ${sh`-c ${count} -i ${gap} ${host}`}`,
    },
    {
      label: "Loss and times at each hop on the path; only the last line is about the host itself",
      command: `mtr ${family} ${sh`-r -c ${count} ${host}`}`,
    },
  ];
}

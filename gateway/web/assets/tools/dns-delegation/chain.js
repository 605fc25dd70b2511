// @ts-check
// The chain of zones as a picture: each zone a box, and through all of them one line from the root to the name, on
// which each record that the next depends on is a dot. The line is green as far as it holds, red where it breaks, and
// dashed where nothing is signed.

import { svg } from "../../lib/dom.js";
import { plural } from "../../lib/format.js";
import { fit, label, picture } from "../../lib/picture.js";
import { parts } from "./links.js";
import { dnssecWords, zoneName } from "./words.js";

/** @typedef {import("./links.js").Chain} Chain */
/** @typedef {import("./links.js").Link} Link */
/** @typedef {import("./links.js").Part} Part */
/** @typedef {import("./links.js").State} State */
/** @typedef {Part["zone"]} Zone */

const linkHeight = 44;
const headHeight = 54;
const rowHeight = 26;
const widest = 560;
const lineX = 32;
const textX = 54;

/** @type {Record<State, {line: string, dot: string, sign: string}>} */
const looks = {
  good: { line: "stroke-good", dot: "fill-raised stroke-good", sign: "✓" },
  bad: { line: "stroke-bad", dot: "fill-raised stroke-bad", sign: "✗" },
  open: { line: "line dashed", dot: "fill-raised line", sign: "–" },
  off: { line: "line dashed", dot: "fill-soft", sign: "" },
};

/** @type {Record<string, string>} */
const severities = { fail: "bad", warn: "warn", info: "info" };

/** The worst that was found in a zone. @param {Chain} d @param {Zone} z */
function toneOf(d, z) {
  const found = d.findings.find((f) => f.zone === z.zone && f.severity !== "info");
  return found ? severities[found.severity] : "good";
}

/** @param {Zone} z */
function serversText(z) {
  const text = plural(z.childNs.length || z.parentNs.length, "name server");
  const asked = z.servers.filter((s) => s.udp !== "skipped");
  const serving = asked.filter((s) => s.authoritative);
  if (z.shared || asked.length === serving.length) return text;
  return serving.length === 0 ? `${text}, none serves it` : `${text}, not all serve it`;
}

/** @param {Part} part */
const linksOf = ({ keys, signatures }) => (signatures ? [keys, signatures] : [keys]);

/** @param {Part} part */
const inWords = (part) =>
  [
    ...(part.ds ? [part.ds.text] : []),
    `${zoneName(part.zone.zone)}: ${serversText(part.zone)}`,
    ...linksOf(part).map(({ text }) => text),
    `DNSSEC ${dnssecWords[part.zone.dnssec]}`,
  ].join(", ");

/**
 * The zones from the root to that of the name.
 * @param {Chain} d
 */
export function chain(d) {
  const all = parts(d);
  if (all.length === 0) return null;
  const heightOf = (/** @type {Part} */ part) => headHeight + linksOf(part).length * rowHeight;
  const tops = all.map((_, i) => 2 + all.slice(0, i).reduce((sum, part) => sum + heightOf(part) + linkHeight, 0));
  return picture({
    label: `The chain of zones: ${all.map(inWords).join("; ")}.`,
    height: tops[all.length - 1] + heightOf(all[all.length - 1]) + 2,
    draw: (width) => {
      const wide = Math.min(widest, width) - 4;
      const dots = all.flatMap((part, i) => [
        ...(part.ds ? [{ link: part.ds, y: tops[i] - linkHeight / 2 }] : []),
        ...linksOf(part).map((link, n) => ({ link, y: tops[i] + headHeight + n * rowHeight + 6 })),
      ]);
      return [
        ...all.flatMap((part, i) => box(d, part.zone, tops[i], heightOf(part), wide)),
        ...dots.slice(1).map(({ link, y }, i) => segment(link, dots[i].y, y)),
        ...dots.flatMap(({ link, y }) => dot(link, y, wide)),
      ];
    },
  });
}

/** @param {Chain} d @param {Zone} z @param {number} y @param {number} height @param {number} width */
function box(d, z, y, height, width) {
  return [
    svg("rect", { class: "fill-raised line", x: 2, y, width, height, rx: 6 }),
    svg("rect", { class: `fill-${toneOf(d, z)}`, x: 2, y, width: 6, height, rx: 3 }),
    label(textX, y + 22, fit(zoneName(z.zone), width - textX - 34), "strong mono"),
    label(textX, y + 41, fit(serversText(z), width - textX - 10), "soft"),
    ...lock(z.dnssec, width - 20, y + 12),
  ];
}

/** The tones of locks: closed for what is signed, open for what is not or fails. @type {Record<string, string>} */
const locks = { secure: "good", insecure: "soft", bogus: "bad" };

/** @param {Zone["dnssec"]} dnssec @param {number} x @param {number} y */
function lock(dnssec, x, y) {
  const tone = locks[dnssec];
  if (!tone) return [];
  const shackle = dnssec === "secure" ? "v-4a4 4 0 0 1 8 0v4" : "v-4a4 4 0 0 1 7.5-2";
  return [
    svg("path", {
      class: tone === "soft" ? "line" : `stroke-${tone}`,
      d: `M${x - 4} ${y + 8}${shackle}`,
      fill: "none",
      "stroke-width": 2,
    }),
    svg("rect", { class: `fill-${tone}`, x: x - 7, y: y + 8, width: 14, height: 10, rx: 2 }),
  ];
}

/** @param {Link} link @param {number} from @param {number} to */
function segment({ state }, from, to) {
  const gap = state === "bad" ? 6 : 0;
  return svg("line", {
    class: looks[state].line,
    x1: lineX,
    x2: lineX,
    y1: from + 8,
    y2: to - 8 - gap,
    "stroke-width": 3,
  });
}

/** @param {Link} link @param {number} y @param {number} width */
function dot({ state, text }, y, width) {
  const { dot: fill, sign } = looks[state];
  return [
    svg("circle", { class: fill, cx: lineX, cy: y, r: sign ? 9 : 4, "stroke-width": 2 }),
    ...(sign ? [label(lineX, y + 4, sign, "middle strong")] : []),
    label(textX, y + 4, fit(text, width - textX - 4), state === "bad" ? "strong" : state === "good" ? "" : "soft"),
  ];
}

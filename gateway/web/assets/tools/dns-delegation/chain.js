// @ts-check
// The chain of zones as a picture: a box for each zone, and between two of them what the upper one says of the lower.

import { svg } from "../../lib/dom.js";
import { plural } from "../../lib/format.js";
import { fit, label, picture } from "../../lib/picture.js";
import { dnssecWords, zoneName } from "./words.js";

/** @typedef {import("./facts.js").DnsDelegation} DnsDelegation */
/** @typedef {DnsDelegation["zones"][number]} Zone */
/** @typedef {"good" | "warn" | "bad" | "info"} Tone */
/** @typedef {{severity: string, zone?: string | null}} Found a finding, as far as the picture shows it */
/** @typedef {{zones: Zone[], findings: Found[]}} Chain */

const boxHeight = 56;
const linkHeight = 46;
const widest = 560;

/** @type {Record<Zone["dnssec"], {line: string, sign: string}>} */
const links = {
  secure: { line: "stroke-good", sign: "✓" },
  insecure: { line: "line dashed", sign: "–" },
  bogus: { line: "stroke-bad", sign: "✗" },
  indeterminate: { line: "line", sign: "·" },
};

/** @type {Record<string, Tone>} */
const severities = { fail: "bad", warn: "warn", info: "info" };

/** The worst that was found in a zone. @param {Pick<Chain, "findings">} d @param {Zone} z @returns {Tone} */
function toneOf(d, z) {
  const found = d.findings.find((f) => f.zone === z.zone && f.severity !== "info");
  return found ? severities[found.severity] : "good";
}

/** What the zone above says of a zone's keys. @param {Zone} z */
function linkText(z) {
  const tags = z.ds.map((ds) => ds.keyTag);
  const matching = z.ds.filter((ds) => ds.matches).map((ds) => ds.keyTag);
  if (z.ds.length === 0) return "no DS record";
  if (matching.length === 0) return `DS ${[...new Set(tags)].join(", ")}: no such key`;
  return `DS ${[...new Set(matching)].join(", ")}`;
}

/** @param {Zone} z */
const boxText = (z) =>
  [
    plural(z.childNs.length || z.parentNs.length, "name server"),
    z.keys.length > 0 ? plural(z.keys.length, "key") : "no keys",
  ].join(", ");

/** @param {Zone} z @param {number} i */
const inWords = (z, i) =>
  `${zoneName(z.zone)}: ${boxText(z)}, DNSSEC ${dnssecWords[z.dnssec]}${i > 0 ? `, ${linkText(z)}` : ""}`;

/**
 * The zones from the root to that of the name.
 * @param {Chain} d
 */
export function chain(d) {
  if (d.zones.length === 0) return null;
  const top = (/** @type {number} */ i) => 2 + i * (boxHeight + linkHeight);
  return picture({
    label: `The chain of zones: ${d.zones.map(inWords).join("; ")}.`,
    height: top(d.zones.length) - linkHeight + 2,
    draw: (width) => {
      const wide = Math.min(widest, width) - 4;
      return d.zones.flatMap((z, i) => [...(i > 0 ? link(z, top(i), wide) : []), ...box(d, z, top(i), wide)]);
    },
  });
}

/** @param {Pick<Chain, "findings">} d @param {Zone} z @param {number} y @param {number} width */
function box(d, z, y, width) {
  return [
    svg("rect", { class: "fill-raised line", x: 2, y, width, height: boxHeight, rx: 6 }),
    svg("rect", { class: `fill-${toneOf(d, z)}`, x: 2, y, width: 6, height: boxHeight, rx: 3 }),
    label(20, y + 24, fit(zoneName(z.zone), width - 40), "strong mono"),
    label(20, y + 44, fit(`${boxText(z)} · ${dnssecWords[z.dnssec]}`, width - 40), "soft"),
  ];
}

/** @param {Zone} z @param {number} y @param {number} width */
function link(z, y, width) {
  const { line, sign } = links[z.dnssec];
  const [from, to, x] = [y - linkHeight, y, 40];
  return [
    svg("line", { class: line, x1: x, x2: x, y1: from, y2: to, "stroke-width": 3 }),
    svg("circle", { class: "fill-raised line", cx: x, cy: (from + to) / 2, r: 10 }),
    label(x, (from + to) / 2 + 4, sign, "strong middle"),
    label(x + 20, (from + to) / 2 + 4, fit(linkText(z), width - 80), "soft"),
  ];
}

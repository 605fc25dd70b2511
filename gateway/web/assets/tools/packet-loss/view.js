// @ts-check
// Fifty echo probes to a host, and which of them got lost.

import { figures, lossMeans, meaning, narrow, probes, raw, roundTrips, strip, terminal } from "../../lib/echo.js";
import { plural } from "../../lib/format.js";
import { more, section } from "../../lib/parts.js";

/** @typedef {{startSeq: number, length: number}} Burst */

/** @param {any} d @returns {Burst | undefined} */
const longest = (d) => [...d.bursts].sort((a, b) => b.length - a.length)[0];

/** @param {Burst} b */
const place = (b) => (b.length === 1 ? `probe ${b.startSeq}` : `probes ${b.startSeq} to ${b.startSeq + b.length - 1}`);

/** @param {any} d */
function cells(d) {
  const words = d.bursts.length === 0 ? `All ${plural(d.sent, "probe")} were answered.` : `${d.sent - d.received} of ${plural(d.sent, "probe")} were lost: ${d.bursts.map(place).join(", ")}.`;
  return section("Probes in order", strip(d.replies.map((/** @type {any} */ r) => (r.rttMs === null ? "lost" : "answered")), words, ["answered", "lost"]));
}

/** @param {any} d */
function bursts(d) {
  if (d.bursts.length === 0) return null;
  const columns = [{ title: "First lost probe", numeric: true }, { title: "Lost in a row", numeric: true }];
  return section("Runs of lost probes", narrow({ caption: "Runs of lost probes", hideCaption: true, columns, rows: d.bursts.map((/** @type {Burst} */ b) => [String(b.startSeq), String(b.length)]) }));
}

/** @param {any} d */
function pattern(d) {
  const length = longest(d)?.length ?? 0;
  return length > 2
    ? `Up to ${length} probes in a row were lost. Loss in bursts hurts more than the same loss spread out: for that moment nothing comes through.`
    : "The losses are spread out. A single lost packet is sent again by websites and downloads and hardly felt; calls and games feel it.";
}

/** @type {import("../../lib/view.js").View} */
export default {
  show: (d) => [cells(d), roundTrips(d), bursts(d), figures(d), more("Each probe", probes(d)), raw(d)],
  meaning: (d) => [...(d.received > 0 && d.lossPercent > 0 ? [pattern(d), lossMeans] : []), ...meaning(d)],
  terminal: (asked, d) => terminal(asked, d, 50, 0.1),
  sources: (d) => [{ name: "The host itself", server: d.address, fetchedAt: d.measuredAt, measured: true, shared: d.shared }],
};

// @ts-check
// Fifty echo probes to a host, and which of them got lost.

import {
  cellOf,
  figures,
  lessons,
  liveEcho,
  narrow,
  probes,
  raw,
  roundTrips,
  sources,
  strip,
  terminal,
} from "../../lib/echo.js";
import { decided, missing } from "../../lib/echo-verdict.js";
import { plural } from "../../lib/format.js";
import { remarks } from "../../lib/notes.js";
import { folded, section } from "../../lib/parts.js";

/** @typedef {import("api").components["schemas"]["PacketLoss"]} PacketLoss */
/** @typedef {PacketLoss["bursts"][number]} Burst */

/** @param {Burst} b */
const place = (b) => (b.length === 1 ? `probe ${b.startSeq}` : `probes ${b.startSeq} to ${b.startSeq + b.length - 1}`);

/** @param {PacketLoss} d */
function cells(d) {
  /** @type {import("../../lib/echo.js").Cell[]} */
  const each = d.replies.map(cellOf);
  const words = [
    missing(d) === 0
      ? `All ${decided(d)} were answered`
      : `${missing(d)} of ${decided(d)} ${missing(d) === 1 ? "was" : "were"} lost: ${d.bursts.map(place).join(", ")}`,
  ];
  if (d.late > 0) words.push(`${d.late} late`);
  if (d.undecided > 0) words.push(`${d.undecided} not counted`);
  const rare = /** @type {const} */ (["late", "damaged", "uncounted"]).filter((kind) => each.includes(kind));
  return section("Probes in order", strip(each, `${words.join("; ")}.`, ["answered", "lost", ...rare]));
}

/** More bursts than these are folded away. */
const mostShown = 5;

/** @param {PacketLoss} d */
function bursts(d) {
  if (d.bursts.length === 0) return null;
  const columns = [
    { title: "First lost probe", numeric: true },
    { title: "Lost in a row", numeric: true },
  ];
  const part = (/** @type {HTMLElement} */ list) =>
    d.bursts.length > mostShown
      ? folded("Loss bursts", plural(d.bursts.length, "burst"), list)
      : section("Loss bursts", list);
  return part(
    narrow({
      caption: "Loss bursts",
      hideCaption: true,
      columns,
      rows: d.bursts.map((b) => [String(b.startSeq), String(b.length)]),
    }),
  );
}

/** @type {import("../../lib/view.js").View<PacketLoss>} */
export default {
  live: (seen) => liveEcho(seen, 50),
  show: (d) => [
    ...remarks(d),
    cells(d),
    roundTrips(d),
    bursts(d),
    figures(d),
    folded("Each probe", "", probes(d)),
    raw(d),
  ],
  lessons,
  terminal: (asked, d) => terminal(asked, d, 50, 0.1),
  sources,
};

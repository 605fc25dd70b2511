// @ts-check
// Where an address lies inside the ranges that hold it: each range a bar, the part of it that the next bar shows drawn
// out.

import { addressNumber } from "./addresses.js";
import { svg } from "./dom.js";
import { number } from "./format.js";
import { fit, label, picture } from "./picture.js";

/** @typedef {import("./addresses.js").Range} Range */

/** @param {Range} r */
const sizeOf = (r) => r.end - r.start + 1n;

/**
 * How many addresses a range has; more than IPv4 has at all are shown as a power of two.
 * @param {Range} r
 */
function sizeWords(r) {
  const size = sizeOf(r);
  if (size <= 1n << 32n) return size === 1n ? "1 address" : `${number(Number(size))} addresses`;
  const power = size.toString(2).length - 1;
  const exponent = String(power).replace(/\d/g, (d) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(d)]);
  return `${size === 1n << BigInt(power) ? "" : "over "}2${exponent} addresses`;
}

/** A box, its bar within, and the gap to the next box. */
const box = 54;
const each = box + 20;

/**
 * The address inside its ranges, the widest first. Ranges of the same extent are one.
 * @param {string} address
 * @param {Range[]} ranges those that do not hold the address are left out
 * @param {string} [caption]
 * @returns {HTMLElement | null} null where none holds it
 */
export function addressPicture(address, ranges, caption) {
  const at = addressNumber(address);
  const rows = merge(ranges.filter((r) => r.start <= at && at <= r.end));
  if (rows.length === 0) return null;
  const words = rows.map((r) => `${r.title} ${r.written} with ${sizeWords(r)}`).join("; in it ");
  return picture({
    caption,
    label: `Where ${address} lies, from the widest range to the address: ${words}; in it ${address}.`,
    height: rows.length * each + 4,
    draw: (width) =>
      rows
        .flatMap((row, i) => rangeNodes(row, i * each, width, rows[i + 1] ?? { start: at, end: at }))
        .concat(addressLabel(address, at, rows, width)),
  });
}

/** @param {Range[]} ranges @returns {Range[]} */
function merge(ranges) {
  /** @type {Range[]} */
  const rows = [];
  for (const r of [...ranges].sort((a, b) => Number(sizeOf(b) > sizeOf(a)) - Number(sizeOf(b) < sizeOf(a)))) {
    const same = rows.find((o) => o.start === r.start && o.end === r.end);
    if (same) same.title += `, ${r.title}`;
    else rows.push({ ...r });
  }
  return rows;
}

/**
 * @param {Range} row
 * @param {bigint} at
 * @param {number} width
 * @returns {number} pixels; what begins or ends outside is cut off
 */
function place(row, at, width) {
  const share = Number(((at - row.start) * 100_000n) / sizeOf(row)) / 100_000;
  return 1 + Math.min(1, Math.max(0, share)) * (width - 2);
}

/**
 * @param {Range} row
 * @param {number} y
 * @param {number} width
 * @param {{start: bigint, end: bigint}} inner what is marked in the bar
 * @returns {Node[]}
 */
function rangeNodes(row, y, width, inner) {
  const left = Math.min(place(row, inner.start, width), width - 4);
  const right = Math.max(left + 3, place(row, inner.end + 1n, width));
  const zoom = `${left},${y + box} ${right},${y + box} ${width - 1},${y + each} 1,${y + each}`;
  return [
    inner.start === inner.end ? null : svg("polygon", { class: "fill-line", points: zoom }),
    svg("rect", { class: "line fill-raised", x: 0.5, y: y + 0.5, width: width - 1, height: box - 1 }),
    label(9, y + 17, fit(row.title, width - 18), "strong"),
    label(9, y + 34, fit(`${row.written}, ${sizeWords(row)}`, width - 18), "soft"),
    svg("rect", { class: "fill-line", x: 1, y: y + box - 10, width: width - 2, height: 9 }),
    svg("rect", { class: "fill-info", x: left, y: y + box - 12, width: right - left, height: 12 }),
  ].filter((node) => node !== null);
}

/** @param {string} address @param {bigint} at @param {Range[]} rows @param {number} width */
function addressLabel(address, at, rows, width) {
  // About 7.6 pixels a character; it stands below its place, as far as the edges let it.
  const text = fit(address, width - 16);
  const long = text.length * 7.6;
  const x = Math.max(1, Math.min(place(rows[rows.length - 1], at, width) - long / 2, width - long));
  return label(x, rows.length * each - 3, text, "strong mono");
}

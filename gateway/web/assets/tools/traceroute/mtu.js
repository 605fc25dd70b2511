// @ts-check
// The path MTU: what passes, and where the path narrows.

import { el, svg } from "../../lib/dom.js";
import { number } from "../../lib/format.js";
import { facts, section } from "../../lib/parts.js";
import { octets } from "./facts.js";

/** @typedef {import("./facts.js").Traceroute} Traceroute */
/** @typedef {NonNullable<Traceroute["mtu"]>} Mtu */

/** The IP and TCP headers of a segment. @param {Traceroute["family"]} family */
const headers = (family) => (family === 4 ? 40 : 60);

/** What becomes of larger packets. @param {Mtu} mtu */
const larger = ({ path, reported }) =>
  reported === true
    ? "are reported by an ICMP message"
    : reported === false
      ? "vanish without a message"
      : path === 1500
        ? "were not tried"
        : "not known";

/**
 * The facts.
 * @param {Mtu} mtu
 * @param {Traceroute["family"]} family
 */
export const pathMtu = (mtu, family) =>
  section(
    "Path MTU",
    facts([
      ["Packets that pass", mtu.path === null ? el("span", {}, "not known") : octets(mtu.path)],
      ["TCP segments (MSS)", mtu.path === null ? null : octets(Math.max(0, mtu.path - headers(family)))],
      ["Larger packets", el("span", {}, larger(mtu))],
      ["The path narrows", mtu.limitedAt === null ? null : el("span", {}, `behind hop ${mtu.limitedAt}`)],
    ]),
    mtu.note && el("p", { class: "hint" }, mtu.note),
  );

/** Two walls that come closer. */
const funnel = () =>
  svg(
    "svg",
    { class: "picture trace-funnel", viewBox: "0 0 40 20", width: 40, height: 20, "aria-hidden": "true" },
    svg("path", { class: "stroke-warn", d: "M4 1v5l10 7v6M36 1v5l-10 7v6" }),
  );

/**
 * The rows that stand behind a hop, or behind silent hops that share a row: where the path narrows, and to what.
 * @param {Mtu | undefined} mtu
 * @param {number} first
 * @param {number} last
 */
export function narrowing(mtu, first, last) {
  if (!mtu) return [];
  const at = mtu.hopMtus.filter(({ ttl }) => ttl >= first && ttl <= last);
  const limit = mtu.limitedAt ?? 0;
  if (at.length === 0 && limit >= first && limit <= last) at.push({ ttl: limit, mtu: mtu.path ?? 0 });
  return at.map(({ ttl, mtu: size }) =>
    el(
      "tr",
      { role: "row", class: "trace-narrow" },
      el(
        "td",
        { colspan: 5, role: "cell" },
        funnel(),
        el(
          "span",
          {},
          last > first ? `Behind hop ${ttl} the path narrows` : "The path narrows here",
          size > 0 && ` to ${number(size)} octets`,
          ttl === limit && mtu.reported === false && ": larger packets vanish",
        ),
      ),
    ),
  );
}

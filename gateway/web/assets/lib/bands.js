// @ts-check
// The path of a trace as bands: consecutive hops of one network, as wide as the time that they add.

import { el, svg } from "./dom.js";
import { ms } from "./format.js";

/** @typedef {import("api").components["schemas"]["Hop"]} Hop */
/**
 * One band: from and to are hops, answered is the last of them with a time, which is ms. Added is how much of the time
 * at the end of the path the band takes: times count only as far as all later hops have them too, since a router may
 * take longer over its own answer than over passing packets on. Null without an answer.
 * @typedef {{kind: "network" | "private" | "unknown" | "silent", asn: Hop["asn"], from: number, to: number, silent:
 *   number, answered: number | null, ms: number | null, added: number | null}} Band
 */

/** @param {Hop} hop @returns {Band["kind"]} */
const kindOf = (hop) =>
  hop.asn ? "network" : hop.hidden ? "private" : hop.addresses.length > 0 || hop.received > 0 ? "unknown" : "silent";

/** The time of a hop, null for none. @param {Hop} hop */
const timeOf = ({ averageMs: t, received }) => (received > 0 && typeof t === "number" && t >= 0 ? t : null);

/**
 * Silent hops between two of one network are part of it.
 * @param {Hop[]} hops
 * @returns {Band[]}
 */
export function bandsOf(hops) {
  const same = (/** @type {Hop} */ a, /** @type {Hop} */ b) => kindOf(a) === kindOf(b) && a.asn?.asn === b.asn?.asn;
  /** @type {{first: Hop, hops: Hop[]}[]} */
  const runs = [];
  hops.forEach((hop, i) => {
    const run = runs.at(-1);
    const next = kindOf(hop) === "silent" ? hops.slice(i).find((h) => kindOf(h) !== "silent") : undefined;
    if (run && (same(run.first, hop) || (next?.asn && same(run.first, next)))) run.hops.push(hop);
    else runs.push({ first: hop, hops: [hop] });
  });
  const times = hops.map(timeOf);
  const lasting = times.map((t, i) => (t === null ? null : Math.min(...times.slice(i).filter((u) => u !== null))));
  let sum = 0;
  return runs.map(({ first, hops: own }) => {
    const last = own.findLast((hop) => timeOf(hop) !== null);
    const now = last ? lasting[hops.indexOf(last)] : null;
    const added = now === null ? null : now - sum;
    sum = now ?? sum;
    return {
      kind: kindOf(first),
      asn: first.asn,
      from: own[0].ttl,
      to: own[own.length - 1].ttl,
      silent: own.filter((hop) => kindOf(hop) === "silent").length,
      answered: last?.ttl ?? null,
      ms: last ? timeOf(last) : null,
      added,
    };
  });
}

/** Each part has at least so much of the whole, in percent, if there are not too many. */
const least = 5;

/**
 * How wide each part is, in percent of the whole.
 * @param {number[]} sizes
 * @returns {number[]}
 */
export function widths(sizes) {
  const floor = Math.min(least, 100 / sizes.length / 2);
  const sum = sizes.reduce((a, b) => a + b, 0);
  return sizes.map((size) => floor + (sum > 0 ? size / sum : 1 / sizes.length) * (100 - floor * sizes.length));
}

/**
 * Parts of a time side by side, and below them the same in words.
 * @param {{size: number, colour: string, words: import("./dom.js").Child[]}[]} parts
 * @returns {Element[]}
 */
export function strip(parts) {
  const wide = widths(parts.map(({ size }) => size));
  const from = (/** @type {number} */ i) => wide.slice(0, i).reduce((a, b) => a + b, 0);
  const percent = (/** @type {number} */ x) => `${x.toFixed(2)}%`;
  const numbered = wide.every((width) => width >= 4);
  const bar = svg(
    "svg",
    { class: "picture bands-bar", width: "100%", height: numbered ? 32 : 16, "aria-hidden": "true" },
    ...wide.map((width, i) =>
      svg("rect", { class: `band ${parts[i].colour}`, x: percent(from(i)), width: percent(width), height: 16 }),
    ),
    ...(numbered
      ? wide.map((width, i) =>
          svg("text", { class: "soft middle", x: percent(from(i) + width / 2), y: 30 }, String(i + 1)),
        )
      : []),
  );
  return [
    bar,
    el(
      "ol",
      { class: "bands" },
      ...parts.map(({ words }, i) => el("li", {}, el("span", { class: "band-number" }, String(i + 1)), ...words)),
    ),
  ];
}

const names = { private: "Private network", unknown: "Network not known", silent: "No answer" };

/** @typedef {(asn: NonNullable<Hop["asn"]>) => string} Name how a network is called */

/** @param {Band} band @param {Name} name */
const bandName = ({ kind, asn }, name) => (kind === "network" ? (asn ? name(asn) : names.unknown) : names[kind]);

/** The hops of a band, and how many of them are silent. @param {Band} band */
const hopsOf = ({ kind, from, to, silent }) =>
  (from === to ? `hop ${from}` : `hops ${from} to ${to}`) +
  (silent > 0 && kind !== "silent" ? `, ${silent} of them silent` : "");

/** @param {Band} band @param {Name} name */
function words(band, name) {
  const { ms: time, added, answered } = band;
  return [
    el("strong", {}, bandName(band, name)),
    el("span", { class: "muted" }, ` ${hopsOf(band)}`),
    time === null || added === null ? "" : `: adds ${ms(added)}, ${ms(time)} at hop ${answered}`,
  ];
}

/** The colours of networks in turn; what is not known has none. @param {Band[]} bands */
function coloured(bands) {
  let n = 0;
  return bands.map((band) => (band.kind === "network" ? `fill-${(n++ % 6) + 1}` : "fill-sunken"));
}

/**
 * The bands of a path; nothing where all of it is one network, or none answered.
 * @param {Hop[]} hops
 * @param {Name} name
 * @returns {Element[]}
 */
export function pathBands(hops, name) {
  const bands = bandsOf(hops);
  if (bands.length < 2 || bands.every((band) => band.ms === null)) return [];
  const colours = coloured(bands);
  const parts = bands.map((band, i) => ({ size: band.added ?? 0, colour: colours[i], words: words(band, name) }));
  return strip(parts);
}

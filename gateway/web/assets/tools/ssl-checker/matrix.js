// @ts-check
// What a server accepts, drawn: its versions across, its cipher suites down, in each place how strong that is.

import { el } from "../../lib/dom.js";
import { counted, listed, plural } from "../../lib/format.js";
import { badge, facts, folded, mark, more, none, notice, table, values } from "../../lib/parts.js";
import { forwardSecret, postQuantum, retired, rowsOf, suitesOf, versionName, versionsOf } from "./suites.js";

/** @typedef {import("./suites.js").SslChecker} SslChecker */
/** @typedef {import("./suites.js").Version} Version */
/** @typedef {import("./suites.js").Strength} Strength */
/** @typedef {import("./suites.js").Row} Row */

/**
 * A place of the matrix: its tone, its sign, and its words, which on narrow screens only screen readers have.
 * @typedef {{tone: "good" | "warn" | "bad" | "off", sign: string, words: string}} Place
 */

/** By strength, the best first. @type {Record<Strength, Place>} */
const strengths = {
  strong: { tone: "good", sign: "✓", words: "strong" },
  weak: { tone: "warn", sign: "!", words: "weak" },
  insecure: { tone: "warn", sign: "✗", words: "insecure" },
};
/** @type {Place} */
const refused = { tone: "off", sign: "–", words: "refused" };
/** @type {Place} */
const unknown = { tone: "off", sign: "?", words: "unknown" };

/** The meaning of the signs. @type {[Place, string][]} */
const legend = [
  [strengths.strong, "strong: forward secrecy and authenticated encryption"],
  [strengths.weak, "weak: no forward secrecy, CBC, or a DH group under 2,048 bits"],
  [strengths.insecure, "insecure: NULL, anonymous, export, RC4, 3DES, DES or RC2"],
  [refused, "refused"],
  [unknown, "could not be determined"],
];

/** More rows than these are folded away. */
const mostShown = 40;

/** @param {SslChecker} d */
export function matrix(d) {
  const rows = rowsOf(suitesOf(d));
  const body =
    rows.length > 0 ? [summary(d, rows), suiteTable(d, rows), signs(), ordered(rows)] : [tiles(d), unasked(d)];
  return folded(
    "Versions and cipher suites",
    versionWords(d, rows),
    d.complete === false && notice("warn", cutShort),
    ...body,
  );
}

/** What is folded away, in a few words. @param {SslChecker} d @param {Row[]} rows */
function versionWords(d, rows) {
  const taken = versionsOf(d)
    .filter((version) => d.supportedProtocols[version])
    .map(versionName);
  const weak = rows.filter(({ at }) => worstOf([...at.values()]) !== "strong").length;
  return [
    taken.length > 0 ? listed(taken) : "",
    rows.length > 0
      ? `${counted(rows.length, d.truncated, "cipher suite")}, ${weak > 0 ? `${weak} not strong` : "all strong"}`
      : "",
  ]
    .filter(Boolean)
    .join("; ");
}

const cutShort =
  "The scan was cut short because the server is slow or limits connections. It accepts " +
  "everything listed and perhaps more.";

/** Why there are only versions. @param {SslChecker} d */
function unasked(d) {
  if (!d.cipherSuites) return null;
  const why = d.starttls
    ? `On a STARTTLS port (${d.starttls.toUpperCase()}) only the protocol versions are tested, so cipher suites ` +
      "and groups are not known."
    : "Which cipher suites the server accepts could not be determined.";
  return el("p", { class: "hint" }, why);
}

/** @param {Place} place */
const sign = ({ tone, sign }) => el("span", { class: `mark ${tone}`, "aria-hidden": "true" }, sign);

/** @param {Place} place */
const shown = (place) => el("span", { class: "ssl-place" }, sign(place), el("span", { class: "words" }, place.words));

/** The place of a suite. A sign is enough where there is nothing. @param {Place} place */
const shownOfSuite = (place) =>
  el(
    "span",
    { class: "ssl-place" },
    sign(place),
    el("span", { class: place.tone === "off" ? "offscreen" : "words" }, place.words),
  );

const signs = () =>
  el(
    "ul",
    { class: "legend ssl-legend" },
    ...legend.map(([place, words]) => el("li", {}, sign(place), el("span", {}, words))),
  );

/** @param {Row[]} rows */
const ordered = (rows) =>
  rows.length > 1
    ? el(
        "p",
        { class: "hint" },
        "Newest version first; within a version, in the order in which the server chose them, or strong ones first.",
      )
    : null;

/** @param {SslChecker} d @param {Row[]} rows */
function suiteTable(d, rows) {
  const versions = versionsOf(d);
  const node = table({
    caption: "Versions, and the cipher suites that each accepts",
    hideCaption: true,
    columns: [{ title: "Cipher suite" }, ...versions.map((version) => ({ title: versionName(version) }))],
    stacked: false,
    rows: [
      [el("span", {}, "The version itself"), ...versions.map((version) => versionPlace(d, version))],
      ...rows.map((row) => [suiteName(row), ...versions.map((version) => shownOfSuite(place(d, rows, row, version)))]),
    ],
  });
  node.classList.add("ssl-matrix");
  return rows.length > mostShown ? more(`All ${plural(rows.length, "cipher suite")}, version by version`, node) : node;
}

/** @param {SslChecker} d @param {Version} version */
function versionPlace(d, version) {
  const taken = d.supportedProtocols[version];
  if (taken === null) return shown(unknown);
  if (!taken) return shown(refused);
  return shown({
    ...(version === "SSLv3" ? strengths.insecure : retired(version) ? strengths.weak : strengths.strong),
    words: "accepted",
  });
}

/**
 * The place of a suite in a version. What is not listed was refused, unless the scan was cut short.
 * @param {SslChecker} d
 * @param {Row[]} rows
 * @param {Row} row
 * @param {Version} version
 */
function place(d, rows, row, version) {
  const strength = row.at.get(version);
  if (strength) return strengths[strength] ?? unknown;
  const tested =
    d.supportedProtocols[version] === false || (d.complete !== false && rows.some((other) => other.at.has(version)));
  return tested ? refused : unknown;
}

/** An IANA name, which breaks between its words. @param {Row} row */
function suiteName(row) {
  const words = row.name.split(/(?<=_)/).flatMap((word) => [word, el("wbr")]);
  return el(
    "span",
    {},
    el("span", { class: "mono" }, ...words),
    !forwardSecret(row) && el("span", { class: "ssl-remark" }, "no forward secrecy"),
  );
}

/** @param {SslChecker} d @param {Row[]} rows */
function summary(d, rows) {
  const worst = rows.map(({ at }) => [...at.values()]);
  const counts = /** @type {Strength[]} */ (["strong", "weak", "insecure"]).map((strength) => {
    const n = worst.filter((list) => worstOf(list) === strength).length;
    return n > 0 ? badge(/** @type {"good" | "warn" | "bad"} */ (strengths[strength].tone), `${n} ${strength}`) : null;
  });
  const exposed = rows.filter((row) => !forwardSecret(row)).length;
  return facts([
    [counted(rows.length, d.truncated, "cipher suite"), el("span", { class: "ssl-counts" }, ...counts)],
    ["Key exchange", listed([...new Set(rows.map((row) => row.keyExchange))])],
    [
      "Forward secrecy",
      exposed === 0
        ? badge("good", "with all of them")
        : badge("warn", exposed === rows.length ? "with none of them" : `not with ${exposed} of them`),
    ],
    [
      "Groups",
      d.groups &&
        (d.groups.length > 0
          ? values(d.groups, { quiet: true })
          : none(d.complete === false ? "could not be determined" : "none")),
    ],
    ["Post-quantum key exchange", quantum(d)],
  ]);
}

/** @param {Strength[]} list */
const worstOf = (list) => (list.includes("insecure") ? "insecure" : list.includes("weak") ? "weak" : "strong");

/** @param {SslChecker} d */
function quantum({ groups, complete }) {
  if (!groups) return null;
  const ready = postQuantum(groups);
  if (ready.length > 0) return el("span", {}, badge("good", "ready"), ` ${listed(ready)}`);
  return complete === false
    ? none("could not be determined")
    : el("span", {}, badge("off", "not yet"), " none of the groups resists quantum computers");
}

/** The versions alone, in words. @param {SslChecker} d */
function tiles(d) {
  const cells = versionsOf(d).map((version) => {
    const [taken, old] = [d.supportedProtocols[version], retired(version)];
    const tone = taken === null || (!taken && !old) ? "info" : taken && old ? "warn" : "good";
    const words =
      taken === null
        ? "could not be determined"
        : `${taken ? "" : "not "}offered${old ? (taken ? ", though retired" : ", as it should be") : ""}`;
    return el("li", { class: tone }, mark(tone), el("span", {}, el("strong", {}, versionName(version)), ` ${words}`));
  });
  return el("ul", { class: "ssl-versions" }, ...cells);
}

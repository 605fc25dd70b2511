// @ts-check
// What a watch came to, as files for programs: a row a round as CSV (a row a hop where it is a path), and all of it as
// JSON.

import { privateHop } from "./format.js";
import { csv } from "./csv.js";
import { median, percentile } from "./stats.js";

/** @typedef {import("./watch-record.js").Entry} Entry */
/** @typedef {import("./watch-record.js").Hop} Hop */
/** @typedef {import("./view.js").Asked} Asked */

/** @param {number} moment Unix milliseconds */
const written = (moment) => new Date(moment).toISOString();

/** @param {number | null} time */
const rounded = (time) => (time === null ? null : Math.round(time * 1000) / 1000);

const common = ["round", "began", "ended", "outcome", "state", "code"];
const measured = ["address", "median_ms", "p95_ms", "probes", "unanswered"];

/** @param {string[]} who @param {number[]} times @param {number} sent @param {number} lost */
const figures = (who, times, sent, lost) => [
  who.join(" "),
  rounded(median(times)),
  rounded(percentile(times, 95)),
  sent || null,
  sent ? lost : null,
];

/**
 * @param {Entry[]} entries
 * @param {boolean} path
 * @returns {string}
 */
export function asCSV(entries, path) {
  const lines = entries.flatMap((e) => rows(e, path));
  return csv([[...common, ...(path ? ["hop"] : []), ...measured, "note"], ...lines]);
}

/** @param {Entry} e @param {boolean} path @returns {(string | number | null)[][]} */
function rows({ n, at, until, kind, why, got }, path) {
  const first = [n || null, written(at), written(until), kind, got?.state ?? null, got?.code || null];
  if (!got) return [[...first, ...(path ? [null] : []), ...measured.map(() => null), why]];
  if (!path) return [[...first, ...figures([got.address], got.times, got.sent, got.lost), got.note ?? ""]];
  return (got.hops ?? []).map((h, i) => [
    ...first,
    i + 1,
    ...figures(h.hidden ? [privateHop] : h.who, h.times, h.sent, h.sent - h.times.length),
    got.note ?? "",
  ]);
}

/**
 * @param {{asked: Asked, apart: number, forgotten: number}} about apart in seconds; forgotten is how many entries are
 *   no longer kept
 * @param {Entry[]} entries
 * @param {import("./watch-record.js").Change[]} changes
 * @returns {string}
 */
export function asJSON({ asked, apart, forgotten }, entries, changes) {
  const list = entries.map(({ n, kind, at, until, why, got }) => ({
    ...(n ? { round: n } : {}),
    outcome: kind,
    began: written(at),
    ended: written(until),
    ...(got ? digest(got) : { note: why }),
  }));
  const news = changes.map(({ at, n, text }) => ({ at: written(at), round: n, text }));
  const whole = {
    tool: asked.slug,
    input: asked.input,
    options: asked.options,
    secondsBetweenRounds: apart,
    noLongerKept: forgotten,
    rounds: list,
    changes: news,
  };
  return `${JSON.stringify(whole, null, 2)}\n`;
}

/** @param {import("./watch-record.js").Digest} got */
function digest({ state, code, address, times, sent, lost, hops, note }) {
  return {
    state,
    ...(code && { code }),
    ...(address && { address }),
    medianMs: rounded(median(times)),
    p95Ms: rounded(percentile(times, 95)),
    ...(sent && { probes: sent, unanswered: lost }),
    ...(note && { note }),
    ...(hops && {
      hops: hops.map((h, i) => ({
        hop: i + 1,
        addresses: h.who,
        hidden: h.hidden,
        timesMs: h.times.map(rounded),
        probes: h.sent,
        unanswered: h.sent - h.times.length,
      })),
    }),
  };
}

// @ts-check
// What a watch came to, as files: a row a round as CSV (a row a hop where it is a path), all of it as JSON, and the
// picture.

import { csv } from "./csv.js";
import { el } from "./dom.js";
import { download, fileName } from "./download.js";
import { privateHop } from "./format.js";
import { median, percentile } from "./stats.js";
import { draw, planOf } from "./watch-draw.js";
import { span } from "./watch-words.js";

/** @typedef {import("./watch-record.js").Entry} Entry */
/** @typedef {import("./watch-record.js").Hop} Hop */
/** @typedef {import("./view.js").Asked} Asked */

/**
 * Saves a watch as a file.
 * @param {string} kind
 * @param {Pick<import("./watch.js").Watched, "asked" | "gap" | "title">} what
 * @param {import("./watch-record.js").Kept} record
 * @param {import("./watch-record.js").Watcher} watcher
 * @param {import("./watch-draw.js").Ink | null} ink null where there is no picture
 */
export async function saveWatch(kind, { asked, gap, title }, { entries, changes, forgotten }, watcher, ink) {
  const name = `${fileName(asked.slug, asked.input)}-watch.${kind}`;
  if (kind === "csv") download(name, "text/csv;charset=utf-8", asCSV(entries, watcher.path === true));
  else if (kind === "json")
    download(name, "application/json", asJSON({ asked, apart: gap, forgotten }, entries, changes));
  else if (ink) {
    const picture = await asPNG(`${title}: ${asked.input}`, entries, watcher, ink);
    if (picture) download(name, "image/png", picture);
  }
}

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

/** The picture is as wide as this, in pixels of a page, with so much around it, and twice as fine. */
const wide = 1200;
const margin = 24;
const head = 64;
const fine = 2;

/**
 * @param {string} title
 * @param {Entry[]} entries
 * @param {import("./watch-record.js").Watcher} watcher
 * @param {import("./watch-draw.js").Ink} ink
 * @returns {Promise<Blob | null>} null where the browser makes none
 */
function asPNG(title, entries, { path = false, probes = false }, ink) {
  const sheet = el("canvas");
  const on = /** @type {CanvasRenderingContext2D} */ (sheet.getContext("2d"));
  const font = "12px system-ui, sans-serif";
  const measure = (/** @type {string} */ text) => {
    on.font = font;
    return on.measureText(text).width;
  };
  const whole = planOf(entries, { path, probes }, wide - 2 * margin, measure);
  [sheet.width, sheet.height] = [wide * fine, (whole.height + head + margin) * fine];
  on.scale(fine, fine);
  on.fillStyle = ink("page");
  on.fillRect(0, 0, wide, whole.height + head + margin);
  on.fillStyle = ink("text");
  on.font = "600 17px system-ui, sans-serif";
  on.fillText(title.slice(0, 100), margin, 30);
  on.font = font;
  on.fillStyle = ink("soft");
  on.fillText(span(entries), margin, 50);
  on.translate(margin, head);
  draw(on, whole, ink, null);
  return new Promise((resolve) => sheet.toBlob(resolve, "image/png"));
}

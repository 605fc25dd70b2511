// @ts-check
// A watch in words: what it does now, what it came to, and what a place of its picture shows.

import { dateTime, duration, ms, number, percent, plural, privateHop } from "./format.js";
import { median, percentile, share } from "./stats.js";
import { answers } from "./watch-record.js";

/** @typedef {import("./watch-record.js").Entry} Entry */
/** @typedef {import("./watch-record.js").Hop} Hop */
/** @typedef {import("./view.js").Verdict} Verdict */

/** The time of a day (UTC), "14:03:10". @param {number} moment Unix milliseconds */
export const clock = (moment) => new Date(moment).toISOString().slice(11, 19);

/** @param {number} milliseconds */
const seconds = (milliseconds) => Math.max(1, Math.ceil(milliseconds / 1000));

/**
 * What a watch does, as the page shows it.
 * @param {import("./watch-pace.js").Stage<{error?: string}>} stage
 * @param {number} rounds
 * @param {number} now by performance.now()
 * @returns {string}
 */
export function stageWords(stage, rounds, now) {
  if (stage.state === "ended") {
    return {
      stopped: `Stopped after ${plural(rounds, "round")}.`,
      time: "Half an hour has passed, so the watch ended by itself.",
      refused: "The watch ended: the service refuses this check.",
    }[stage.why];
  }
  const pace = `A round every ${duration(stage.apart / 1000)}`;
  if (stage.state === "running") return `${pace}. Round ${number(rounds + 1)} is running.`;
  if (stage.state === "hidden") return "Paused while this tab is in the background.";
  const left = duration(seconds(stage.until - now));
  return stage.limited
    ? `The service is limiting requests; next round in ${left}. From then on a round every ` +
        `${duration(stage.apart / 1000)}.`
    : `${pace}; the next in ${left}.`;
}

/** @param {Pick<import("./watch-record.js").Digest, "tone">} digest */
const troubling = ({ tone }) => tone === "warn" || tone === "bad";

/**
 * What can be counted of a watch so far.
 * @param {Entry[]} entries
 */
export function tally(entries) {
  const all = answers(entries);
  const times = all.flatMap(({ got }) => got.times);
  const [sent, lost] = [
    all.reduce((sum, { got }) => sum + got.sent, 0),
    all.reduce((sum, { got }) => sum + got.lost, 0),
  ];
  return {
    answered: all.length,
    troubled: all.filter(({ got }) => troubling(got)).length,
    missed: entries.filter((e) => e.kind === "failed" || e.kind === "limited").length,
    median: median(times),
    p95: percentile(times, 95),
    sent,
    lost,
  };
}

/**
 * The verdict of a watch so far: the target, how it is now, and how it was.
 * @param {string} target
 * @param {Pick<import("./watch-record.js").Watcher, "sum">} watcher
 * @param {Entry[]} entries
 * @param {number} changes
 * @returns {Verdict}
 */
export function verdictOf(target, { sum }, entries, changes) {
  const t = tally(entries);
  const all = answers(entries).map(({ got }) => got);
  const last = all.at(-1);
  if (!last) return { tone: "info", text: t.missed > 0 ? `No result for ${target} yet.` : `Watching ${target}.` };
  const after = t.median === null ? "" : ` after ${ms(t.median)} (median)`;
  const unknown = entries.findLast((e) => e.kind !== "pause")?.got === null;
  const text = sum({
    who: target,
    all,
    last,
    rounds: t.answered + t.missed,
    troubled: t.troubled,
    after,
    lost: t.lost > 0 ? percent(share(t.lost, t.sent)) : "",
    changes,
    unknown,
  });
  // What is well now may not have been all the time.
  const tone = !troubling(last) && t.troubled > 0 ? "warn" : last.tone;
  return { tone, text: `${text}${t.missed > 0 ? ` No result in ${plural(t.missed, "round")}.` : ""}` };
}

/** "all 3 rounds", "2 of 3 rounds". @param {number} some @param {number} rounds */
export const ofRounds = (some, rounds) =>
  some < rounds
    ? `${number(some)} of ${plural(rounds, "round")}`
    : `${rounds > 1 ? "all " : ""}${plural(rounds, "round")}`;

/**
 * What a cell of the picture shows.
 * @param {Entry} entry
 * @param {number} row
 * @param {boolean} heard whether the hop of that row ever answers
 * @returns {string}
 */
export function cellWords(entry, row, heard) {
  if (entry.kind === "pause") return `${clock(entry.at)} to ${clock(entry.until)}: paused. ${entry.why}`;
  const round = `${clock(entry.at)}, round ${number(entry.n)}`;
  if (!entry.got) return `${round}: no result. ${entry.why}`;
  const { got } = entry;
  if (!got.hops) {
    const probes = got.sent ? `, ${got.sent - got.lost} of ${plural(got.sent, "probe")} answered` : "";
    return `${round}: ${got.state}${timesWords(got.times)}${probes}.${got.note ? ` ${got.note}` : ""}`;
  }
  const hop = got.hops[row];
  if (!hop) return `${round}: the path had ended before hop ${row + 1}.`;
  const who = hop.hidden ? ` (${privateHop})` : hop.who.length > 0 ? ` (${hop.who.join(", ")})` : "";
  const silent = heard ? "none answered" : "never answers";
  const answered = `${hop.times.length} of ${plural(hop.sent, "probe")} answered${timesWords(hop.times)}`;
  return `${round}, hop ${row + 1}${who}: ${hop.times.length === 0 ? silent : answered}.`;
}

/** @param {number[]} times */
function timesWords(times) {
  if (times.length === 0) return "";
  return times.length === 1
    ? `, ${ms(times[0])}`
    : `, median ${ms(median(times))}, 95th percentile ${ms(percentile(times, 95))}`;
}

/**
 * The hops of a path over all rounds, a row each.
 * @param {Entry[]} entries
 * @param {number} rows
 * @returns {string[][]} hop, addresses, last, median, 95th percentile, unanswered
 */
export function hopRows(entries, rows) {
  const all = answers(entries);
  return Array.from({ length: rows }, (_, i) => {
    const seen = all.map(({ got }) => got.hops?.[i]).filter((h) => h !== undefined);
    const times = seen.flatMap((h) => h.times);
    const who = [...new Set(seen.flatMap((h) => (h.hidden ? [privateHop] : h.who)).reverse())];
    const sent = seen.reduce((sum, h) => sum + h.sent, 0);
    const last = all.at(-1)?.got.hops?.[i];
    return [
      String(i + 1),
      who.length > 0 ? who.slice(0, 4).join(", ") : "no answer",
      ms(median(last?.times ?? [])),
      ms(median(times)),
      ms(percentile(times, 95)),
      sent ? percent(share(sent - times.length, sent)) : "—",
    ];
  });
}

/**
 * The latest rounds, the newest first, a row each.
 * @param {Entry[]} entries
 * @param {number} most
 * @returns {string[][]} moment, what it was, median, 95th percentile, unanswered, remark
 */
export function roundRows(entries, most) {
  const kinds = { failed: "no result", limited: "no result", pause: "paused", answer: "" };
  return entries
    .slice(-most)
    .reverse()
    .map(({ at, kind, got, why }) => [
      clock(at),
      got?.state ?? kinds[kind],
      ms(median(got?.times ?? [])),
      ms(percentile(got?.times ?? [], 95)),
      got?.sent ? `${got.lost} of ${got.sent}` : "—",
      got?.note || why,
    ]);
}

/** @param {Entry[]} entries */
export function span(entries) {
  return entries.length === 0 ? "" : `${dateTime(entries[0].at)} to ${clock(entries[entries.length - 1].until)} UTC`;
}

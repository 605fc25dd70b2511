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
      time: `After ${plural(rounds, "round")} the watch ended by itself: nobody has looked for long enough.`,
      refused: "The watch ended: the service refuses this check.",
    }[stage.why];
  }
  const every = `every ${stage.apart === 60_000 ? "minute" : duration(stage.apart / 1000)}`;
  const pace = `Checked ${every}`;
  if (stage.state === "running") return `${pace}. Round ${number(rounds + 1)} is running.`;
  const left = duration(seconds(stage.until - now));
  if (stage.hidden && !stage.limited) {
    // Browsers slow the timers of hidden tabs further.
    const slowed = stage.spaced > 1.1 * stage.apart ? `; the latest came after ${duration(seconds(stage.spaced))}` : "";
    return `${pace} while this tab is in the background${slowed}.`;
  }
  return stage.limited
    ? `The service is limiting requests. Next round in ${left}, then ${every}.`
    : `${pace}, next in ${left}.`;
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
    missed: entries.filter((e) => e.kind === "failed").length,
    limited: entries.filter((e) => e.kind === "limited").length,
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
  const unknown = entries.findLast((e) => e.kind !== "pause" && e.kind !== "limited")?.got === null;
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
  const were = `${plural(t.limited, "round")} ${t.limited === 1 ? "was" : "were"} not measured`;
  const limited = t.limited > 0 ? ` ${were}: the service limits requests.` : "";
  return { tone, text: `${text}${t.missed > 0 ? ` No result in ${plural(t.missed, "round")}.` : ""}${limited}` };
}

/** @typedef {"works" | "fails" | "unknown" | "unmeasured"} State */

/**
 * What an entry says of the target. A refusal for the number of requests says nothing, as a pause does.
 * @param {Entry} entry
 * @returns {State}
 */
export function stateOf({ kind, got }) {
  if (kind === "pause" || kind === "limited") return "unmeasured";
  return got?.works == null ? "unknown" : got.works ? "works" : "fails";
}

/** How the target is by the latest round that was measured; null before the first. @param {Entry[]} entries */
export function stateNow(entries) {
  const last = entries.findLast((e) => stateOf(e) !== "unmeasured");
  return last ? /** @type {Exclude<State, "unmeasured">} */ (stateOf(last)) : null;
}

/** "all 3 rounds", "2 of 3 rounds". @param {number} some @param {number} rounds */
export const ofRounds = (some, rounds) =>
  some < rounds
    ? `${number(some)} of ${plural(rounds, "round")}`
    : `${rounds > 1 ? "all " : ""}${plural(rounds, "round")}`;

/** What there is in the place of an answer. */
export const kinds = { failed: "no result", limited: "not measured", pause: "not measured", answer: "" };

/**
 * What a cell of the picture shows.
 * @param {Entry} entry
 * @param {number} row
 * @param {boolean} heard whether the hop of that row ever answers
 * @returns {string}
 */
export function cellWords(entry, row, heard) {
  if (entry.kind === "pause") return `${clock(entry.at)} to ${clock(entry.until)}: ${kinds.pause}. ${entry.why}`;
  const round = `${clock(entry.at)}, round ${number(entry.n)}`;
  if (!entry.got) return `${round}: ${kinds[entry.kind]}. ${entry.why}`;
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
 * How many hops are drawn: until the last that ever answered, and one more where a path goes on in silence.
 * @param {Entry[]} entries
 * @returns {number}
 */
export function rowsOf(entries) {
  let most = 0;
  let heard = 0;
  for (const { got } of answers(entries)) {
    most = Math.max(most, got.hops?.length ?? 0);
    heard = Math.max(heard, (got.hops?.findLastIndex((h) => h.times.length > 0) ?? -1) + 1);
  }
  return Math.min(most, heard + 1);
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

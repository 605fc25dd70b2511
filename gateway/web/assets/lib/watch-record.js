// @ts-check
// What a watch keeps: numbers of each round and the few words that they need, never an answer. What is kept is bounded
// in every direction, whatever an answer holds.

import { privateHop } from "./format.js";

/** More entries than these are not kept: the oldest go. */
export const mostEntries = 240;
/** More hops of a path than these are not kept. */
export const mostHops = 64;
/** More times of one round, or addresses of one hop, are not kept. */
export const mostTimes = 64;
export const mostAddresses = 4;
/** More changes than these are not kept: the oldest go. */
export const mostChanges = 100;
/** Longer texts are cut. */
export const longestText = 200;

/** @typedef {import("./view.js").Tone} Tone */
/**
 * @typedef {{who: string[], hidden: boolean, times: number[], sent: number}} Hop who are its addresses, its times those
 *   of the answered probes in milliseconds; hidden is one whose address is not public
 */

/**
 * What is kept of an answer.
 * @typedef {object} Digest
 * @property {string} state what the target does, in a word or two: another state is a change
 * @property {Tone} tone
 * @property {boolean | null} works whether the target does what is watched; null where the answer leaves that open
 * @property {string} [code] of the conclusion; the record sets it
 * @property {string} address of the target, empty where it is not known
 * @property {number[]} times of the target's answers, in milliseconds
 * @property {number} sent how many probes went to the target; 0 where probes are not counted
 * @property {number} lost how many of these were not answered
 * @property {Hop[]} [hops] of a path, the first hop first
 * @property {string} [note] a remark, such as why the target is down
 */

/**
 * @typedef {object} Watcher what a tool's answers come to in a watch: the default export of a tool's watch.js
 * @property {(d: any) => Digest} digest
 * @property {(before: Digest, now: Digest) => string} turned is a change of state as the end of a sentence: "it went
 *   from up to down"
 * @property {(told: Told) => string} sum what the rounds came to, as a sentence
 * @property {string} measure what the times are: "round trip"
 * @property {boolean} [path] whether its digests have hops
 * @property {boolean} [probes] whether a round is several probes, of which some may be lost
 */

/**
 * What the sentence about all rounds is made of.
 * @typedef {object} Told
 * @property {string} who
 * @property {Digest[]} all at least one
 * @property {Digest} last
 * @property {number} rounds with those that gave no result
 * @property {number} troubled rounds
 * @property {string} after " after 62.7 ms (median)"; empty where nothing was timed
 * @property {string} lost the share of probes that were not answered; empty for none
 * @property {number} changes
 * @property {boolean} unknown whether the latest round gave no result
 */

/**
 * Something that happened in a watch, in the order of time: a round with an answer, one without, or a pause in which
 * rounds were missed. A limited round was refused for its number, which says nothing of the target. Moments are Unix
 * milliseconds.
 * @typedef {object} Entry
 * @property {number} n the number of the round, 0 for a pause
 * @property {"answer" | "failed" | "limited" | "pause"} kind
 * @property {number} at when it began
 * @property {number} until when it ended
 * @property {string} why in words, where there is no answer
 * @property {Digest | null} got
 * @property {boolean} turned whether something was another than before
 */

/** @typedef {{at: number, n: number, text: string}} Change n is the round's number */

/**
 * A text with an end. It is made anew: a part that a browser cuts from a long text keeps all of that in memory.
 * @param {unknown} text
 * @param {number} [most]
 * @returns {string}
 */
export function short(text, most = longestText) {
  const whole = [...String(text ?? "").slice(0, 2 * most + 2)];
  return (whole.length > most ? [...whole.slice(0, most - 1), "…"] : whole).join("");
}

/** @param {unknown} list @returns {number[]} */
const numbers = (list) =>
  (Array.isArray(list) ? list : [])
    .slice(0, mostTimes)
    .filter((t) => typeof t === "number" && Number.isFinite(t) && t >= 0);

/** @param {unknown} works */
const decided = (works) => (typeof works === "boolean" ? works : null);

/** @param {unknown} n */
const count = (n) => (typeof n === "number" && n >= 0 && n <= 10_000 ? Math.floor(n) : 0);

/**
 * A digest within the bounds, and of texts of its own.
 * @param {Digest} d
 * @param {Digest | null} before the last answer's, whose addresses are not kept once more
 * @returns {Digest}
 */
export function bounded({ state, tone, works, code, address, times, sent, lost, hops, note }, before) {
  const who = (/** @type {Hop} */ hop, /** @type {number} */ i) => {
    const now = hop.who.slice(0, mostAddresses).map((w) => short(w, 64));
    const was = before?.hops?.[i]?.who;
    return was && was.length === now.length && was.every((w, j) => w === now[j]) ? was : now;
  };
  return {
    state: short(state, 40),
    tone,
    works: decided(works),
    code: short(code, 40),
    address: short(address, 64),
    times: numbers(times),
    sent: count(sent),
    lost: count(lost),
    note: short(note),
    ...(hops && {
      hops: hops
        .slice(0, mostHops)
        .map((h, i) => ({ who: who(h, i), hidden: h.hidden === true, times: numbers(h.times), sent: count(h.sent) })),
    }),
  };
}

/** @typedef {{entries: Entry[], changes: Change[], rounds: number, forgotten: number}} Kept all that a record is */

/** @type {Kept} */
const empty = { entries: [], changes: [], rounds: 0, forgotten: 0 };

/**
 * Makes a record.
 * @param {Watcher} watcher
 * @param {Kept} [kept] what it begins with, as revived gives it
 */
export function makeRecord(watcher, kept = empty) {
  const entries = [...kept.entries];
  const changes = [...kept.changes];
  const paths = pathMemory();
  /** The last answer's. */
  let before = /** @type {Digest | null} */ (null);
  let { rounds, forgotten } = kept;
  for (const { got } of answers(entries)) {
    paths.changes(got.hops ?? []);
    before = got;
  }

  /** @param {Omit<Entry, "n" | "turned"> & {n?: number}} entry @param {string[]} [news] */
  function keep(entry, news = []) {
    const n = entry.n ?? (rounds += 1);
    entries.push({ ...entry, n, turned: news.length > 0 });
    changes.push(...news.map((text) => ({ at: entry.at, n, text })));
    if (entries.length > mostEntries) {
      entries.shift();
      forgotten += 1;
    }
    if (changes.length > mostChanges) changes.splice(0, changes.length - mostChanges);
    return news;
  }

  /**
   * Takes an answer, and returns what has changed, in sentences without their full stop.
   * @param {number} at
   * @param {number} until
   * @param {import("./view.js").Data} d
   * @returns {string[]}
   */
  function answered(at, until, d) {
    const got = bounded({ ...watcher.digest(d), code: d.conclusion?.code }, before);
    const news = [];
    if (before && before.state !== got.state) news.push(watcher.turned(before, got));
    if (before?.address && got.address && before.address !== got.address)
      news.push(`the address changed from ${before.address} to ${got.address}`);
    if (got.hops) news.push(...paths.changes(got.hops));
    before = got;
    return keep({ kind: "answer", at, until, why: "", got }, news);
  }

  /** @param {number} at @param {number} until @param {string} why @param {boolean} limited */
  const failed = (at, until, why, limited) =>
    keep({ kind: limited ? "limited" : "failed", at, until, why: short(why), got: null });

  /** @param {number} at @param {number} until @param {string} why */
  const paused = (at, until, why) => keep({ n: 0, kind: "pause", at, until, why: short(why), got: null });

  return {
    entries,
    changes,
    answered,
    failed,
    paused,
    get rounds() {
      return rounds;
    },
    get forgotten() {
      return forgotten;
    },
    /** @returns {Kept} */
    kept: () => ({ entries, changes, rounds, forgotten }),
  };
}

/** @typedef {ReturnType<typeof makeRecord>} Record_ */

/**
 * The last addresses of each hop. Routers that share their load answer now from one address and now from another:
 * addresses that answered in the same round are one place, and going from one to the other is no change.
 */
function pathMemory() {
  /** @type {Map<number, string[]>} */
  const last = new Map();
  /** @type {Map<number, Set<string>>} */
  const spread = new Map();

  /** @param {Hop} hop @param {number} ttl @returns {string | null} */
  function change(hop, ttl) {
    const now = hop.who.length > 0 ? hop.who : hop.hidden ? [privateHop] : [];
    if (now.length === 0) return null;
    const was = last.get(ttl);
    last.set(ttl, now);
    const together = spread.get(ttl) ?? new Set();
    spread.set(ttl, together);
    if (now.length > 1 && together.size < mostTimes) for (const who of now) together.add(who);
    if (!was || was.some((who) => now.includes(who))) return null;
    if ([...was, ...now].every((who) => together.has(who))) return null;
    return `hop ${ttl} changed from ${was[0]} to ${now[0]}`;
  }

  /** @param {Hop[]} hops */
  const changes = (hops) => hops.map((hop, i) => change(hop, i + 1)).filter((text) => text !== null);
  return { changes };
}

/** The answers of a record. @param {Entry[]} entries @returns {(Entry & {got: Digest})[]} */
export const answers = (entries) => entries.flatMap((e) => (e.got ? [{ ...e, got: e.got }] : []));

// @ts-check
// The record of a watch as it was kept before a reload. What is kept in a browser may be of another version or edited
// by hand: only what has the types and bounds of a record is taken over.

import { sessions } from "./watch-kept.js";
import { bounded, longestText, mostChanges, mostEntries, short } from "./watch-record.js";

/** @typedef {import("./watch-record.js").Change} Change */
/** @typedef {import("./watch-record.js").Digest} Digest */
/** @typedef {import("./watch-record.js").Entry} Entry */
/** @typedef {import("./watch-record.js").Hop} Hop */
/** @typedef {import("./watch-record.js").Kept} Kept */
/** @typedef {import("./watch-kept.js").Session} Session */

/**
 * The record of a check.
 * @param {string} key
 * @param {number} [now] Unix milliseconds
 * @returns {Session | null} null where there is none that can be read
 */
export function keptSession(key, now = Date.now()) {
  const found = /** @type {any} */ (sessions().find(([other]) => other === key)?.[1]);
  const record = revived(found?.record, now);
  if (!record) return null;
  const gap = Number.isInteger(found.gap) && found.gap >= 1 && found.gap <= 3600 ? found.gap : 0;
  return gap ? { record, gap, going: found.going === true, notify: found.notify === true } : null;
}

const kinds = ["answer", "failed", "limited", "pause"];
const tones = ["good", "warn", "bad", "info", "off"];

/** @param {any} value @returns {value is Record<string, any>} */
const isObject = (value) => typeof value === "object" && value !== null;
/** @param {unknown} value @returns {any[]} */
const listed = (value) => (Array.isArray(value) ? value : []);
/** @param {unknown} n @param {number} most */
const within = (n, most) => Number.isSafeInteger(n) && Number(n) >= 0 && Number(n) <= most;

/**
 * A record that was kept as JSON: what is not of its types, or later than now, is left out.
 * @param {unknown} value
 * @param {number} now Unix milliseconds
 * @returns {Kept | null} null where nothing is left
 */
export function revived(value, now) {
  if (!isObject(value)) return null;
  /** @type {Digest | null} */
  let before = null;
  /** @type {Entry[]} */
  const entries = [];
  for (const one of listed(value.entries).slice(-mostEntries)) {
    if (!isObject(one) || !kinds.includes(one.kind) || !within(one.at, one.until) || !within(one.until, now)) continue;
    /** @type {Digest | null} */
    const got = one.kind === "answer" ? revivedDigest(one.got, before) : null;
    const n = one.kind === "pause" ? 0 : one.n;
    if (!within(n, 1e6) || (one.kind === "answer" && !got) || one.at < (entries.at(-1)?.at ?? 0)) continue;
    const { kind, at, until } = one;
    entries.push({ n, kind, at, until, why: short(textOf(one.why)), got, turned: one.turned === true });
    before = got ?? before;
  }
  if (entries.length === 0) return null;
  const changes = listed(value.changes)
    .slice(-mostChanges)
    .filter((c) => isObject(c) && within(c.at, now) && within(c.n, 1e6) && typeof c.text === "string")
    .map(({ at, n, text }) => ({ at, n, text: short(text, 2 * longestText) }));
  const last = Math.max(0, ...entries.map(({ n }) => n));
  return {
    entries,
    changes,
    rounds: within(value.rounds, 1e6) ? Math.max(last, value.rounds) : last,
    forgotten: within(value.forgotten, 1e6) ? value.forgotten : 0,
  };
}

/** @param {unknown} text */
const textOf = (text) => (typeof text === "string" ? text : "");

/** @param {any} got @param {Digest | null} before @returns {Digest | null} */
function revivedDigest(got, before) {
  if (!isObject(got) || typeof got.state !== "string" || !tones.includes(got.tone)) return null;
  const hops = listed(got.hops)
    .filter(isObject)
    .map((h) => ({ ...h, who: listed(h.who).filter((who) => typeof who === "string") }));
  const [code, address, note] = [got.code, got.address, got.note].map(textOf);
  const { state, tone, works, times, sent, lost } = got;
  const path = /** @type {Hop[] | undefined} */ (Array.isArray(got.hops) ? hops : undefined);
  return bounded({ state, tone, works, code, address, times, sent, lost, note, hops: path }, before);
}

// @ts-check
// What this browser keeps: the theme, the last targets, the last answers. Nothing of it ever leaves the browser, and where
// storage is refused (private windows, full disks) the pages work without.

const prefix = "diagnostics.";

/**
 * @template T
 * @param {string} key
 * @param {T} otherwise
 * @returns {T}
 */
export function load(key, otherwise) {
  try {
    const text = localStorage.getItem(prefix + key);
    return text === null ? otherwise : JSON.parse(text);
  } catch {
    return otherwise;
  }
}

/**
 * @param {string} key
 * @param {unknown} value null takes it away
 */
export function save(key, value) {
  try {
    if (value === null) localStorage.removeItem(prefix + key);
    else localStorage.setItem(prefix + key, JSON.stringify(value));
  } catch {
    // Full or refused: the page goes on without a memory.
  }
}

/**
 * What is kept may be of an older version or edited by hand: whatever is no list is an empty one.
 * @param {string} key
 * @returns {any[]}
 */
function list(key) {
  const kept = load(key, /** @type {unknown} */ ([]));
  return Array.isArray(kept) ? kept : [];
}

/** @typedef {{target: string, at: number}} Recent */

const mostRecent = 8;

/** @returns {Recent[]} the last targets, newest first */
export function recents() {
  return list("recent").filter((r) => typeof r?.target === "string");
}

/**
 * Remembers a target as the newest.
 * @param {string} target
 */
export function remember(target) {
  const others = recents().filter((r) => r.target !== target);
  save("recent", [{ target, at: Date.now() }, ...others].slice(0, mostRecent));
}

/** Forgets targets and answers. */
export function forget() {
  save("recent", null);
  save("answers", null);
}

/**
 * An answer of which the facts are kept. tone and verdict are absent where an older version of these pages kept it.
 * @typedef {{key: string, at: number, facts: import("./view.js").Facts, tone?: import("./view.js").Tone, verdict?: string, changes?: Change[]}} Kept
 */
/** What was found to have changed, at a moment. @typedef {{at: number, label: string, gone: string[], come: string[]}} Change */

const mostAnswers = 200;
/** So many changes are kept of each check, the latest. */
const mostChanges = 10;

/** The name under which the answer of a check is kept. @param {import("./view.js").Asked} asked */
export const keyOf = ({ slug, input, options }) => JSON.stringify([slug, input, options]);

/** @returns {Kept[]} all that is kept, newest first */
function answers() {
  return list("answers").filter((kept) => typeof kept?.key === "string" && typeof kept.at === "number");
}

/**
 * The last run of the same check in this browser.
 * @param {string} key
 * @returns {Kept | null}
 */
export function lastAnswer(key) {
  return answers().find((kept) => kept.key === key) ?? null;
}

/**
 * What a tool last came to with an input, whatever its options were.
 * @param {string} slug
 * @param {string} input
 * @returns {{tone: import("./view.js").Tone, verdict: string, at: number} | null}
 */
export function lastVerdict(slug, input) {
  const stem = `${JSON.stringify([slug, input]).slice(0, -1)},`;
  const last = answers().find((kept) => kept.key.startsWith(stem) && tones.includes(kept.tone ?? ""));
  return last ? { tone: /** @type {import("./view.js").Tone} */ (last.tone), verdict: String(last.verdict ?? ""), at: last.at } : null;
}

const tones = ["good", "warn", "bad", "info"];

/**
 * Keeps an answer as the newest, with what has changed since the one before it.
 * @param {string} key
 * @param {import("./view.js").Facts} facts
 * @param {import("./view.js").Verdict} verdict
 * @param {Omit<Change, "at">[]} changes
 */
export function keepAnswer(key, facts, { tone, text }, changes) {
  const at = Date.now();
  const before = lastAnswer(key)?.changes;
  const all = [...changes.map((change) => ({ at, ...change })), ...(Array.isArray(before) ? before : [])].slice(0, mostChanges);
  save("answers", [{ key, at, facts, tone, verdict: text, changes: all }, ...answers().filter((kept) => kept.key !== key)].slice(0, mostAnswers));
}

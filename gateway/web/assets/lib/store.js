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

/** @typedef {{key: string, at: number, facts: import("./view.js").Facts}} Kept */

const mostAnswers = 40;

/**
 * The facts of the last run of the same check in this browser.
 * @param {string} key
 * @returns {Kept | null}
 */
export function lastAnswer(key) {
  return list("answers").find((kept) => kept?.key === key) ?? null;
}

/**
 * @param {string} key
 * @param {import("./view.js").Facts} facts
 */
export function keepAnswer(key, facts) {
  const others = list("answers").filter((kept) => kept?.key !== key);
  save("answers", [{ key, at: Date.now(), facts }, ...others].slice(0, mostAnswers));
}

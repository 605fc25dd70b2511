// @ts-check
// What this browser keeps: the theme, the last targets, the last answers. Nothing of it ever leaves the browser, and
// where storage is refused (private windows, full disks) the pages work without.

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
 * @returns {boolean} whether there was room for it
 */
export function save(key, value) {
  try {
    if (value === null) localStorage.removeItem(prefix + key);
    else localStorage.setItem(prefix + key, JSON.stringify(value));
    return true;
  } catch {
    // Full or refused: the page goes on without a memory.
    return false;
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

/** Forgets the targets, and the answers about them, of some inputs. @param {(input: string) => boolean} such */
export function forgetTargets(such) {
  save(
    "recent",
    recents().filter(({ target }) => !such(target)),
  );
  save(
    "answers",
    kept().filter(({ key }) => !such(parted(key)?.[1] ?? "")),
  );
  forgetWatches(such);
}

/**
 * Forgets what watches of such inputs have recorded in this tab (watch-kept.js).
 * @param {(input: string) => boolean} such
 */
function forgetWatches(such) {
  const place = `${prefix}watches`;
  try {
    const all = JSON.parse(sessionStorage.getItem(place) ?? "[]");
    sessionStorage.setItem(
      place,
      JSON.stringify(all.filter((/** @type {any} */ [key]) => !such(parted(key)?.[1] ?? ""))),
    );
  } catch {
    // Refused, or not of these pages: nothing reads it.
  }
}

/** Forgets targets and answers. */
export function forget() {
  save("recent", null);
  save("answers", null);
  forgetWatches(() => true);
}

/**
 * What is kept of an answer. Only the key and the time are certain: an older version of these pages may have kept it.
 * @typedef {object} Kept
 * @property {string} key
 * @property {number} at
 * @property {import("./view.js").Facts} [facts]
 * @property {import("./view.js").Tone} [tone]
 * @property {string} [code] of the conclusion
 * @property {string} [verdict] its sentence
 * @property {import("./compare.js").Found[]} [findings]
 * @property {Change[]} [changes]
 * @property {import("./view.js").Times} [times]
 */
/**
 * What was found to have changed, at a moment. @typedef {{at: number, label: string, gone: string[], come: string[]}}
 * Change
 */

const mostAnswers = 200;
/** So many changes are kept of each check, the latest. */
const mostChanges = 10;

/** The name under which the answer of a check is kept. @param {import("./view.js").Asked} asked */
export const keyOf = ({ slug, input, options }) => JSON.stringify([slug, input, options]);

/** @returns {Kept[]} as it is kept, newest first */
function kept() {
  return list("answers").filter((kept) => typeof kept?.key === "string" && typeof kept.at === "number");
}

/**
 * The last run of the same check in this browser.
 * @param {string} key
 * @returns {Kept | null}
 */
export function lastAnswer(key) {
  return kept().find((kept) => kept.key === key) ?? null;
}

/**
 * What a tool last came to with an input, whatever its options were.
 * @param {string} slug
 * @param {string} input
 * @returns {{tone: import("./view.js").Tone, verdict: string, at: number} | null}
 */
export function lastVerdict(slug, input) {
  const stem = `${JSON.stringify([slug, input]).slice(0, -1)},`;
  const last = kept().find((kept) => kept.key.startsWith(stem) && tones.includes(kept.tone ?? ""));
  return last
    ? { tone: /** @type {import("./view.js").Tone} */ (last.tone), verdict: String(last.verdict ?? ""), at: last.at }
    : null;
}

const tones = ["good", "warn", "bad", "info", "off"];

/**
 * Keeps an answer as the newest, with what has changed since the one before it.
 * @param {string} key
 * @param {import("./compare.js").Outcome & Pick<Kept, "facts" | "tone" | "times">} answer
 * @param {Omit<Change, "at">[]} changes
 */
export function keepAnswer(key, { text: verdict, ...answer }, changes) {
  const at = Date.now();
  const noted = changes.map(({ label, gone, come }) => ({ at, label, gone: short(gone), come: short(come) }));
  const all = [...noted, ...changesOf(lastAnswer(key))].slice(0, mostChanges);
  let list = [{ key, at, ...answer, verdict, changes: all }, ...kept().filter((other) => other.key !== key)].slice(
    0,
    mostAnswers,
  );
  // Where the browser has no room for all, the older half goes.
  while (!save("answers", list) && list.length > 1) list = list.slice(0, list.length >> 1);
}

/** Of a long list a change keeps the beginning. @param {string[]} values */
const short = (values) => values.slice(0, 8).map((value) => value.slice(0, 200));

/** @param {Kept | null} kept @returns {Change[]} */
const changesOf = (kept) =>
  Array.isArray(kept?.changes)
    ? kept.changes.filter((c) => typeof c?.label === "string" && Array.isArray(c.gone) && Array.isArray(c.come))
    : [];

/**
 * An answer that is kept, taken apart.
 * @typedef {object} Known
 * @property {[slug: string, input: string, options: Record<string, string | number | boolean>]} key
 * @property {number} at
 * @property {import("./view.js").Facts} facts
 * @property {import("./view.js").Tone} [tone] absent, as verdict is, where an older version of these pages kept it
 * @property {string} [verdict]
 * @property {Change[]} changes newest first
 */

/**
 * All answers that are kept, newest first. What these pages did not write is left out.
 * @returns {Known[]}
 */
export function answers() {
  return kept().flatMap((one) => {
    const key = parted(one.key);
    if (!key) return [];
    const known = tones.includes(one.tone ?? "") && typeof one.verdict === "string";
    return [
      {
        key,
        at: one.at,
        facts: one.facts ?? {},
        tone: known ? one.tone : undefined,
        verdict: known ? one.verdict : undefined,
        changes: changesOf(one),
      },
    ];
  });
}

/**
 * @param {string} text
 * @returns {Known["key"] | null}
 */
function parted(text) {
  try {
    const [slug, input, options] = JSON.parse(text);
    return typeof slug === "string" && typeof input === "string" ? [slug, input, options ?? {}] : null;
  } catch {
    return null;
  }
}

// @ts-check
// The records of watches in this tab's session storage: a reload goes on with them, closing the tab ends them. They
// are bounded, and what is read back is checked (watch-again.js).

/** @typedef {{record: import("./watch-record.js").Kept, gap: number, going: boolean, notify: boolean}} Session */

const place = "diagnostics.watches";
/** The records of so many checks are kept, the latest. */
export const mostSessions = 4;
/** The longest text of one record, in characters; its older rounds go first. */
export const longestSession = 512 << 10;

/** @returns {[string, unknown][]} by the name of the check, the latest first */
export function sessions() {
  try {
    const list = JSON.parse(sessionStorage.getItem(place) ?? "[]");
    return Array.isArray(list) ? list.filter((one) => Array.isArray(one) && typeof one[0] === "string") : [];
  } catch {
    return [];
  }
}

/**
 * Keeps the record of a check. Where storage is refused or full, nothing is kept.
 * @param {string} key as keyOf gives it
 * @param {Session} session
 */
export function keepSession(key, session) {
  const { record, ...rest } = session;
  let { entries, forgotten } = record;
  const kept = () => ({ ...rest, record: { ...record, entries, forgotten } });
  while (entries.length > 1 && JSON.stringify(kept(), rounded).length > longestSession) {
    const half = entries.length >> 1;
    [entries, forgotten] = [entries.slice(half), forgotten + half];
  }
  const others = sessions().filter(([other]) => other !== key);
  try {
    sessionStorage.setItem(place, JSON.stringify([[key, kept()], ...others].slice(0, mostSessions), rounded));
  } catch {
    // The watch goes on without.
  }
}

/** Microseconds are enough. @param {string} _ @param {unknown} value */
const rounded = (_, value) => (typeof value === "number" ? Math.round(value * 1000) / 1000 : value);

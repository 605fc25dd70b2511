// @ts-check
// Statistics of round-trip times. All are pure; of nothing there is no statistic, which is null.

/**
 * The middle value, or the mean of the two in the middle.
 * @param {number[]} times
 * @returns {number | null}
 */
export function median(times) {
  if (times.length === 0) return null;
  const sorted = ascending(times);
  const half = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/**
 * A percentile by nearest rank: the smallest value that at least so many percent of the values do not exceed. It is
 * always
 * one of the values, never something between two.
 * @param {number[]} times
 * @param {number} percent over 0 to 100
 * @returns {number | null}
 */
export function percentile(times, percent) {
  if (times.length === 0) return null;
  return ascending(times)[Math.max(1, Math.ceil((percent / 100) * times.length)) - 1];
}

/**
 * @param {number[]} times
 * @returns {number | null}
 */
export function mean(times) {
  return times.length === 0 ? null : times.reduce((sum, t) => sum + t, 0) / times.length;
}

/**
 * The mean absolute difference of consecutive values: the D of RFC 3550 section 6.4.1, as a plain mean in the place of
 * the
 * RFC's running average. It takes two values.
 * @param {number[]} times in the order of sending
 * @returns {number | null}
 */
export function jitter(times) {
  return mean(times.slice(1).map((t, i) => Math.abs(t - times[i])));
}

/**
 * @param {number[]} times
 * @returns {{count: number, min: number | null, median: number | null, p95: number | null, max: number | null, mean:
 *   number | null, jitter: number | null}}
 */
export function summary(times) {
  return {
    count: times.length,
    min: percentile(times, 0),
    median: median(times),
    p95: percentile(times, 95),
    max: percentile(times, 100),
    mean: mean(times),
    jitter: jitter(times),
  };
}

/**
 * How many of all, in percent.
 * @param {number} part
 * @param {number} all
 * @returns {number | null}
 */
export function share(part, all) {
  return all > 0 ? (part / all) * 100 : null;
}

/**
 * The runs of what is missing.
 * @param {boolean[]} missing
 * @returns {{start: number, length: number}[]} start is an index
 */
export function runs(missing) {
  /** @type {{start: number, length: number}[]} */
  const list = [];
  missing.forEach((gone, i) => {
    if (!gone) return;
    if (i > 0 && missing[i - 1]) list[list.length - 1].length += 1;
    else list.push({ start: i, length: 1 });
  });
  return list;
}

/** @param {number[]} list */
const ascending = (list) => [...list].sort((a, b) => a - b);

/**
 * What a jitter means to people, as the end of a sentence. Network planners allow a call 30 ms.
 * @param {number} jitter milliseconds
 * @returns {string}
 */
export function felt(jitter) {
  if (jitter >= 30) return "noticeable in calls and games";
  return jitter >= 10 ? "noticeable in fast games, hardly in calls or on websites" : "too little to notice";
}

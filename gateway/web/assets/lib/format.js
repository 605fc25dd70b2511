// @ts-check
// Values in words, with their units; an unknown one is a dash.

const dash = "—";

/**
 * Milliseconds, with as many digits as matter; from one second on in seconds.
 * @param {number | null | undefined} value
 * @returns {string}
 */
export function ms(value) {
  if (typeof value !== "number" || !Number.isFinite(value)) return dash;
  if (value >= 999.5) return `${(value / 1000).toFixed(1)} s`;
  if (value >= 100) return `${number(Math.round(value))} ms`;
  return `${value.toFixed(value >= 10 ? 1 : 2)} ms`;
}

/**
 * @param {number} n
 * @param {string} one
 * @param {string} [many]
 * @returns {string}
 */
export function plural(n, one, many = `${one}s`) {
  return `${number(n)} ${n === 1 ? one : many}`;
}

/** The sentence about an answer that was cut. */
export const cutAnswer = "This answer was too long and was cut. Shortened texts end in “…”.";

/**
 * A count of a list that may have been cut: then it is of what is shown alone.
 * @param {number} n
 * @param {boolean | undefined} cut
 * @param {string} one
 * @returns {string}
 */
export function counted(n, cut, one) {
  return `${plural(n, one)}${cut ? " shown" : ""}`;
}

/**
 * A count, its thousands apart.
 * @param {number} n
 * @returns {string}
 */
export function number(n) {
  // Intl's formats take a slow phone tens of milliseconds each to make.
  return Math.abs(n) < 1000 && Number.isInteger(n) ? String(n) : n.toLocaleString("en");
}

/**
 * @param {number | null | undefined} value 0 to 100
 * @returns {string}
 */
export function percent(value) {
  if (typeof value !== "number") return dash;
  return `${Number.isInteger(value) ? value : value.toFixed(1)} %`;
}

/**
 * @param {number | null | undefined} n
 * @returns {string}
 */
export function bytes(n) {
  if (typeof n !== "number") return dash;
  if (n < 1024) return plural(n, "byte");
  return n < 1023.95 * 1024 ? `${(n / 1024).toFixed(1)} KiB` : `${(n / 1024 / 1024).toFixed(1)} MiB`;
}

/** @type {[number, string][]} */
const units = [
  [86400, "day"],
  [3600, "hour"],
  [60, "minute"],
  [1, "second"],
];

/** Up to how many seconds a length of time is rounded to how many. @type {[number, number][]} */
const steps = [
  [120, 1],
  [600, 10],
  [7200, 60],
  [172_800, 300],
  [Infinity, 3600],
];

/**
 * A length of time by its two largest units, rounded to what matters of it: 93784 is "1 day 2 hours", 3598 "1 hour".
 * @param {number | null | undefined} seconds
 * @returns {string}
 */
export function duration(seconds) {
  if (typeof seconds !== "number" || !Number.isFinite(seconds)) return dash;
  const exact = Math.abs(seconds);
  const step = steps.find(([most]) => exact <= most)?.[1] ?? 1;
  let rest = Math.round(exact / step) * step;
  const parts = [];
  for (const [size, name] of units) {
    const n = Math.floor(rest / size);
    rest -= n * size;
    if (n > 0) parts.push(plural(n, name));
    // Past the first unit only the next smaller one is given.
    if (parts.length === 2 || (parts.length === 1 && n === 0)) break;
  }
  return parts.join(" ") || "0 seconds";
}

const months = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

/**
 * A day, "21 November 2026" (UTC).
 * @param {string | number | null | undefined} moment RFC 3339, or Unix milliseconds
 * @returns {string} what is no moment stays as it is
 */
export function day(moment) {
  if (moment === null || moment === undefined || moment === "") return dash;
  const date = new Date(moment);
  return Number.isNaN(date.getTime())
    ? String(moment)
    : `${date.getUTCDate()} ${months[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
}

/** The name of a router whose address is private, wherever its address would stand. */
export const privateHop = "private address (not shown)";

/** A day for narrow places, "21 Nov 2026" (UTC). @param {string | number | null | undefined} moment as of day */
export const shortDay = (moment) => day(moment).replace(/ (\p{L}{3})\p{L}* /u, " $1 ");

/**
 * A moment, "21 November 2026, 11:43:44 UTC".
 * @param {string | number | null | undefined} moment RFC 3339, or Unix milliseconds
 * @returns {string} what is no moment stays as it is
 */
export function dateTime(moment) {
  const date = new Date(moment ?? "");
  return Number.isNaN(date.getTime()) ? day(moment) : `${day(moment)}, ${date.toISOString().slice(11, 19)} UTC`;
}

/**
 * How long ago a moment was, or in how long it will be, in words: "3 days ago", "in 2 hours".
 * @param {string | number} moment
 * @param {number} [now] Unix milliseconds
 * @returns {string}
 */
export function relative(moment, now = Date.now()) {
  const seconds = (new Date(moment).getTime() - now) / 1000;
  if (Number.isNaN(seconds)) return dash;
  if (Math.abs(seconds) < 1) return "just now";
  const words = roughly(Math.abs(seconds));
  return seconds < 0 ? `${words} ago` : `in ${words}`;
}

const year = 365.25 * 86400;

/**
 * A length of time by its largest unit; years from two on, since "663 days" says more than "2 years".
 * @param {number} seconds
 * @returns {string}
 */
function roughly(seconds) {
  if (seconds >= 2 * year) return plural(Math.floor(seconds / year), "year");
  const [size, name] = units.find(([s]) => seconds >= s) ?? [1, "second"];
  return plural(Math.floor(seconds / size), name);
}

/**
 * A list in words: "a, b and c".
 * @param {string[]} items
 * @returns {string}
 */
export function listed(items) {
  return items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items[items.length - 1]}`;
}

/**
 * A sentence's first letter as a capital.
 * @param {string} text
 * @returns {string}
 */
export function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/**
 * A sentence with a small first letter, to stand inside another.
 * @param {string} text
 * @returns {string}
 */
export function lower(text) {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/**
 * The host of a URL, with its port where that is not the scheme's own; what is no URL stays as it is.
 * @param {string} url
 * @returns {string}
 */
export function host(url) {
  return URL.canParse(url) ? new URL(url).host : url;
}

// @ts-check
// Addresses as numbers, and the ranges that they are in.

/**
 * @typedef {{title: string, written: string, start: bigint, end: bigint}} Range written is the range as people write it
 */

/**
 * An address as a number.
 * @param {string} text
 * @returns {bigint} throws where the text is no address
 */
export function addressNumber(text) {
  if (!text.includes(":")) return text.split(".").reduce((n, part) => (n << 8n) | BigInt(part), 0n);
  const [front, back] = text.split("::").map((half) => (half === "" ? [] : half.split(":")));
  const groups = back ? [...front, ...Array(8 - front.length - back.length).fill("0"), ...back] : front;
  return groups.reduce((n, group) => (n << 16n) | BigInt(`0x${group}`), 0n);
}

/**
 * @param {string} title
 * @param {string} cidr
 * @returns {Range}
 */
export function prefixRange(title, cidr) {
  const [first, length] = cidr.split("/");
  const size = 1n << BigInt((first.includes(":") ? 128 : 32) - Number(length));
  const start = addressNumber(first) & ~(size - 1n);
  return { title, written: cidr, start, end: start + size - 1n };
}

/**
 * @param {string} title
 * @param {string} first
 * @param {string} last
 * @param {string[]} cidrs written in place of the ends where it is one
 * @returns {Range}
 */
export function spanRange(title, first, last, cidrs) {
  return {
    title,
    written: cidrs.length === 1 ? cidrs[0] : `${first} – ${last}`,
    start: addressNumber(first),
    end: addressNumber(last),
  };
}

// @ts-check
// Addresses that nobody can check from here, by the name of the range that they are in: so that a form can say so before it asks.
// The service decides by itself, from the registries of the IANA; these are the ranges that people type.

/** @type {[string, number, string][]} network, length of the prefix, what it is */
const ranges = [
  ["0.0.0.0", 8, "an address of “this network”"], ["10.0.0.0", 8, "a private address"], ["100.64.0.0", 10, "an address behind a provider’s NAT"],
  ["127.0.0.0", 8, "an address of your own machine"], ["169.254.0.0", 16, "a link-local address"], ["172.16.0.0", 12, "a private address"],
  ["192.0.2.0", 24, "an address for documentation"], ["192.168.0.0", 16, "a private address"], ["198.18.0.0", 15, "an address for benchmarks"],
  ["198.51.100.0", 24, "an address for documentation"], ["203.0.113.0", 24, "an address for documentation"], ["224.0.0.0", 4, "a multicast address"],
  ["240.0.0.0", 4, "a reserved address"],
  ["::", 128, "the unspecified address"], ["::1", 128, "an address of your own machine"], ["fc00::", 7, "a private address"],
  ["fe80::", 10, "a link-local address"], ["ff00::", 8, "a multicast address"], ["2001:db8::", 32, "an address for documentation"],
];

/**
 * What keeps an address from being checked: "a private address"; empty where nothing of this list does.
 * @param {string} address in its usual spelling
 * @returns {string}
 */
export function notPublic(address) {
  const mapped = /^::ffff:([\d.]+)$/i.exec(address);
  const bits = bitsOf(mapped ? mapped[1] : address);
  if (!bits) return "";
  const range = ranges.find(([network, length]) => {
    const own = bitsOf(network);
    return own?.length === bits.length && own.slice(0, length) === bits.slice(0, length);
  });
  return range?.[2] ?? "";
}

/** The bits of an address, null where it is none. @param {string} address @returns {string | null} */
function bitsOf(address) {
  if (/^\d+(\.\d+){3}$/.test(address)) return address.split(".").map((octet) => Number(octet).toString(2).padStart(8, "0")).join("");
  if (!address.includes(":") || !URL.canParse(`http://[${address}]/`)) return null;
  const [head, tail = ""] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split("::");
  const [before, after] = [head, tail].map((part) => part.split(":").filter((group) => group !== ""));
  const groups = [...before, ...Array(8 - before.length - after.length).fill("0"), ...after];
  return groups.map((group) => parseInt(group, 16).toString(2).padStart(16, "0")).join("");
}

// @ts-check
// Addresses that cannot be checked from here, by the name of the range that they are in: so that a form can say so
// before it asks. The service decides by itself, from the registries of the IANA; these are the ranges that people
// type.

import { addressNumber, prefixRange } from "./addresses.js";

const ranges = [
  ["0.0.0.0/8", "an address of “this network”"],
  ["10.0.0.0/8", "a private address"],
  ["100.64.0.0/10", "a shared address behind a provider’s NAT (CGNAT)"],
  ["127.0.0.0/8", "an address of your own machine"],
  ["169.254.0.0/16", "a link-local address"],
  ["172.16.0.0/12", "a private address"],
  ["192.0.2.0/24", "an address for documentation"],
  ["192.168.0.0/16", "a private address"],
  ["198.18.0.0/15", "an address for benchmarks"],
  ["198.51.100.0/24", "an address for documentation"],
  ["203.0.113.0/24", "an address for documentation"],
  ["224.0.0.0/4", "a multicast address"],
  ["240.0.0.0/4", "a reserved address"],
  ["::/128", "the unspecified address"],
  ["::1/128", "an address of your own machine"],
  ["fc00::/7", "a private address"],
  ["fe80::/10", "a link-local address"],
  ["ff00::/8", "a multicast address"],
  ["2001:db8::/32", "an address for documentation"],
].map(([cidr, what]) => prefixRange(what, cidr));

/**
 * What keeps an address from being checked: "a private address"; empty where nothing of this list does.
 * @param {string} text
 * @returns {string}
 */
export function notPublic(text) {
  const address = plain(/^::ffff:([\d.]+)$/i.exec(text)?.[1] ?? text);
  if (address === null) return "";
  const at = addressNumber(address);
  const six = address.includes(":");
  return (
    ranges.find(({ written, start, end }) => written.includes(":") === six && start <= at && at <= end)?.title ?? ""
  );
}

/**
 * Why an address cannot be checked, in a sentence; empty where nothing of this list keeps it from that.
 * @param {string | null | undefined} host
 * @returns {string}
 */
export function unfit(host) {
  const inside = notPublic(host ?? "");
  return inside && `${host} is ${inside}: only public addresses can be checked from here.`;
}

/**
 * An address without the forms that numbers are not read from; null where it is none. @param {string} text @returns
 * {string | null}
 */
function plain(text) {
  if (/^\d+(\.\d+){3}$/.test(text)) return text;
  const url = `http://[${text}]/`;
  return text.includes(":") && URL.canParse(url) ? new URL(url).hostname.slice(1, -1) : null;
}

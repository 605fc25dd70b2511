// @ts-check
// What the pages about addresses share: the network card, the registries by name, and the ways to the other tools.

import { addressNumber } from "./addresses.js";
import { el } from "./dom.js";
import { day } from "./format.js";
import { section, value, values } from "./parts.js";
import { timeline } from "./picture.js";

export { originWords, registryName } from "./origin.js";

/**
 * @typedef {{handle: string, name: string, type: string, cidrs: string[], startAddress: string, endAddress: string,
 *   parentHandle: string | null, status: string[], redactions: Redaction[], truncated?: boolean}} Network
 */
/** @typedef {{name: string | null, reason: string | null}} Redaction */
/**
 * @typedef {{asn: number, name: string | null, prefix: string | null, country: string | null, registry: string | null,
 *   allocated: string | null}} Origin
 */
/** @typedef {[string, Node | string | number | null | undefined]} Row */

/** What the registries mean by the type of a network. @type {Record<string, string>} */
const types = {
  "ALLOCATED PA": "allocated to a provider, which assigns it to users",
  "ASSIGNED PA": "assigned by a provider to one user",
  "ASSIGNED PI": "assigned to one user, independent of any provider",
  "DIRECT ALLOCATION": "allocated by the registry, to be assigned to others",
  "DIRECT ASSIGNMENT": "assigned by the registry to one user",
  REALLOCATION: "allocated by a provider, to be assigned to others",
  REASSIGNMENT: "assigned by a provider to one user",
  "ALLOCATED PORTABLE": "allocated by the registry, to be assigned to others",
  "ASSIGNED PORTABLE": "assigned by the registry to one user",
  "ASSIGNED NON-PORTABLE": "assigned by a provider to one user",
};

/**
 * A network's registration, row by row for facts().
 * @param {Network} n
 * @returns {Row[]}
 */
export function networkRows(n) {
  const meaning = types[n.type.toUpperCase()];
  return [
    ["First address", n.startAddress && value(n.startAddress, { what: "first address" })],
    ["Last address", n.endAddress && value(n.endAddress, { what: "last address" })],
    ["As prefixes (CIDR)", values(n.cidrs, { what: "prefix" })],
    ["Network name", n.name],
    ["Handle", n.handle && value(n.handle, { what: "handle" })],
    ["Type", meaning ? `${n.type} (${meaning})` : n.type],
    ["Part of", n.parentHandle && value(n.parentHandle, { what: "parent network" })],
    ["Withheld data", heldBack(n.redactions).join("; ")],
    ["Status", n.status.join(", ") + (n.truncated ? " and more, which are not shown" : "")],
  ];
}

/**
 * What a registry says it holds back, reason by reason, in its own words.
 * @param {Redaction[]} redactions
 * @returns {string[]} "Registrant Name, Registrant Phone (Server policy)"
 */
export function heldBack(redactions) {
  /** @type {Map<string | null, string[]>} */
  const reasons = new Map();
  for (const { name, reason } of redactions) reasons.set(reason, [...(reasons.get(reason) ?? []), name ?? "data"]);
  return [...reasons].map(([reason, names]) => names.join(", ") + (reason ? ` (${reason})` : ", no reason given"));
}

/**
 * A link to another tool's page about something found.
 * @param {string} slug
 * @param {string} input
 * @param {string} text
 * @param {string} [words] where the text alone does not say which
 */
export function toolLink(slug, input, text, words) {
  return el("a", { href: `/tools/${slug}?input=${encodeURIComponent(input)}`, "aria-label": words }, text);
}

/** @type {[string, string][]} */
const addressTools = [
  ["ip-geolocation", "Where it is registered"],
  ["asn-lookup", "Who announces it"],
  ["whois-lookup", "Its network’s registration"],
  ["ping", "Ping it"],
  ["traceroute", "Trace the path to it"],
];

/**
 * The other tools that take an address.
 * @param {string} address
 * @param {string} except the tool that asks
 * @param {...Node} others further links
 */
export function addressLinks(address, except, ...others) {
  const links = addressTools.filter(([slug]) => slug !== except).map(([slug, text]) => toolLink(slug, address, text));
  return section(
    "Related checks",
    el("ul", { class: "further" }, ...[...links, ...others].map((link) => el("li", {}, link))),
  );
}

/**
 * When prefixes or numbers were allocated, on a line that ends today.
 * @param {Origin[]} origins
 * @returns {HTMLElement | null} null where no day is known
 */
export function allocations(origins) {
  /** @type {Map<string, Set<string>>} */
  const days = new Map();
  for (const o of origins) {
    if (o.allocated) days.set(o.allocated, (days.get(o.allocated) ?? new Set()).add(o.prefix ?? `AS${o.asn}`));
  }
  if (days.size === 0) return null;
  const moments = [...days].map(([at, what]) => ({ at, title: `${[...what].join(", ")} allocated` }));
  const words = moments.map((m) => `${m.title} on ${day(m.at)}`).join("; ");
  return section("History", timeline(moments, { label: `${words}.`, write: day }));
}

/**
 * The name at which Team Cymru publishes who announces an address: its octets or nibbles, last first.
 * @param {string} address
 * @returns {string}
 */
export function originName(address) {
  if (!address.includes(":")) return `${address.split(".").reverse().join(".")}.origin.asn.cymru.com`;
  // The first 64 bits: no one announces less than a /64.
  const nibbles = [...addressNumber(address).toString(16).padStart(32, "0").slice(0, 16)];
  return `${nibbles.reverse().join(".")}.origin6.asn.cymru.com`;
}

/**
 * Where the public RDAP redirector reports on something.
 * @param {"ip" | "domain" | "autnum"} kind
 * @param {string | number} what
 * @returns {string}
 */
export function rdapAddress(kind, what) {
  return ["https:", "", "rdap.org", kind, what].join("/");
}

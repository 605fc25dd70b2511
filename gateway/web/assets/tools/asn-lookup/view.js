// @ts-check
// Who announces an address, or who holds an AS number.

import { prefixRange } from "../../lib/addresses.js";
import { el } from "../../lib/dom.js";
import { day, listed, plural } from "../../lib/format.js";
import { remarks } from "../../lib/notes.js";
import { facts, more, none, section, table, value } from "../../lib/parts.js";
import { addressLinks, allocations, originName, rdapAddress, registryName, toolLink } from "../../lib/network.js";
import { addressPicture } from "../../lib/ranges.js";
import { sh } from "../../lib/shell.js";
import { attempt } from "../../lib/view.js";
import { name } from "./facts.js";

/** @typedef {import("./facts.js").AsnLookup} AsnLookup */
/** @typedef {import("./facts.js").Origin} Origin */

/** @param {AsnLookup} d */
function placePart(d) {
  /** @type {Map<string, string[]>} */
  const prefixes = new Map();
  for (const r of d.records) prefixes.set(r.prefix ?? "", [...(prefixes.get(r.prefix ?? "") ?? []), name(r)]);
  const caption =
    prefixes.size > 1
      ? "Packets follow the narrowest range that contains the address; wider ranges count only for " +
        "addresses outside it."
      : undefined;
  const shown = attempt(
    () =>
      addressPicture(
        d.query,
        [...prefixes].map(([prefix, names]) => prefixRange(`Announced by ${listed(names)}`, prefix)),
        caption,
      ),
    null,
  );
  return shown && section("Address range", shown);
}

/** @param {AsnLookup} d */
function recordsTable(d) {
  const columns = [
    { title: "AS number" },
    { title: "Name" },
    { title: "Prefix" },
    { title: "Country", hint: "of registration" },
    { title: "Registry" },
    { title: "Allocated" },
  ];
  const rows = d.records.map((r) => [
    value(name(r), { what: "AS number" }),
    r.name ? value(r.name, { what: "name", mono: false }) : none("not known"),
    value(r.prefix ?? "", { what: "prefix" }),
    r.country ?? "—",
    registryName(r.registry)?.split(" (")[0] ?? "—",
    r.allocated ? day(r.allocated) : "—",
  ]);
  return el(
    "div",
    { class: "asn-origins" },
    table({ caption: "Networks that announce the address, the narrowest prefix first", columns, rows }),
  );
}

/** @param {Origin} r */
function numberCard(r) {
  return facts([
    ["AS number", value(name(r), { what: "AS number" })],
    ["Name", r.name ?? none("not known")],
    ["Country of registration", r.country ?? none("not known")],
    ["Registry", registryName(r.registry)],
    ["Allocated", r.allocated && day(r.allocated)],
  ]);
}

/** @param {AsnLookup} d */
function peersPart(d) {
  if (d.peers.length === 0) return null;
  const list = d.peers.map((n) =>
    el(
      "li",
      {},
      value(`AS${n}`, { what: "AS number" }),
      " ",
      toolLink("asn-lookup", `AS${n}`, "look up", `look up AS${n}`),
    ),
  );
  return section(
    "Peers",
    el(
      "p",
      {},
      "Networks that Team Cymru’s collectors see directly next to the origin. It is not a list of contracts.",
    ),
    more(plural(d.peers.length, "neighbouring network"), el("ul", { class: "values" }, ...list)),
  );
}

/** @param {AsnLookup} d */
function linksPart(d) {
  const numbers = [...new Set(d.records.map(name))].map((n) => toolLink("asn-lookup", String(n), `Who holds ${n}`));
  return d.queryType === "ip" ? addressLinks(d.query, "asn-lookup", ...numbers) : null;
}

/** @type {import("../../lib/view.js").View<AsnLookup>} */
export default {
  show: (d) => [
    d.queryType === "ip" ? placePart(d) : null,
    ...remarks(d),
    d.records.length > 0
      ? section(
          d.queryType === "ip" ? "Origins" : "The number",
          d.queryType === "ip" ? recordsTable(d) : numberCard(d.records[0]),
        )
      : null,
    allocations(d.records),
    peersPart(d),
    linksPart(d),
  ],

  lessons: (d) => [
    "An AS number identifies one network with its own routing policy: a provider, a cloud, a large company. Each " +
      "announces the ranges of addresses that can be reached through it.",
    "Country, registry and date belong to the registration of the " +
      `${d.queryType === "asn" ? "number" : "range"}. They do not show where its machines are.`,
  ],

  terminal: (_asked, d) =>
    d.queryType === "ip"
      ? [
          {
            label: "Who announces it: AS number, prefix, country, registry, date",
            command: sh`dig +short TXT ${originName(d.query)}`,
          },
          ...d.records.slice(0, 1).map((r) => ({
            label: "The name of that network",
            command: sh`dig +short TXT ${`${name(r)}.asn.cymru.com`}`,
          })),
          { label: "The same in one go", command: sh`whois -h whois.cymru.com ${` -v ${d.query}`}` },
        ]
      : [
          { label: "Country, registry, date and name", command: sh`dig +short TXT ${`${d.query}.asn.cymru.com`}` },
          { label: "The registration", command: sh`whois ${d.query}` },
          {
            label: "The same as data (RDAP), through a public redirector",
            command: sh`curl -sL ${rdapAddress("autnum", d.query.slice(2))}`,
          },
        ],

  sources: (d) => d.sources,
};

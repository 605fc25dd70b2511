// @ts-check
// Where an address is registered: its place in its network, the network card, and who announces it.

import { prefixRange, spanRange } from "../../lib/addresses.js";
import { el } from "../../lib/dom.js";
import { findingOf } from "../../lib/findings.js";
import { day } from "../../lib/format.js";
import { remarks } from "../../lib/notes.js";
import { facts, none, notice, section, value } from "../../lib/parts.js";
import {
  addressLinks,
  allocations,
  networkRows,
  originName,
  rdapAddress,
  registryName,
  toolLink,
} from "../../lib/network.js";
import { addressPicture } from "../../lib/ranges.js";
import { sh } from "../../lib/shell.js";
import { attempt } from "../../lib/view.js";

/** @typedef {import("api").components["schemas"]["IpGeolocation"]} IpGeolocation */

/** The country in words: "Netherlands (NL)". @param {IpGeolocation} d */
const country = (d) => (d.countryName ? `${d.countryName} (${d.country})` : d.country);

/** @param {IpGeolocation} d */
function placePicture(d) {
  const ranges = [];
  if (d.network)
    ranges.push(spanRange("Registered network", d.network.startAddress, d.network.endAddress, d.network.cidrs));
  if (d.asn?.prefix) ranges.push(prefixRange(`Announced by AS${d.asn.asn}`, d.asn.prefix));
  return ranges.length > 0 ? addressPicture(d.ip, ranges) : null;
}

/** @param {IpGeolocation} d */
function registered(d) {
  if (!d.network)
    return notice("info", "No registration of this network was found, so its holder and abuse contact are not known.");
  return facts([
    ["Holder", d.organization ?? none("not published")],
    [
      "Country of registration",
      d.country
        ? `${country(d)}, according to ${d.countrySource === "rdap" ? "the registry" : "the ASN service"}`
        : none("not known"),
    ],
    ["Abuse contact", d.abuseContact ?? none("not published")],
    ["Address family", `IPv${d.version}`],
    ...networkRows(d.network),
  ]);
}

/** @param {IpGeolocation} d */
function announced(d) {
  if (!d.asn)
    return section(
      "Announced by",
      notice(
        "info",
        (findingOf(d, "NOT_ANNOUNCED", "ASN_MISSING") ?? { message: "The AS number is not known." }).message,
      ),
    );
  return section(
    "Announced by",
    facts([
      ["AS number", value(`AS${d.asn.asn}`, { what: "AS number" })],
      ["Name", d.asn.name],
      ["Prefix", d.asn.prefix && value(d.asn.prefix, { what: "prefix" })],
      ["Registry", registryName(d.asn.registry)],
      ["Country of registration", d.asn.country],
      ["Allocated", d.asn.allocated && day(d.asn.allocated)],
    ]),
  );
}

/** @param {IpGeolocation} d */
function named({ hostname }) {
  return section(
    "Hostname",
    hostname
      ? el(
          "p",
          {},
          value(hostname, { what: "hostname" }),
          " ",
          toolLink("dns-lookup", hostname, "look up", `look up ${hostname}`),
        )
      : none("not known"),
  );
}

/** @type {import("../../lib/view.js").View<IpGeolocation>} */
export default {
  show: (d) => [
    ...remarks(d, /^(?:NOT_ANNOUNCED|ASN_MISSING)$/),
    section(
      "Address range",
      attempt(() => placePicture(d), null),
      notice("info", d.note),
    ),
    section("Network", registered(d)),
    named(d),
    announced(d),
    allocations(d.asn ? [d.asn] : []),
    addressLinks(
      d.ip,
      "ip-geolocation",
      ...(d.asn ? [toolLink("asn-lookup", `AS${d.asn.asn}`, `Who holds AS${d.asn.asn}`)] : []),
    ),
  ],

  lessons: () => [
    "Five regional registries allocate blocks of addresses and record who holds each.",
    "The holder of an address chooses its hostname freely: the name need not lead back to the address.",
  ],

  terminal: (_asked, d) => [
    { label: "The registration of the network", command: sh`whois ${d.ip}` },
    { label: "The same as data (RDAP), through a public redirector", command: sh`curl -sL ${rdapAddress("ip", d.ip)}` },
    { label: "Its name in the reverse DNS", command: sh`dig +short -x ${d.ip}` },
    {
      label: "Who announces it: AS number, prefix, country, registry, date",
      command: sh`dig +short TXT ${originName(d.ip)}`,
    },
  ],

  sources: (d) => d.sources,
};

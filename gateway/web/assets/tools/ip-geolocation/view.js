// @ts-check
// Where an address is registered: its place in its network, the network card, and who announces it.

import { el } from "../../lib/dom.js";
import { day } from "../../lib/format.js";
import { facts, none, notice, section, value } from "../../lib/parts.js";
import { addressLinks, allocations, networkRows, originName, originWords, rdapAddress, registryName, toolLink } from "../../lib/network.js";
import { addressPicture, prefixRange, spanRange } from "../../lib/ranges.js";
import { sh } from "../../lib/shell.js";
import { attempt } from "../../lib/view.js";
import { country, unannounced } from "./verdict.js";

/** @param {any} d */
function placePicture(d) {
  const ranges = [];
  if (d.network) ranges.push(spanRange("Registered network", d.network.startAddress, d.network.endAddress, d.network.cidrs));
  if (d.asn?.prefix) ranges.push(prefixRange(`Announced by AS${d.asn.asn}`, d.asn.prefix));
  return ranges.length > 0 ? addressPicture(d.ip, ranges) : null;
}

/** @param {any} d */
function registered(d) {
  if (!d.network) return notice("info", "No registry told of this network: who holds it, and where to complain, is missing.");
  return facts([
    ["Holder", d.organization ?? none("not told")],
    ["Country of registration", d.country ? `${country(d)}, told by ${d.countrySource === "rdap" ? "the registry’s record of the network" : "the ASN service"}` : none("not told")],
    ["Abuse contact", d.abuseContact ?? none("not told")],
    ["Address family", `IPv${d.version}`],
    ...networkRows(d.network),
  ]);
}

/** What is known of the holder. @param {any} d */
function holding(d) {
  if (!d.network) return "The record of this one could not be had just now, or its registry has none.";
  return d.organization ? `${d.organization} holds the one with ${d.ip} in it.` : "This one does not name the holder, or the holder is no organization.";
}

/** @param {any} d */
function announced(d) {
  if (!d.asn) return section("Announced by", notice("info", unannounced(d) ? "No network announces this address at present." : "The AS number is missing, because the ASN service gave no usable answer."));
  return section("Announced by", facts([
    ["AS number", value(`AS${d.asn.asn}`, { what: "AS number" })], ["Name", d.asn.name],
    ["Prefix", d.asn.prefix && value(d.asn.prefix, { what: "prefix" })],
    ["Registry", registryName(d.asn.registry)], ["Country of registration", d.asn.country],
    ["Allocated", d.asn.allocated && day(d.asn.allocated)],
  ]));
}

/** @param {any} d */
function named({ hostname }) {
  return section("Host name", hostname
    ? el("p", {}, value(hostname, { what: "host name" }), " ", toolLink("dns-lookup", hostname, "look up", `look up ${hostname}`))
    : none("not told"));
}

/** @type {import("../../lib/view.js").View} */
export default {

  show: (d) => [
    section("Address range", attempt(() => placePicture(d), null), notice("info", d.note)),
    section("Network", registered(d)),
    named(d),
    announced(d),
    allocations(d.asn ? [d.asn] : []),
    addressLinks(d.ip, "ip-geolocation", ...(d.asn ? [toolLink("asn-lookup", `AS${d.asn.asn}`, `Who holds AS${d.asn.asn}`)] : [])),
  ],

  meaning: (d) => [
    `Blocks of addresses are given out by five regional registries, and each records who holds a block. ${holding(d)}`,
    "The country is that of the registration, often that of the holder’s head office. The machine may stand anywhere, and no registry knows a city or a street; services that show one are guessing.",
    d.asn ? `A network is found on the internet by its AS number. ${originWords(d.asn)} tells the others that it can be reached there; it need not be the same company as the holder.` : "",
    d.hostname ? "Who holds the address chose its host name and may write there what he likes: the name need not lead back to the address." : "",
    d.abuseContact ? `Complaints about attacks or spam from this address go to ${d.abuseContact}, with times, time zone and log lines.` : "",
  ].filter(Boolean),

  terminal: (_asked, d) => [
    { label: "The registration of the network", command: sh`whois ${d.ip}` },
    { label: "The same as data (RDAP), by way of a public redirector", command: sh`curl -sL ${rdapAddress("ip", d.ip)}` },
    { label: "Its name in the reverse DNS", command: sh`dig +short -x ${d.ip}` },
    { label: "Who announces it: AS number, prefix, country, registry, day", command: sh`dig +short TXT ${originName(d.ip)}` },
  ],

  sources: (d) => d.sources,
};

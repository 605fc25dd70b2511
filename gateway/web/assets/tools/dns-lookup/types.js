// @ts-check
// The types of record that dns-lookup requests, and the groups that its page shows them in.

/** @typedef {import("api").components["schemas"]["DnsLookup"]} DnsLookup */
/** @typedef {keyof DnsLookup["records"]} Type */

/** @type {Record<Type, string>} */
export const titles = {
  A: "IPv4 addresses",
  AAAA: "IPv6 addresses",
  CNAME: "alias of",
  MX: "mail exchanges, lowest number first",
  NS: "name servers",
  SOA: "start of authority",
  CAA: "who may issue certificates",
  DS: "keys the parent zone vouches for",
  DNSKEY: "keys of the zone",
  TLSA: "certificates for TLS (DANE)",
  SSHFP: "SSH key fingerprints",
  HTTPS: "how browsers connect",
  SVCB: "how clients connect",
  SRV: "where a service is",
  NAPTR: "rewriting rules",
  URI: "where a service is, as a URI",
  TXT: "text records",
  PTR: "name of an address",
  LOC: "location",
  HINFO: "host information",
};

/** @type {[string, Type[]][]} */
export const groups = [
  ["Addresses", ["A", "AAAA", "CNAME", "PTR"]],
  ["Mail", ["MX"]],
  ["Name servers and zone", ["NS", "SOA"]],
  ["Security", ["CAA", "DS", "DNSKEY", "TLSA", "SSHFP"]],
  ["Services", ["HTTPS", "SVCB", "SRV", "NAPTR", "URI"]],
  ["Other", ["TXT", "LOC", "HINFO"]],
];

/** @type {Type[]} */
const order = ["A", "AAAA", "CNAME", "MX", "NS", "TXT", "SOA", ...groups.flatMap(([, types]) => types)];

/** The types that an answer is about, in one order. @param {DnsLookup} d */
export function typesOf(d) {
  return /** @type {Type[]} */ (Object.keys(d.details)).sort((a, b) => order.indexOf(a) - order.indexOf(b));
}

/** How many records of a type an answer has. @param {DnsLookup} d @param {Type} t */
export const count = ({ records }, t) => records[t]?.length ?? 0;

/** What the lookup of a type is in detail. @param {DnsLookup} d @param {Type} t */
export const detail = ({ details }, t) => /** @type {NonNullable<DnsLookup["details"][Type]>} */ (details[t]);

/** The records of a type, in a line each. @param {DnsLookup} d @param {Type} t @returns {string[]} */
export function written({ records }, t) {
  return (records[t] ?? []).map((r) => {
    if (typeof r === "string") return r;
    if ("exchange" in r) return `${r.priority} ${r.exchange || "."}`;
    return "text" in r ? r.text : Object.values(r).join(" ");
  });
}

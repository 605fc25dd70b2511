// @ts-check
// The types of record that dns-lookup asks for, and the groups that its page shows them in.

/** @type {Record<string, string>} */
export const titles = {
  A: "IPv4 addresses",
  AAAA: "IPv6 addresses",
  CNAME: "alias of",
  MX: "mail exchanges, lowest number first",
  NS: "name servers",
  SOA: "start of authority",
  CAA: "who may issue certificates",
  DS: "keys that the parent zone vouches for",
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

/** @type {[string, string[]][]} */
export const groups = [
  ["Addresses", ["A", "AAAA", "CNAME", "PTR"]],
  ["Mail", ["MX"]],
  ["Name servers and zone", ["NS", "SOA"]],
  ["Security", ["CAA", "DS", "DNSKEY", "TLSA", "SSHFP"]],
  ["Services", ["HTTPS", "SVCB", "SRV", "NAPTR", "URI"]],
  ["Other", ["TXT", "LOC", "HINFO"]],
];

const order = ["A", "AAAA", "CNAME", "MX", "NS", "TXT", "SOA", ...groups.flatMap(([, types]) => types)];

/** The types that an answer is about, in one order. @param {any} d @returns {string[]} */
export function typesOf(d) {
  return Object.keys(d.details).sort((a, b) => order.indexOf(a) - order.indexOf(b));
}

/** The records of a type, in a line each. @param {any} d @param {string} t @returns {string[]} */
export function written({ records }, t) {
  return records[t].map((/** @type {any} */ r) => {
    if (typeof r === "string") return r;
    if (t === "MX") return `${r.priority} ${r.exchange || "."}`;
    return t === "SOA" ? Object.values(r).join(" ") : r.text;
  });
}

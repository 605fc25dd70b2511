// @ts-check
// What the records of a type mean, in a sentence or two.

import { listed } from "../../lib/format.js";

/** @typedef {import("./types.js").DnsLookup} DnsLookup */
/** @typedef {import("./types.js").Type} Type */
/** @typedef {DnsLookup["records"]} Records */

/** Numbers of IANA's registry of DNSSEC algorithms. @type {Record<number, string>} */
const algorithms = {
  5: "RSA/SHA-1",
  7: "RSA/SHA-1",
  8: "RSA/SHA-256",
  10: "RSA/SHA-512",
  13: "ECDSA P-256",
  14: "ECDSA P-384",
  15: "Ed25519",
  16: "Ed448",
};

/** @param {{keyTag: number, algorithm: number}} key */
const keyWords = ({ keyTag, algorithm }) => `key ${keyTag}, ${algorithms[algorithm] ?? `algorithm ${algorithm}`}`;

/**
 * The tag beside a record.
 * @param {Records} records
 * @param {Type} t
 * @param {number} i
 * @returns {string | undefined}
 */
export function label({ DNSKEY, DS, TLSA, TXT }, t, i) {
  if (t === "DNSKEY" && DNSKEY) return keyWords(DNSKEY[i]) + (DNSKEY[i].flags & 1 ? ", key-signing key" : "");
  if (t === "DS" && DS) return keyWords(DS[i]);
  if (t === "TLSA" && TLSA)
    return {
      0: "PKIX-TA: a public authority",
      1: "PKIX-EE: a publicly trusted certificate",
      2: "DANE-TA: an authority",
      3: "DANE-EE: the certificate or key itself",
    }[TLSA[i].usage];
  return t === "TXT" && TXT ? purpose(TXT[i]) : undefined;
}

/** The purpose of a text, by its own prefix. @param {string} text */
function purpose(text) {
  const token = text.match(/^[_-]*(MS(?==)|[a-z0-9][\w.-]*?(?=[_-](?:site-|domain-)?verif\w*[=:]))/i);
  return token
    ? `verification token (${token[1]})`
    : text
        .match(/^v=(spf1|DMARC1|DKIM1|STSv1|TLSRPTv1)\b/i)?.[1]
        .replace(/v?1$/, "")
        .toUpperCase();
}

/** @param {NonNullable<Records["HTTPS"]>} records @returns {string[]} */
function https(records) {
  const alias = records.find((r) => r.priority === 0);
  if (alias)
    return [
      alias.target ? `An alias: browsers connect to ${alias.target} instead.` : "The service is not offered here.",
    ];
  const protocols = records.flatMap((r) => (r.params.alpn ?? "").split(","));
  const ports = [...new Set(records.map((r) => r.params.port ?? "443"))];
  return [
    protocols.includes("h3")
      ? "HTTP/3 is offered through the HTTPS record: browsers may use it from the first connection."
      : "Browsers learn before they connect that the site has HTTPS, and use it at once.",
    records.some((r) => "ech" in r.params)
      ? "Browsers can hide the site’s name from the network (Encrypted Client Hello)."
      : "",
    ports.some((port) => port !== "443")
      ? `They connect to ${ports.length > 1 ? "ports" : "port"} ${listed(ports)}.`
      : "",
  ];
}

/** @param {NonNullable<Records["SRV"]>} records */
const offered = (records) =>
  records.every((r) => r.target === "")
    ? "The service is not offered here."
    : "The numbers are priority (the lowest is tried first), weight (how servers of equal priority share the " +
      "load) and port.";

/** The meaning of each type that has one. @type {Partial<Record<Type, (d: DnsLookup) => string[]>>} */
const meanings = {
  A: () => ["Clients connect here over IPv4."],
  AAAA: () => ["Clients connect here over IPv6."],
  CNAME: () => ["All other records are looked up at the alias’s target."],
  PTR: () => ["The name its owner gave to this address."],
  MX: ({ records }) => [
    records.MX?.every((r) => r.exchange === "")
      ? "This domain accepts no mail (null MX)."
      : "Mail goes to the server with the lowest number first; servers with equal numbers share it.",
  ],
  NS: () => ["These servers hold the records of the zone."],
  CAA: (d) => d.findings.filter((f) => f.code?.startsWith("CAA_")).map((f) => f.message),
  DS: () => ["Digests by which the parent zone vouches for the keys of this zone (DNSSEC)."],
  DNSKEY: () => ["The keys that sign the zone (DNSSEC)."],
  TLSA: () => ["Clients that use DANE, mostly mail servers, accept only these certificates or keys at this port."],
  SSHFP: () => ["SSH clients can check the server’s key against these fingerprints if DNSSEC validates the answer."],
  HTTPS: ({ records }) => https(records.HTTPS ?? []),
  SVCB: () => ["Servers and protocols of a service, for clients that know this record type."],
  SRV: ({ records }) => [offered(records.SRV ?? [])],
  NAPTR: () => ["Rules that telephony software (SIP) uses to turn this name into another name or a URI."],
  URI: () => ["Where the service is; the lowest number comes first."],
  LOC: () => ["The location the owner states: latitude, longitude, altitude, size and precision."],
  HINFO: ({ records }) => [
    records.HINFO?.some((r) => r.cpu === "RFC8482")
      ? "The server does not answer queries for all types at once (RFC 8482)."
      : "The hardware and operating system the owner states.",
  ],
};

/**
 * What the records of a type mean; empty for types that need no explanation.
 * @param {DnsLookup} d
 * @param {Type} t
 * @returns {string}
 */
export function meaningOf(d, t) {
  return (meanings[t]?.(d) ?? []).filter(Boolean).join(" ");
}

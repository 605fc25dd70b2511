// @ts-check
// Values in words.

/**
 * Milliseconds, with as many digits as matter.
 * @param {unknown} value
 * @returns {string}
 */
export function ms(value) {
  if (typeof value !== "number") return "—";
  if (value >= 100) return `${Math.round(value)} ms`;
  return `${value.toFixed(value >= 10 ? 1 : 2)} ms`;
}

/**
 * @param {number} n
 * @param {string} one
 * @param {string} [many]
 * @returns {string}
 */
export function plural(n, one, many = `${one}s`) {
  return `${n} ${n === 1 ? one : many}`;
}

const whole = {
  ip: "IP", ipv4: "IPv4", ipv6: "IPv6", url: "URL", asn: "AS number", tls: "TLS", dns: "DNS", ttl: "TTL", minttl: "Minimum TTL", rcode: "Response code", nsname: "Name server", cnameChain: "CNAME chain", mx: "MX", spf: "SPF",
  dmarc: "DMARC", dkim: "DKIM", mtaSts: "MTA-STS", tlsRpt: "TLS reporting", id: "Id", alpn: "ALPN", cidrs: "CIDRs", ianaId: "IANA id",
  ocspUrls: "OCSP URLs", crlUrls: "CRL URLs", scts: "SCTs", isCA: "Is a CA", rttsMs: "Round trips", rttMs: "Round trip",
};

/**
 * A key of the API in words: responseTimeMs becomes "Response time". Keys that are data themselves (AAAA, TLSv1.3) stay.
 * @param {string} key
 * @returns {string}
 */
export function words(key) {
  if (Object.hasOwn(whole, key)) return whole[/** @type {keyof typeof whole} */ (key)];
  if (!/^[a-z][A-Za-z0-9]*$/.test(key)) return key;
  const spaced = key.replace(/Ms$/, "").replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase();
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}

const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/**
 * A value that is neither a list nor an object, as text.
 * @param {string} key
 * @param {unknown} value
 * @returns {string}
 */
export function plain(key, value) {
  if (value === null || value === undefined || value === "") return "—";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") {
    if (/Ms$/.test(key)) return ms(value);
    return /Percent$/.test(key) ? `${value} %` : String(value);
  }
  const text = String(value);
  return moment.test(text) ? text.replace("T", " ").replace(/(\.\d+)?Z$/, " UTC") : text;
}

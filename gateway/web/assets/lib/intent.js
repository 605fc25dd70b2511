// @ts-check
// What a visitor asks for beside a target: a tool by its usual name, a command as it is typed in a terminal, or the own
// address. It only orders what is offered.

import { asksOfDomain, standalone } from "./recognise.js";

/** @typedef {{slugs: string[], options?: Record<string, string>}} Wish the tools, best first */

/** Words of more than this many are a text, in which only the faults of a domain's name servers are looked for. */
const fewWords = 10;
/** More than this of a pasted text is not looked at. */
const longest = 10_000;

/** The first that fits counts. @type {[RegExp, string[]][]} */
const inFewWords = [
  [standalone("(?:my|own) ip(?:v[46])?(?: address)?|ip|whoami"), ["my-ip"]],
  [/^\W*openssl\b|^\W*testssl/i, ["ssl-checker"]],
  [/^\W*curl\b.* -[a-zA-Z]*L/, ["redirect-checker"]],
  [/^\W*(?:curl|wget)\b/i, ["http-headers"]],
  [standalone("security headers?|hsts|csp"), ["security-headers"]],
  [standalone("headers?"), ["http-headers"]],
  [standalone("cert(?:s|ificates?)?|ssl|tls|expired?|expires"), ["ssl-checker"]],
  [standalone("redirects?|redirection"), ["redirect-checker"]],
  [standalone("robots(?:[.]txt)?|sitemaps?|crawlers?"), ["robots-sitemap"]],
  [standalone("propagat(?:ed?|ion)|resolvers?"), ["dns-resolver-check"]],
  [standalone("trace|traceroute6?|tracert|tracepath6?|mtr|hops?|routes?"), ["traceroute"]],
  [standalone("packet[ -]?loss|loss"), ["packet-loss"]],
  [standalone("pings?|ping6|latency"), ["ping"]],
  [standalone("whois|rdap|registrar|registered|owner"), ["whois-lookup"]],
  [standalone("asn|bgp"), ["asn-lookup"]],
  [standalone("geo(?:ip|location)?|located?|location"), ["ip-geolocation"]],
  [standalone("telnet|nc|ncat|netcat|nmap|ports?"), ["port-checker"]],
  [standalone("dig|kdig|drill|nslookup|host|dns|records?"), ["dns-lookup"]],
  [standalone("mx|spf|dkim|dmarc|mta-sts|bimi|mails?|e-?mails?|spam"), ["email-dns-health"]],
  [standalone("slow|slowly|speed"), ["http-headers", "ping"]],
  [standalone("down|up|offline|online|uptime|outage|reachable|unreachable"), ["uptime", "ping"]],
];

/** Commands that look up records, and the types that they take. */
const lookup = /^\W*(?:dig|kdig|drill|nslookup|host)\b/i;
const recordTypes = standalone("a|aaaa|caa|cname|dnskey|ds|https|loc|mx|naptr|ns|ptr|soa|srv|sshfp|svcb|tlsa|txt");

/**
 * What a text asks for, whatever its target; null where it names nothing.
 * @param {string} text
 * @returns {Wish | null}
 */
export function wishIn(text) {
  const plain = text.slice(0, longest);
  const few = plain.trim().split(/\s+/).length <= fewWords;
  if (asksOfDomain(plain)) return { slugs: ["dns-delegation"] };
  const [, slugs] = (few && inFewWords.find(([words]) => words.test(plain))) || [];
  if (!slugs) return null;
  const type = slugs[0] === "dns-lookup" && lookup.test(plain) ? recordTypes.exec(plain)?.[0] : undefined;
  return type ? { slugs, options: { types: type.toUpperCase() } } : { slugs };
}

// @ts-check
// The two to four facts of an answer that its card on the report carries.

/** @typedef {import("./view.js").Facts} Facts */

/** What to carry where it is there, the most useful first. @type {Record<string, string[]>} */
const telling = {
  "dns-lookup": ["A", "AAAA", "MX", "NS"],
  "email-dns-health": ["MX", "SPF", "DMARC", "DKIM"],
  "http-headers": ["Status", "Redirects to", "Protocol", "Compression", "HTTP/3"],
  uptime: ["Status", "IPv4", "IPv6", "Certificate"],
  "redirect-checker": ["Chain"],
  "robots-sitemap": ["robots.txt", "Crawlers may visit", "Declared sitemaps"],
  "ssl-checker": ["Trusted", "Valid to", "Issuer", "Protocol versions"],
  "ip-geolocation": ["Holder", "Country", "AS number", "Network"],
  "asn-lookup": ["Origins", "Announced", "Known to the ASN service"],
  "whois-lookup": ["Registrar", "Expires", "Name servers", "Network name"],
  traceroute: ["Reached", "Address"],
};

/** What says nothing on a card. */
const idle = ["Not tried", "Why it ended", "Answer", "Findings", "Bot challenge"];

const most = 4;

/**
 * @param {string} slug
 * @param {Facts} facts
 * @returns {[string, string][]} names with what to show of them
 */
export function cardFacts(slug, facts) {
  const all = Object.entries(facts).filter(([label, fact]) => fact.length > 0 && !idle.includes(label));
  const wanted = (telling[slug] ?? []).flatMap((name) => all.filter(([label]) => label === name));
  // A check whose facts have other names shows its first ones.
  const some = wanted.length > 1 ? wanted : [...new Set([...wanted, ...all])];
  return some.slice(0, most).map(([name, fact]) => [name, short(fact)]);
}

/** A list by its first item and how many more there are. @param {string | string[]} fact */
function short(fact) {
  if (Array.isArray(fact)) return fact.length > 1 ? `${plainly(fact[0])} + ${fact.length - 1} more` : plainly(fact[0]);
  return plainly(fact);
}

/** Without the time of a day and the rest of a distinguished name. @param {string} text */
function plainly(text) {
  return text.replace(/, \d\d:\d\d:\d\d UTC$/, "").replace(/^(?:.*,)?CN=([^,]+).*$/s, "$1");
}

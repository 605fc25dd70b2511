// @ts-check
// The order of the checks by what was asked for: for a page the page comes before the domain's mail, for an e-mail
// address the other way round.

/** @typedef {import("./recognise.js").Meaning} Meaning */

const web = ["uptime", "ssl-checker", "http-headers", "redirect-checker", "security-headers", "robots-sitemap"];
const dns = ["dns-lookup", "dns-delegation", "dns-resolver-check"];
const mail = ["email-dns-health"];
const path = ["port-checker", "ping", "packet-loss", "traceroute"];
const holder = ["ip-geolocation", "asn-lookup", "whois-lookup"];

/** The checks by how much they say about each kind of target. @type {Record<Meaning, string[]>} */
const orders = {
  url: [...web, ...dns, ...path, ...holder, ...mail],
  domain: [...web, ...dns, ...mail, ...holder, ...path],
  email: [...mail, ...dns, ...holder, ...web, ...path],
  hostPort: ["port-checker", "ssl-checker", ...dns, ...path, ...web, ...holder, ...mail],
  address: [...path, ...holder, ...web, ...dns, ...mail],
  asn: [...holder, ...path, ...web, ...dns, ...mail],
};

/** The order of a report: what decides whether the target works comes first. */
const decisive = [
  ...["dns-lookup", "uptime", "ssl-checker", "ping", "traceroute", "port-checker", "email-dns-health"],
  ...["http-headers", "redirect-checker", "security-headers", "dns-delegation", "dns-resolver-check"],
  ...["robots-sitemap", "whois-lookup", "ip-geolocation", "asn-lookup", "packet-loss"],
];

/** What was asked for goes before. @type {Partial<Record<Meaning, string>>} */
const asked = { email: "email-dns-health", hostPort: "port-checker" };

/**
 * Where a check runs and stands in a report.
 * @param {Meaning} kind what was asked for
 * @param {string} slug
 */
export function turnOf(kind, slug) {
  const at = decisive.indexOf(slug);
  return slug === asked[kind] ? -1 : at < 0 ? decisive.length : at;
}

/** What is beside the point, and so comes after all the rest. @type {Partial<Record<Meaning, string[]>>} */
const beside = { url: mail, hostPort: mail, email: web };

/** No mail exchange is named: the null MX (RFC 7505), or no MX at all. */
const noMail = ["MX_NULL", "MX_MISSING", "MX_IMPLICIT"];

/**
 * Whether a domain names no server that takes its mail.
 * @param {Partial<import("./view.js").Data> | undefined} d an answer of email-dns-health
 * @returns {boolean}
 */
export const takesNoMail = (d) => (d?.findings ?? []).some(({ code }) => noMail.includes(code));

/**
 * Where a check stands among the others: the lower the earlier. What is beside the point has 100 more.
 * @param {Meaning} kind what was asked for
 * @param {{slug: string, data?: import("./view.js").Data}} check with its answer where there is one
 */
export function relevance(kind, { slug, data }) {
  const at = orders[kind].indexOf(slug);
  const aside = beside[kind]?.includes(slug) || (kind !== "email" && mail.includes(slug) && takesNoMail(data));
  return (at < 0 ? 50 : at) + (aside ? 100 : 0);
}

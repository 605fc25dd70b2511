// @ts-check
// What each answer comes to: one line and the few facts that matter, by slug. Anything may be absent; what is not here is
// in the details below the facts.

import { ms, plural } from "./format.js";

/** @typedef {"good" | "warn" | "bad" | "info"} Tone */
/** @typedef {{tone: Tone, text: string, facts?: [string, unknown][]}} Verdict */

/** @type {Record<string, (d: any) => Verdict>} */
const bySlug = {
  "dns-lookup": dnsLookup,
  "dns-resolver-check": resolverCheck,
  "email-dns-health": emailHealth,
  "http-headers": httpHeaders,
  "uptime": uptime,
  "redirect-checker": redirects,
  "robots-sitemap": robots,
  "security-headers": securityHeaders,
  "ssl-checker": certificate,
  "port-checker": port,
  "ping": ping,
  "packet-loss": ping,
  "traceroute": trace,
  "my-ip": myIP,
  "ip-geolocation": geolocation,
  "asn-lookup": asn,
  "whois-lookup": registration,
};

/**
 * Judges an answer. An answer of a shape that nobody foresaw still has a verdict.
 * @param {string} slug
 * @param {any} data
 * @returns {Verdict}
 */
export function judge(slug, data) {
  try {
    return bySlug[slug]?.(data) ?? unforeseen;
  } catch {
    return unforeseen;
  }
}

/** @type {Verdict} */
const unforeseen = { tone: "info", text: "The answer is below." };

/** @param {any} d @returns {Verdict} */
function dnsLookup(d) {
  const types = Object.entries(d.records).filter(([, list]) => list.length > 0);
  const count = types.reduce((sum, [, list]) => sum + list.length, 0);
  const codes = Object.values(d.errors);
  const failed = codes.filter((code) => code !== "ENODATA" && code !== "ENOTFOUND");
  const facts = /** @type {[string, unknown][]} */ ([["Domain", d.domain], ["Types with records", types.map(([type]) => type).join(", ")]]);
  if (codes.includes("ENOTFOUND") && count === 0) return { tone: "bad", text: `${d.domain} does not exist in the DNS.`, facts: [["Domain", d.domain]] };
  if (failed.length > 0) return { tone: "warn", text: `${plural(count, "record")} found; ${plural(failed.length, "query", "queries")} failed.`, facts };
  if (count === 0) return { tone: "warn", text: `${d.domain} has none of these records.`, facts: [["Domain", d.domain]] };
  return { tone: "good", text: `${plural(count, "record")} of ${plural(types.length, "type")} found.`, facts };
}

/** @param {any} d @returns {Verdict} */
function resolverCheck(d) {
  const tones = /** @type {Record<string, Tone>} */ ({
    agree: "good", agreeAbsent: "info", partial: "warn", variation: "info", mixedPresence: "warn",
    conflict: "bad", inconclusive: "warn", unavailable: "bad",
  });
  return { tone: tones[d.status] ?? "info", text: d.summary, facts: [["Domain", d.domain], ["Record type", d.recordType], ["Status", d.status]] };
}

/** @param {any} d @returns {Verdict} */
function emailHealth(d) {
  const tones = /** @type {Record<string, Tone>} */ ({ pass: "good", warn: "warn", fail: "bad", error: "warn" });
  const texts = { pass: "Everything that was checked is in order.", warn: "Works, with warnings.", fail: "Something needs mending.", error: "Not everything could be checked." };
  const checks = Object.entries(d.checks).map(([name, check]) => [name, `${check.status}: ${check.summary}`]);
  return { tone: tones[d.overall] ?? "info", text: texts[/** @type {keyof typeof texts} */ (d.overall)] ?? d.overall, facts: /** @type {[string, unknown][]} */ (checks) };
}

/** @param {any} d @returns {Verdict} */
function httpHeaders(d) {
  /** @type {[string, unknown][]} */
  const facts = [["URL", d.url], ["Protocol", d.httpVersion], ["Address", d.address], ["Response time", ms(d.responseTimeMs)]];
  if (d.redirectsTo) facts.push(["Redirects to", d.redirectsTo]);
  if (d.tls && !d.tls.authorized) facts.push(["Certificate", `not trusted: ${d.tls.authorizationError}`]);
  const tone = d.status >= 500 ? "bad" : d.status >= 400 || (d.tls && !d.tls.authorized) ? "warn" : "good";
  return { tone, text: `${d.status} ${d.statusText} after ${ms(d.responseTimeMs)}.`, facts };
}

/** @param {any} d @returns {Verdict} */
function uptime(d) {
  const tones = /** @type {Record<string, Tone>} */ ({ up: "good", degraded: "warn", down: "bad" });
  const texts = { up: "The site is up.", degraded: "The site answers, but not as it should.", down: "The site is down." };
  const family = (/** @type {any} */ f) => [f.state, f.address, f.responseTimeMs === null ? null : ms(f.responseTimeMs), f.reason].filter(Boolean).join(", ");
  /** @type {[string, unknown][]} */
  const facts = [["URL", d.url]];
  if (d.status !== null) facts.push(["Status", `${d.status} ${d.statusText ?? ""}`]);
  if (d.responseTimeMs !== null) facts.push(["Response time", ms(d.responseTimeMs)]);
  if (d.reason) facts.push(["Reason", d.reason]);
  facts.push(["IPv4", family(d.families.ipv4)], ["IPv6", family(d.families.ipv6)]);
  return { tone: tones[d.verdict] ?? "info", text: texts[/** @type {keyof typeof texts} */ (d.verdict)] ?? d.verdict, facts };
}

/** @param {any} d @returns {Verdict} */
function redirects(d) {
  const tone = d.outcome === "final" ? (d.finalStatus >= 400 ? "warn" : "good") : "bad";
  return { tone, text: d.summary, facts: [["Redirects followed", d.redirectCount], ["Final URL", d.finalUrl], ["Final status", d.finalStatus], ["Total time", ms(d.totalMs)]] };
}

/** @param {any} d @returns {Verdict} */
function robots(d) {
  const texts = { allowAll: "Crawlers may visit everything.", rules: "Crawlers may visit some of it.", disallowAll: "Crawlers may visit nothing." };
  const tone = d.robots.status === "unreachable" || d.robots.status === "invalid" ? "warn" : d.robots.effect === "disallowAll" ? "warn" : "good";
  return {
    tone, text: texts[/** @type {keyof typeof texts} */ (d.robots.effect)] ?? d.robots.effect,
    facts: [["robots.txt", d.robots.status], ["sitemap.xml", d.sitemap.status], ["Declared sitemaps", d.declaredSitemaps]],
  };
}

/** @param {any} d @returns {Verdict} */
function securityHeaders(d) {
  const count = (/** @type {string} */ status) => d.controls.filter((/** @type {any} */ c) => c.status === status).length;
  const fail = count("fail"), warn = count("warn");
  const tone = fail > 0 ? "bad" : warn > 0 ? "warn" : "good";
  const text = fail + warn === 0 ? "Nothing to recommend." : `${plural(fail, "control")} missing or weak, ${plural(warn, "warning")}.`;
  return { tone, text, facts: [["Final URL", d.finalUrl], ["Status", d.status], ["Redirects", d.redirectCount], ["In order", count("pass")]] };
}

/** @param {any} d @returns {Verdict} */
function certificate(d) {
  const days = d.certificate?.daysRemaining;
  /** @type {[string, unknown][]} */
  const facts = [
    ["Server", `${d.host}:${d.port} (${d.address})`], ["Protocol", d.protocol], ["Cipher", d.cipher?.standardName ?? d.cipher?.name],
    ["Subject", d.certificate?.subject], ["Issuer", d.certificate?.issuer], ["Valid to", d.certificate?.validTo],
  ];
  if (!d.authorized) return { tone: "bad", text: `The certificate is not to be trusted: ${d.authorizationError}.`, facts };
  if (days <= 14) return { tone: "warn", text: `The certificate is valid, but ends in ${plural(days, "day")}.`, facts };
  return { tone: "good", text: `The certificate is valid for another ${plural(days, "day")}.`, facts };
}

/** @param {any} d @returns {Verdict} */
function port(d) {
  const tones = /** @type {Record<string, Tone>} */ ({ open: "good", closed: "bad", filtered: "warn", unreachable: "bad" });
  const texts = {
    open: "accepts connections", closed: "refuses connections", filtered: "does not answer: a firewall may drop the packets", unreachable: "cannot be reached",
  };
  const what = texts[/** @type {keyof typeof texts} */ (d.state)] ?? d.state;
  return { tone: tones[d.state] ?? "info", text: `Port ${d.port} of ${d.host} ${what}.`, facts: [["State", d.state], ["Address", d.address], ["Time", ms(d.responseTimeMs)], ["Usual service", d.service]] };
}

/** @param {any} d @returns {Verdict} */
function ping(d) {
  const tone = d.received === 0 ? "bad" : d.lossPercent > 0 ? "warn" : "good";
  const text = d.received === 0 ? `None of ${plural(d.sent, "packet")} was answered.` : `${d.received} of ${plural(d.sent, "packet")} answered, ${d.lossPercent} % lost, median ${ms(d.medianMs)}.`;
  return {
    tone, text,
    facts: [["Target", `${d.target} (${d.address})`], ["Minimum", ms(d.minMs)], ["Average", ms(d.averageMs)], ["Maximum", ms(d.maxMs)], ["Jitter", ms(d.jitterMs)]],
  };
}

/** @param {any} d @returns {Verdict} */
function trace(d) {
  const texts = {
    maxHops: "The way is longer than was looked at.", unreachable: "A router says that the target is unreachable.", prohibited: "A router says that the way is prohibited.",
    deadline: "Time ran out before the target was reached.", gapLimit: "Past the last answer everything is silent.",
  };
  const text = d.reached ? `Reached in ${plural(d.hops.length, "hop")}.` : texts[/** @type {keyof typeof texts} */ (d.stopReason)] ?? d.stopReason;
  return { tone: d.reached ? "good" : "warn", text, facts: [["Target", `${d.target} (${d.address})`], ["Explanation", d.explanation]] };
}

/** @param {any} d @returns {Verdict} */
function myIP(d) {
  if (!d.available) return { tone: "info", text: "Your address cannot be told here.", facts: [["Reason", d.reason]] };
  return { tone: "good", text: d.ip, facts: [["Version", `IPv${d.version}`]] };
}

/** @param {any} d @returns {Verdict} */
function geolocation(d) {
  const where = d.countryName ?? d.country;
  const text = where ? `Registered in ${where}${d.organization ? `, by ${d.organization}` : ""}.` : "No country is registered for this address.";
  return { tone: where ? "good" : "info", text, facts: [["Address", d.ip], ["Network", d.network?.name], ["AS", d.asn ? `AS${d.asn.asn} ${d.asn.name ?? ""}` : null], ["Note", d.note]] };
}

/** @param {any} d @returns {Verdict} */
function asn(d) {
  const first = d.records[0];
  if (!first || (d.queryType === "ip" && !d.announced)) return { tone: "info", text: `${d.query} is not announced.`, facts: [["Query", d.query]] };
  return { tone: "good", text: `AS${first.asn}${first.name ? `, ${first.name}` : ""}.`, facts: [["Query", d.query], ["Prefix", first.prefix], ["Country", first.country], ["Registry", first.registry]] };
}

/** @param {any} d @returns {Verdict} */
function registration(d) {
  if (!d.found) return { tone: "info", text: d.reason === "noRdapService" ? "Its registry offers no such service." : "Not registered, as far as the registry tells.", facts: [["Query", d.query]] };
  if (d.queryType === "ip") return { tone: "good", text: `Part of ${d.network?.name ?? "a registered network"}.`, facts: [["Query", d.query], ["Range", d.network?.cidrs]] };
  return {
    tone: "good", text: `${d.domain?.unicodeName ?? d.domain?.name ?? d.query} is registered.`,
    facts: [["Registrar", d.domain?.registrar?.name], ["Registered", d.domain?.events?.registered], ["Expires", d.domain?.events?.expires], ["Name servers", d.domain?.nameservers]],
  };
}

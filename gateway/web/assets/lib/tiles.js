// @ts-check
// The strip of facts on top of a report, filled in as the answers come. Each tile keeps its place from the start.

import { endOf } from "./certificate.js";
import { el, keyed } from "./dom.js";
import { findingOf, toneOf } from "./findings.js";
import { ms, plural, shortDay } from "./format.js";
import { takesNoMail } from "./rank.js";
import { attempt } from "./view.js";

/** @typedef {import("api").components["schemas"]} Schemas */
/** @typedef {import("./view.js").Data} Data */
/**
 * @typedef {{uptime: Schemas["Uptime"], "http-headers": Schemas["HttpHeaders"], "dns-lookup": Schemas["DnsLookup"],
 *   "ssl-checker": Schemas["SslChecker"], "whois-lookup": Schemas["WhoisLookup"], "email-dns-health":
 *   Schemas["EmailDnsHealth"], "dns-resolver-check": Schemas["DnsResolverCheck"], ping: Schemas["Ping"], "packet-loss":
 *   Schemas["PacketLoss"], "port-checker": Schemas["PortChecker"], "ip-geolocation": Schemas["IpGeolocation"],
 *   "asn-lookup": Schemas["AsnLookup"], traceroute: Schemas["Traceroute"]}} Results by tool
 */
/** @typedef {ReadonlyMap<string, Data>} Answers by tool */
/** @typedef {ReadonlyMap<string, Data["conclusion"]>} Failures the conclusions of checks that failed, by tool */
/** @typedef {{value: string, note?: string, tone?: import("./view.js").Tone}} Tile */
/** @typedef {<S extends keyof Results>(slug: S) => Results[S] | undefined} Get */
/** @typedef {{title: string, from: string[], read: (get: Get) => Tile | null | undefined}} Kind */

/**
 * A tile of an answer. Where the conclusion is not good, the note is its sentence.
 * @param {Pick<Data, "conclusion">} d
 * @param {string} value
 * @param {string} [note]
 * @returns {Tile}
 */
function tile(d, value, note = "") {
  const tone = toneOf(d);
  return { value, note: tone === "good" ? note : d.conclusion.message, tone };
}

/** @param {Get} get */
function website(get) {
  const d = get("uptime") ?? get("http-headers");
  if (!d) return null;
  if (["NAME_NOT_FOUND", "NO_ADDRESS"].includes(d.conclusion.code))
    return { value: "None", note: "no address", tone: toneOf(d) };
  return d.status === null
    ? tile(d, d.conclusion.brief)
    : tile(d, `${d.status} ${d.statusText ?? ""}`.trim(), `after ${ms(d.responseTimeMs)}`);
}

/** The network that the last hop with the target's own address is in. @param {Results["traceroute"] | undefined} d */
const networkOf = (d) => d?.hops.find((h) => h.addresses.includes(d.address))?.asn;

/** Whether the lookup of an address failed, so that a name may have one. @param {Results["dns-lookup"]} d */
const lookupFailed = ({ errors }) =>
  [errors.A, errors.AAAA].some((code) => code !== undefined && code !== "ENODATA" && code !== "ENOTFOUND");

/** @param {Get} get @returns {Tile | null} */
function addresses(get) {
  const [names, site] = [get("dns-lookup"), get("uptime")];
  const records = [names?.records.A, names?.records.AAAA].flatMap((list) => list ?? []);
  const found = site ? [site.families.ipv4.address, site.families.ipv6.address].flatMap((a) => a ?? []) : [];
  const all = [...new Set([...records.map(String), ...found])];
  if (all.length === 0) return names ? tile(names, lookupFailed(names) ? "Not known" : "None") : null;
  const asn = networkOf(get("traceroute"));
  const more = all.length > 1 ? `+ ${all.length - 1} more` : "";
  return { value: all[0], note: [more, asn && `AS${asn.asn} ${asn.name ?? ""}`.trim()].filter(Boolean).join(" · ") };
}

/** @param {Get} get */
function certificate(get) {
  const d = get("ssl-checker");
  if (!d) return null;
  const { end, days } = endOf(d.certificate);
  const value = findingOf(d, "CERT_HAS_EXPIRED") ? "Expired" : `${plural(days, "day")} left`;
  return tile(d, value, `until ${shortDay(end)}`);
}

/** @type {Record<string, string>} */
const unregistered = { NOT_REGISTERED: "Not registered", RESERVED: "Reserved" };

/** @param {Get} get */
function registration(get) {
  const d = get("whois-lookup");
  if (!d) return null;
  if (d.network) return tile(d, d.network.name || d.network.handle || "Registered", d.network.cidrs?.[0]);
  if (!d.domain) return tile(d, unregistered[d.conclusion.code] ?? "Unknown");
  const end = d.domain.events.expires;
  return tile(d, end ? `until ${shortDay(end)}` : "Registered", d.domain.registrar?.name ?? "");
}

/** The records without which mail is forged, and so lands in spam. */
const missing = /** @type {const} */ ([
  ["spf", "SPF"],
  ["dmarc", "DMARC"],
]);

/** @param {Get} get */
function mail(get) {
  const d = get("email-dns-health");
  if (!d) return null;
  const hosts = takesNoMail(d) ? [] : (d.checks.mx.hosts ?? []);
  const none = d.checks.mx.status === "error" ? "Not known" : "No mail server";
  const value = hosts.length > 1 ? `${hosts.length} servers` : (hosts[0]?.exchange ?? none);
  const gone = missing.filter(([part]) => d.checks[part]?.status === "missing").map(([, name]) => `no ${name}`);
  const shown = tile(d, value, d.conclusion.message);
  return gone.length > 0 && shown.tone !== "bad" ? { ...shown, note: gone.join(", ") } : shown;
}

/** @param {Get} get */
function resolvers(get) {
  const d = get("dns-resolver-check");
  if (!d) return null;
  const largest = Math.max(0, ...d.groups.map((g) => g.resolvers.length));
  const n = d.resolvers.length;
  const value =
    d.status === "agreeAbsent" ? "No record" : largest === n ? `All ${n} agree` : `${largest} of ${n} agree`;
  return tile(d, value, `on ${d.recordType} records`);
}

/** @param {Get} get */
function echo(get) {
  const d = get("ping") ?? get("packet-loss");
  return d && tile(d, d.received === 0 ? "No answer" : ms(d.medianMs), `${d.received} of ${d.sent} answered`);
}

/** @param {Get} get */
function port(get) {
  const d = get("port-checker");
  return (
    d &&
    tile(
      d,
      `${d.port} ${d.conclusion.code === "NOT_TRIED" ? "not tried" : d.state}`,
      d.service ? `usually ${d.service}` : "",
    )
  );
}

/** @param {Get} get @returns {Tile | null} */
function network(get) {
  const [place, route] = [get("ip-geolocation"), get("asn-lookup")];
  const asn = place?.asn ?? route?.records?.[0];
  if (asn) return { value: `AS${asn.asn}`, note: asn.name ?? "" };
  const d = place ?? route;
  return d ? tile(d, "Not announced") : null;
}

/** @param {Get} get */
function holder(get) {
  const d = get("ip-geolocation");
  return d && { value: d.organization || d.network?.name || "Not published", note: d.countryName ?? d.country ?? "" };
}

/** @param {Get} get */
function route(get) {
  const d = get("traceroute");
  return d && tile(d, d.reached ? plural(d.hops.length, "hop") : "Not reached", "from our server");
}

/** @type {Kind[]} */
const kinds = [
  { title: "Website", from: ["uptime", "http-headers"], read: website },
  { title: "Address", from: ["dns-lookup"], read: addresses },
  { title: "Certificate", from: ["ssl-checker"], read: certificate },
  { title: "Registration", from: ["whois-lookup"], read: registration },
  { title: "Mail", from: ["email-dns-health"], read: mail },
  { title: "Resolvers", from: ["dns-resolver-check"], read: resolvers },
  { title: "Ping", from: ["ping", "packet-loss"], read: echo },
  { title: "Port", from: ["port-checker"], read: port },
  { title: "Network", from: ["ip-geolocation", "asn-lookup"], read: network },
  { title: "Holder", from: ["ip-geolocation"], read: holder },
  { title: "Route", from: ["traceroute"], read: route },
];

const most = 6;

/**
 * The facts of a report by their titles; null is one that is not known.
 * @param {string[]} slugs the checks of the report
 * @param {Answers} answers
 * @param {Failures} [failures]
 * @returns {[title: string, tile: Tile | null, slug: string][]} slug is that of the check that a fact is of
 */
export function factsOf(slugs, answers, failures) {
  const get = /** @type {Get} */ ((slug) => answers.get(slug));
  return kinds
    .filter((kind) => kind.from.some((slug) => slugs.includes(slug)))
    .slice(0, most)
    .map(({ title, from, read }) => {
      const of = [answers, failures, new Set(slugs)].flatMap((some) => from.find((slug) => some?.has(slug)) ?? [])[0];
      const conclusion = answers.has(of) ? undefined : failures?.get(of);
      if (conclusion) return [title, tile({ conclusion }, conclusion.brief), of];
      return [title, attempt(() => read(get), null) ?? null, of];
    });
}

/** A value; where there is little room a day goes without the word before it. @param {string} value */
const shown = (value) =>
  value.startsWith("until ") ? [el("span", { class: "until" }, "until "), value.slice("until ".length)] : [value];

/**
 * @param {string[]} slugs
 * @returns {{node: HTMLElement, show: (answers: Answers, open: boolean, failures?: Failures) => void}}
 */
export function makeTiles(slugs) {
  const node = el("dl", { class: "tiles" });
  const draw = keyed(node);
  return {
    node,
    show: (answers, open, failures) =>
      draw(
        factsOf(slugs, answers, failures).map(([title, tile, slug]) => [
          JSON.stringify([title, tile, slug, open && !tile]),
          () =>
            el(
              "div",
              { class: tile?.tone },
              el("dt", {}, el("a", { href: `#card-${slug}` }, title)),
              el("dd", { class: "tile-value", title: tile?.value }, ...shown(tile?.value ?? (open ? "…" : "—"))),
              el("dd", { class: "tile-note", title: tile?.note }, tile?.note ?? ""),
            ),
        ]),
      ),
  };
}

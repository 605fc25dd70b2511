// @ts-check
// The strip of facts on top of a report: what most people want to know first, filled in as the answers come. Each tile
// keeps its place from the start.

import { el, keyed } from "./dom.js";
import { day, listed, ms, plural } from "./format.js";
import { limited, missing } from "./echo-verdict.js";
import { takesNoMail } from "./rank.js";

/** @typedef {Map<string, any>} Answers by tool */
/** @typedef {{value: string, note?: string, tone?: import("./view.js").Tone}} Tile */
/** @typedef {{title: string, from: string[], read: (answers: Answers) => Tile | null}} Kind */

/** @param {Answers} a @returns {Tile | null} */
function website(a) {
  const d = a.get("uptime") ?? a.get("http-headers");
  if (!d) return null;
  if (d.status === null) return { value: "No answer", note: d.reason ?? "", tone: "bad" };
  if (d.certificateValid === false)
    return { value: `${d.status} ${d.statusText ?? ""}`.trim(), note: "certificate refused", tone: "bad" };
  return {
    value: `${d.status} ${d.statusText ?? ""}`.trim(),
    note: `after ${ms(d.responseTimeMs)}`,
    tone: d.status >= 500 ? "bad" : d.status >= 400 ? "warn" : "good",
  };
}

/** The network that the last hop with the target's own address is in. @param {any} d of traceroute */
const networkOf = (d) => d?.hops.find((/** @type {any} */ h) => h.addresses.includes(d.address))?.asn;

/** @param {Answers} a @returns {Tile | null} */
function addresses(a) {
  const list = [
    a.get("dns-lookup")?.records.A,
    a.get("dns-lookup")?.records.AAAA,
    a.get("uptime") && familyAddresses(a.get("uptime")),
  ]
    .flatMap((some) => some ?? [])
    .map((r) => (typeof r === "string" ? r : (r.address ?? String(r))));
  const all = [...new Set(list)];
  if (all.length === 0) return a.get("dns-lookup") ? { value: "None", note: "no A or AAAA record", tone: "bad" } : null;
  const asn = networkOf(a.get("traceroute"));
  const more = all.length > 1 ? `+ ${all.length - 1} more` : "";
  return { value: all[0], note: [more, asn && `AS${asn.asn} ${asn.name ?? ""}`.trim()].filter(Boolean).join(" · ") };
}

/** @param {any} d of uptime @returns {string[]} */
const familyAddresses = (d) => [d.families.ipv4, d.families.ipv6].flatMap((f) => f.address ?? []);

/** @param {Answers} a @returns {Tile | null} */
function certificate(a) {
  const d = a.get("ssl-checker");
  if (!d) return null;
  const left = d.certificate.daysRemaining;
  const value = left < 0 ? "Expired" : `${plural(left, "day")} left`;
  if (d.conclusion?.state === "unknown") return { value, note: "not verified", tone: "warn" };
  return {
    value,
    note: d.authorized
      ? `until ${day(d.certificate.validTo)}`
      : left < 0
        ? `on ${day(d.certificate.validTo)}`
        : "but not trusted",
    tone: !d.authorized || left < 0 ? "bad" : left < 15 ? "warn" : "good",
  };
}

/** @param {Answers} a @returns {Tile | null} */
function registration(a) {
  const d = a.get("whois-lookup");
  if (!d) return null;
  if (d.network) return { value: d.network.name || d.network.handle || "Registered", note: d.network.cidrs?.[0] ?? "" };
  if (!d.domain)
    return d.reason === "notFound"
      ? { value: "Not found", note: "not in the registry" }
      : { value: "Unknown", note: "" };
  const end = d.domain.events.expires;
  const left = Date.parse(end ?? "") - Date.now();
  return {
    value: end ? `until ${day(end)}` : "Registered",
    note: d.domain.registrar?.name ?? "",
    tone: left < 0 ? "bad" : left < 30 * 86_400_000 ? "warn" : undefined,
  };
}

/** @param {Answers} a @returns {Tile | null} */
function mail(a) {
  const d = a.get("email-dns-health");
  if (!d) return null;
  const hosts = d.checks.mx.hosts ?? [];
  const both = ["spf", "dmarc"].map((key) => ({ name: key.toUpperCase(), status: d.checks[key].status }));
  const some = (/** @type {string} */ status) =>
    both.filter((check) => check.status === status).map((check) => check.name);
  const rest =
    some("missing").length > 0
      ? `no ${some("missing").join(", no ")}`
      : some("fail").length > 0
        ? `${listed(some("fail"))} wrong`
        : some("error").length > 0
          ? `${listed(some("error"))} not known`
          : "SPF and DMARC found";
  if (hosts.length === 0 || takesNoMail(d)) return { value: "No mail server", note: rest };
  return {
    value: hosts.length > 1 ? `${hosts.length} servers` : hosts[0].exchange,
    note: rest,
    tone: d.overall === "fail" ? "bad" : d.overall === "warn" ? "warn" : "good",
  };
}

/** @param {Answers} a @returns {Tile | null} */
function resolvers(a) {
  const d = a.get("dns-resolver-check");
  if (!d) return null;
  const largest = Math.max(0, ...d.groups.map((/** @type {any} */ g) => g.resolvers.length));
  const [n, all] = [d.resolvers.length, largest === d.resolvers.length];
  if (d.status === "agreeAbsent") return { value: "No record", note: `all ${n} agree` };
  return {
    value: all ? `All ${n} agree` : `${largest} of ${n} agree`,
    note: `on ${d.recordType} records`,
    tone: d.status === "conflict" || d.status === "unavailable" ? "bad" : all ? "good" : undefined,
  };
}

/** @param {Answers} a @returns {Tile | null} */
function echo(a) {
  const d = a.get("ping") ?? a.get("packet-loss");
  if (!d) return null;
  if (d.received === 0) return { value: "No answer", note: `to ${plural(d.sent, "probe")}`, tone: "warn" };
  const lost = missing(d);
  if (lost > 0 && limited(d)) return { value: ms(d.medianMs), note: "limits its answers", tone: "good" };
  return {
    value: ms(d.medianMs),
    note: lost > 0 ? `${lost} of ${d.sent - d.undecided} lost` : "none lost",
    tone: lost > 0 ? "warn" : "good",
  };
}

/** @param {Answers} a @returns {Tile | null} */
function port(a) {
  const d = a.get("port-checker");
  return (
    d && {
      value: `${d.port} ${d.state === "skipped" ? "not tried" : d.state}`,
      note: d.service ? `usually ${d.service}` : "",
      tone: d.state === "open" ? "good" : d.state === "skipped" ? undefined : "warn",
    }
  );
}

/** @param {Answers} a @returns {Tile | null} */
function network(a) {
  const d = a.get("ip-geolocation");
  const asn = d?.asn ?? a.get("asn-lookup")?.records?.[0];
  if (!d && !asn) return a.get("asn-lookup") ? { value: "Not announced", tone: "warn" } : null;
  return { value: asn ? `AS${asn.asn}` : "Not announced", note: asn?.name ?? "" };
}

/** @param {Answers} a @returns {Tile | null} */
function holder(a) {
  const d = a.get("ip-geolocation");
  return d && { value: d.organization || d.network?.name || "Not published", note: d.countryName ?? d.country ?? "" };
}

/** @param {Answers} a @returns {Tile | null} */
function route(a) {
  const d = a.get("traceroute");
  return (
    d && {
      value: d.reached ? plural(d.hops.length, "hop") : "Not reached",
      note: d.reached ? "from our server" : `seen to hop ${d.hops.length}`,
      tone: d.reached ? undefined : "warn",
    }
  );
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
 * @returns {[string, Tile | null][]}
 */
export function factsOf(slugs, answers) {
  return kinds
    .filter((kind) => kind.from.some((slug) => slugs.includes(slug)))
    .slice(0, most)
    .map((kind) => [kind.title, safely(() => kind.read(answers))]);
}

/** An answer of a shape that nobody foresaw leaves its tile empty. @param {() => Tile | null} read */
function safely(read) {
  try {
    return read() ?? null;
  } catch (failure) {
    console.warn(failure);
    return null;
  }
}

/**
 * @param {string[]} slugs
 * @returns {{node: HTMLElement, show: (answers: Answers, open: boolean) => void}}
 */
export function makeTiles(slugs) {
  const node = el("dl", { class: "tiles" });
  const draw = keyed(node);
  return {
    node,
    show: (answers, open) =>
      draw(
        factsOf(slugs, answers).map(([title, tile]) => [
          JSON.stringify([title, tile, open && !tile]),
          () =>
            el(
              "div",
              { class: tile?.tone },
              el("dt", {}, title),
              el("dd", { class: "tile-value", title: tile?.value }, tile?.value ?? (open ? "…" : "—")),
              el("dd", { class: "tile-note", title: tile?.note }, tile?.note ?? ""),
            ),
        ]),
      ),
  };
}

// @ts-check
// The small picture on a card of the report. It repeats what the card has in words, for screen readers too.

import { svg } from "./dom.js";
import { toneOf } from "./findings.js";
import { day, ms, number, plural } from "./format.js";
import { groupOf, lookOf, tally } from "./severity.js";

/** @typedef {import("./view.js").Tone} Tone */
/** @typedef {import("api").components["schemas"]} Schemas */

const [wide, high] = [120, 28];

/** @param {string} label @param {...(SVGElement | false)} shapes */
const framed = (label, ...shapes) =>
  svg(
    "svg",
    { class: "thumb", viewBox: `0 0 ${wide} ${high}`, width: wide, height: high, role: "img", "aria-label": label },
    ...shapes,
  );

/**
 * How much of a time is over.
 * @param {string | null | undefined} from
 * @param {string | null | undefined} to RFC 3339
 * @param {string} what
 * @param {Tone} tone
 */
function span(from, to, what, tone) {
  const [start, end] = [Date.parse(from ?? ""), Date.parse(to ?? "")];
  if (!(start < end)) return null;
  const past = Math.min(1, Math.max(0, (Date.now() - start) / (end - start)));
  const x = past * wide;
  return framed(
    `${what} from ${day(from)} to ${day(to)}; ${Math.round(past * 100)} % has passed.`,
    svg("rect", { class: `fill-${tone}`, x: 0, y: 10, width: wide, height: 8, rx: 4, opacity: 0.3 }),
    svg("rect", { class: `fill-${tone}`, x, y: 10, width: wide - x, height: 8, rx: 4 }),
    svg("rect", { class: "fill-ink", x: Math.min(wide - 2, x), y: 5, width: 2, height: 18 }),
  );
}

/**
 * Times one after the other; null is one that never came.
 * @param {(number | null)[]} times in milliseconds
 * @param {string} what
 * @param {"warn" | "soft"} lost how one that never came looks
 */
function spark(times, what, lost) {
  const known = times.filter((t) => t !== null);
  if (known.length < 2) return null;
  const most = Math.max(...known);
  const step = wide / times.length;
  return framed(
    `${what}: ${ms(Math.min(...known))} to ` +
      `${ms(most)}${known.length < times.length ? `, ${times.length - known.length} without an answer` : ""}.`,
    ...times.map((t, i) => {
      const height = t === null ? high - 4 : Math.max(2, (t / most) * (high - 4));
      return svg("rect", {
        class: t === null ? `fill-${lost}` : "fill-1",
        x: i * step,
        y: high - height,
        width: Math.max(1, step - 1.5),
        height,
        rx: 1,
        opacity: t === null ? 0.35 : 1,
      });
    }),
  );
}

/**
 * Things side by side, each good or bad.
 * @param {[string, string][]} things with the tone or colour of each
 * @param {string} words
 */
function blocks(things, words) {
  if (things.length < 2) return null;
  const step = Math.min(22, wide / things.length);
  const left = wide - things.length * step;
  return framed(
    words,
    ...things.map(([, tone], i) =>
      svg("rect", { class: `fill-${tone}`, x: left + i * step, y: 8, width: Math.max(2, step - 3), height: 12, rx: 3 }),
    ),
  );
}

/** @type {Record<string, Tone | "soft">} */
const states = {
  up: "good",
  down: "bad",
  noAddress: "soft",
  skipped: "soft",
  open: "good",
  closed: "bad",
  filtered: "warn",
  unreachable: "bad",
};

/** @param {string} state */
const colourOf = (state) => states[state] ?? "soft";

/** @param {Schemas["Ping"]} d */
function echoes(d) {
  const times = Array.from({ length: d.sent }, (_, i) => d.replies.find((r) => r.seq === i + 1)?.rttMs ?? null);
  return spark(times, "Times of the probes", "warn");
}

/** @param {Schemas["DnsResolverCheck"]} d */
function resolvers(d) {
  const group = (/** @type {Schemas["ResolverId"]} */ id) => d.groups.findIndex((g) => g.resolvers.includes(id));
  const tones = d.resolvers.map(
    /** @returns {[string, string]} */ (r) => [
      r.name,
      r.outcome === "error" ? "soft" : String(Math.max(0, group(r.id)) + 1),
    ],
  );
  const one = d.groups.length === 1;
  const failed = d.resolvers.filter((r) => r.outcome === "error").length;
  const given = one ? "all that answered agree" : `${d.groups.length || "no"} different answers`;
  const errors = failed > 0 ? `, ${failed} failed` : "";
  return blocks(
    tones,
    `${plural(d.resolvers.length, "resolver")}: ${one && failed === 0 ? "all with the same answer" : given}${errors}.`,
  );
}

/** As the page of uptime names it. @type {Record<string, string>} */
const familyWords = { up: "answers", down: "down", noAddress: "no address", skipped: "not checked" };

/** @param {{state: string}} family */
const familyWord = ({ state }) => familyWords[state] ?? state;

/** The checks of mail, each with its tone and word. @param {Schemas["EmailDnsHealth"]} d */
function mailRecords(d) {
  const looks = Object.values(d.checks).map(({ status, issues = [] }) => {
    const group = groupOf(
      d,
      issues.map((i) => i.code),
    );
    // A missing record may be as bad as its worst issue.
    const severity = ["fail", "warn"].find((s) => issues.some((i) => i.severity === s)) ?? "";
    const tone = lookOf(status === "missing" && severity ? severity : status, group)[0];
    return { look: lookOf(status, group), tone: status === "missing" && !severity ? "off" : tone };
  });
  return blocks(
    looks.map(({ tone }) => ["", tone === "off" ? "soft" : tone]),
    `Mail records: ${tally(looks.map(({ look }) => look))}.`,
  );
}

/** The queried types of record: there, absent, or not known. @param {Schemas["DnsLookup"]} d */
function types({ details, errors }) {
  const all = /** @type {(keyof typeof details)[]} */ (Object.keys(details));
  const there = all.filter((type) => !errors[type]);
  return blocks(
    all.map((type) => [type, there.includes(type) ? "1" : errors[type] === "ENODATA" ? "soft" : "warn"]),
    `${plural(all.length, "record type")} queried, ${there.length} of them with records.`,
  );
}

/** An IPv4 address as a number; null for what is none. @param {string} text */
const quad = (text) =>
  /^\d+(\.\d+){3}$/.test(text) ? text.split(".").reduce((sum, part) => sum * 256 + Number(part), 0) : null;

/**
 * Where an address is in its network.
 * @param {string} address
 * @param {string} from
 * @param {number | null} size how many addresses the network has
 */
function within(address, from, size) {
  const [at, start] = [quad(address), quad(from)];
  if (at === null || start === null || size === null || !(size > 1) || at < start || at >= start + size) return null;
  return framed(
    `${address} in a network of ${number(size)} addresses from ${from}.`,
    svg("rect", { class: "fill-1", x: 0, y: 10, width: wide, height: 8, rx: 4, opacity: 0.4 }),
    svg("rect", { class: "fill-ink", x: ((at - start) / size) * (wide - 2), y: 5, width: 2, height: 18 }),
  );
}

/** @param {Schemas["IpGeolocation"]} d */
function registered({ ip, network }) {
  const [start, end] = network ? [quad(network.startAddress), quad(network.endAddress)] : [null, null];
  return network && within(ip, network.startAddress, start === null || end === null ? null : end - start + 1);
}

/** @param {Schemas["AsnLookup"]} d */
function announced({ query, records }) {
  const [from = "", bits = ""] = records[0]?.prefix?.split("/") ?? [];
  return within(query, from, bits === "" ? null : 2 ** (32 - Number(bits)));
}

/** @type {Record<Schemas["DnssecState"], [Tone | "soft", string]>} */
const chained = {
  secure: ["good", "signed and valid"],
  insecure: ["soft", "not signed"],
  bogus: ["bad", "fail validation"],
  indeterminate: ["soft", "not validated"],
};

/** The zones from the root to the name, by what DNSSEC comes to in each. @param {Schemas["DnsDelegation"]} d */
function zones(d) {
  const words = /** @type {Schemas["DnssecState"][]} */ (Object.keys(chained))
    .map((state) => /** @type {const} */ ([chained[state][1], d.zones.filter((z) => z.dnssec === state).length]))
    .filter(([, n]) => n > 0)
    .map(([word, n]) => `${n} ${word}`);
  return blocks(
    d.zones.map((z) => [z.zone, chained[z.dnssec][0]]),
    `${plural(d.zones.length, "zone")} from the root: ${words.join(", ")}.`,
  );
}

/**
 * @template D
 * @typedef {(d: D) => SVGElement | null} Draw
 */

/**
 * @type {{"dns-lookup": Draw<Schemas["DnsLookup"]>, "ip-geolocation": Draw<Schemas["IpGeolocation"]>, "asn-lookup":
 *   Draw<Schemas["AsnLookup"]>, "robots-sitemap": Draw<Schemas["RobotsSitemap"]>, "ssl-checker":
 *   Draw<Schemas["SslChecker"]>, "whois-lookup": Draw<Schemas["WhoisLookup"]>, ping: Draw<Schemas["Ping"]>,
 *   "packet-loss": Draw<Schemas["PacketLoss"]>, traceroute: Draw<Schemas["Traceroute"]>, "dns-resolver-check":
 *   Draw<Schemas["DnsResolverCheck"]>, uptime: Draw<Schemas["Uptime"]>, "port-checker": Draw<Schemas["PortChecker"]>,
 *   "security-headers": Draw<Schemas["SecurityHeaders"]>, "email-dns-health": Draw<Schemas["EmailDnsHealth"]>,
 *   "http-headers": Draw<Schemas["HttpHeaders"]>, "redirect-checker": Draw<Schemas["RedirectChecker"]>,
 *   "dns-delegation": Draw<Schemas["DnsDelegation"]>}}
 */
const pictures = {
  "dns-lookup": types,
  "ip-geolocation": registered,
  "asn-lookup": announced,
  "robots-sitemap": (d) =>
    blocks(
      d.crawlers.map((c) => [c.name, { allowAll: "good", disallowAll: "warn", rules: "info" }[c.effect] ?? "info"]),
      `${plural(d.crawlers.length, "crawler")}, ` +
        `${d.crawlers.filter((c) => c.effect === "allowAll").length} of them with access to ` +
        "everything.",
    ),
  "ssl-checker": (d) => span(d.certificate.validFrom, d.certificate.validTo, "The certificate is valid", toneOf(d)),
  "whois-lookup": (d) =>
    d.domain && span(d.domain.events.registered, d.domain.events.expires, "The registration runs", toneOf(d)),
  "dns-delegation": zones,
  ping: echoes,
  "packet-loss": echoes,
  traceroute: (d) =>
    spark(
      d.hops.map((h) => h.averageMs),
      "Times of the hops",
      "soft",
    ),
  "dns-resolver-check": resolvers,
  uptime: (d) =>
    blocks(
      [
        ["IPv4", colourOf(d.families.ipv4.state)],
        ["IPv6", colourOf(d.families.ipv6.state)],
      ],
      `IPv4: ${familyWord(d.families.ipv4)}; IPv6: ${familyWord(d.families.ipv6)}.`,
    ),
  "port-checker": (d) =>
    blocks(
      d.addresses.map((a) => [a.address, colourOf(a.state)]),
      `${plural(d.addresses.length, "address", "addresses")} tried.`,
    ),
  "security-headers": (d) =>
    blocks(
      d.controls.map((c) => [c.name, lookOf(c.status, "safer")[0].replace("off", "soft")]),
      `Security headers: ${tally(d.controls.map((c) => lookOf(c.status, "safer")))}.`,
    ),
  "email-dns-health": mailRecords,
  "http-headers": (d) => phases(d.timings),
  "redirect-checker": (d) =>
    blocks(
      d.hops.map((h, i) => [h.url, i === d.hops.length - 1 ? toneOf(d) : "info"]),
      `${plural(d.hops.length, "step")}.`,
    ),
};

/** Where the time of one request went. @param {Schemas["Timings"]} t */
function phases(t) {
  /** @type {[string, number | null][]} */
  const known = [
    ["DNS", t.dnsMs],
    ["Connect", t.connectMs],
    ["TLS", t.tlsMs],
    ["Server", t.firstByteMs],
  ];
  const parts = known.flatMap(([name, took]) => (took === null ? [] : [/** @type {const} */ ([name, took])]));
  const whole = parts.reduce((sum, [, took]) => sum + took, 0);
  if (!(whole > 0)) return null;
  let x = 0;
  return framed(
    `Time: ${parts.map(([name, took]) => `${name} ${ms(took)}`).join(", ")}.`,
    ...parts.map(([, took], i) => {
      const width = (took / whole) * wide;
      x += width;
      return svg("rect", {
        class: `fill-${i + 1}`,
        x: x - width,
        y: 9,
        width: Math.max(1, width - 1),
        height: 10,
        rx: 1,
      });
    }),
  );
}

/**
 * @param {string} slug
 * @param {unknown} d
 * @returns {SVGElement | null} null where there is nothing to draw
 */
export const thumb = (slug, d) => /** @type {Record<string, Draw<unknown>>} */ (pictures)[slug]?.(d) ?? null;

// @ts-check
// The way from the root to a domain: the chain of its zones, every server of the domain, and what they answer.

import { el } from "../../lib/dom.js";
import { linkTo } from "../../lib/fitting.js";
import { ms, plural } from "../../lib/format.js";
import { badge, code, cut, folded, none, notice, section, table, value, values } from "../../lib/parts.js";
import { sh } from "../../lib/shell.js";
import { chain } from "./chain.js";
import { dnssecWords, transportTones, transportWords, zoneName } from "./words.js";

/** @typedef {import("./facts.js").DnsDelegation} DnsDelegation */
/** @typedef {DnsDelegation["zones"][number]} Zone */
/** @typedef {Zone["servers"][number]} Server */

/** A yes or no of a server that may not be known. @param {boolean | null} is @param {boolean} wanted */
const yesNo = (is, wanted) => (is === null ? none("—") : badge(is === wanted ? "good" : "warn", is ? "yes" : "no"));

/** @param {Server["udp"]} outcome */
const transport = (outcome) => badge(transportTones[outcome], transportWords[outcome]);

/** @param {Server} s */
const where = (s) =>
  el(
    "div",
    { class: "delegation-server" },
    value(s.name),
    el("br"),
    s.address ? value(s.address, { quiet: true }) : none("no address"),
  );

/** The servers of a zone, one a row. @param {Zone} z */
const servers = (z) =>
  table({
    caption: `Name servers of ${zoneName(z.zone)}`,
    hideCaption: true,
    columns: [
      { title: "Server" },
      { title: "UDP" },
      { title: "TCP" },
      { title: "Authoritative" },
      { title: "Serial", numeric: true },
      { title: "EDNS" },
      { title: "Open resolver" },
      { title: "Time", numeric: true },
    ],
    rows: z.servers.map((s) => [
      where(s),
      transport(s.udp),
      transport(s.tcp),
      s.authoritative === null ? none(s.reason ?? "—") : yesNo(s.authoritative, true),
      s.serial === null ? "" : String(s.serial),
      yesNo(s.edns, true),
      yesNo(s.recursion, false),
      ms(s.ms),
    ]),
  });

/** @param {Zone} z */
const serversPart = (z) => section(`Name servers of ${zoneName(z.zone)}`, servers(z));

/** What the zones say of who serves them. @param {Zone[]} zones */
const delegation = (zones) =>
  table({
    caption: "Who serves each zone, by its parent and by itself",
    columns: [{ title: "Zone" }, { title: "By its parent" }, { title: "By itself" }, { title: "DNSSEC" }],
    rows: zones.map((z) => [
      zoneName(z.zone),
      z.parent === null ? none("built in") : values(z.parentNs, { what: "name servers", quiet: true }),
      values(z.childNs, { what: "name servers", quiet: true }),
      dnssecWords[z.dnssec] + (z.reason ? `: ${z.reason}` : ""),
    ]),
  });

/** @param {DnsDelegation} d */
const answers = (d) =>
  folded(
    "Answers",
    d.domain,
    table({
      caption: `What the servers of ${d.domain} answer`,
      hideCaption: true,
      columns: [{ title: "Type" }, { title: "Name" }, { title: "Records" }, { title: "DNSSEC" }],
      rows: d.answers.map((a) => [
        a.type,
        value(a.name, { quiet: true }),
        a.values.length > 0
          ? values(a.values, { what: a.type, quiet: true })
          : none(a.rcode === "NOERROR" || a.rcode === null ? "none" : a.rcode),
        dnssecWords[a.dnssec],
      ]),
    }),
  );

/** A number of a registry with its name. @param {{number: number, name: string}} a */
const algorithm = (a) => `${a.name} (${a.number})`;

/** Keys, DS records and signatures of a zone. @param {Zone} z */
const signing = (z) => [
  el("h3", {}, zoneName(z.zone)),
  z.ds.length > 0
    ? table({
        caption: "DS records at its parent",
        columns: [
          { title: "Key tag" },
          { title: "Algorithm" },
          { title: "Digest type" },
          { title: "Digest" },
          { title: "Key found" },
        ],
        rows: z.ds.map((ds) => [
          String(ds.keyTag),
          algorithm(ds.algorithm),
          algorithm(ds.digestType),
          value(ds.digest, { quiet: true }),
          yesNo(ds.matches, true),
        ]),
      })
    : el("p", { class: "muted" }, z.parent === null ? "Its keys are built in." : "Its parent has no DS record for it."),
  z.keys.length > 0
    ? table({
        caption: "Its keys (DNSKEY)",
        columns: [{ title: "Key tag" }, { title: "Role" }, { title: "Algorithm" }, { title: "Bits", numeric: true }],
        rows: z.keys.map((k) => [
          String(k.keyTag),
          k.role.toUpperCase(),
          algorithm(k.algorithm),
          k.bits === null ? "" : String(k.bits),
        ]),
      })
    : el("p", { class: "muted" }, "It has no keys."),
  z.signatures.length > 0
    ? table({
        caption: "Signatures (RRSIG)",
        columns: [
          { title: "Covers" },
          { title: "Key tag" },
          { title: "Valid from" },
          { title: "Valid until" },
          { title: "Valid" },
        ],
        rows: z.signatures.map((s) => [
          s.covers,
          String(s.keyTag),
          s.inception,
          s.expiration,
          s.valid ? badge("good", "yes") : (s.reason ?? badge("off", "not validated")),
        ]),
      })
    : null,
];

/** @param {Zone[]} zones */
const records = (zones) =>
  zones
    .filter((z) => z.records.length > 0)
    .map((z) => el("div", {}, el("h3", {}, zoneName(z.zone)), code(z.records.join("\n"), "the records")));

/** The zones whose servers were all asked. @param {Zone[]} zones */
const ownZones = (zones) => zones.filter((z) => !z.shared && z.servers.length > 0);

/** @type {Record<string, import("../../lib/view.js").Tone>} */
const tones = { fail: "bad", warn: "warn", info: "info" };

/** What was found, the worst first, and what to do about it. @param {DnsDelegation} d */
function found(d) {
  const list = (/** @type {import("../../lib/view.js").Finding[]} */ findings) =>
    findings.map((f) =>
      notice(
        tones[f.severity],
        // The verdict has the sentence of the worst.
        (f !== d.findings[0] || f.code !== d.conclusion.code || !f.remedy) && el("p", {}, f.message),
        f.remedy && el("p", {}, f.remedy),
        f.code === "NOT_DELEGATED" &&
          el("p", {}, el("a", { href: linkTo("whois-lookup", d.domain) }, `Look up the registration of ${d.domain}`)),
      ),
    );
  const [faults, notes] = [
    d.findings.filter((f) => f.severity !== "info"),
    d.findings.filter((f) => f.severity === "info"),
  ];
  return [
    faults.length > 0 ? section("To fix", ...list(faults)) : null,
    notes.length > 0 ? folded("Notes", plural(notes.length, "note"), ...list(notes)) : null,
  ];
}

/** @type {import("../../lib/view.js").View<DnsDelegation>} */
export default {
  live(seen) {
    const zones = /** @type {Zone[]} */ (seen.list("zone"));
    return [chain({ findings: [], zones }), ...ownZones(zones).map(serversPart)];
  },
  show(d) {
    const all = [...d.zones, ...d.aliases.flatMap((a) => a.zones)];
    const [faults, notes] = found(d);
    return [
      chain(d),
      faults,
      ...ownZones(d.zones).slice(-1).map(serversPart),
      ...d.aliases.flatMap((a) => [
        section(`${a.name} is an alias of ${a.target}`, chain({ findings: d.findings, zones: a.zones })),
        ...ownZones(a.zones).slice(-1).map(serversPart),
      ]),
      notes,
      folded("Delegation", plural(d.zones.length, "zone"), delegation(all)),
      answers(d),
      folded("DNSSEC records", "keys, DS records, signatures", ...all.flatMap(signing)),
      folded("Raw records", "", ...records(all), cut(d)),
      folded(
        "Parent zones",
        plural(all.length, "zone"),
        ...all
          .filter((z) => z !== ownZones(d.zones).at(-1) && z.servers.length > 0)
          .flatMap((z) => [el("h3", {}, zoneName(z.zone)), servers(z)]),
      ),
    ];
  },
  terminal: (_, d) => [
    { label: "The way from the root", command: sh`dig +trace ${d.domain}` },
    ...ownZones(d.zones)
      .slice(-1)
      .flatMap((z) =>
        z.servers
          .filter((s) => s.address !== null)
          .slice(0, 4)
          .map((s) => ({
            label: s.name,
            command: sh`dig @${String(s.address)} +norecurse +dnssec ${z.zone} SOA`,
          })),
      ),
    { label: "Validated", command: sh`delv ${d.domain}` },
  ],
  sources: (d) =>
    ownZones([...d.zones, ...d.aliases.flatMap((a) => a.zones)]).flatMap((z) =>
      z.servers.flatMap((s) => (s.address === null ? [] : [{ name: s.name, server: s.address }])),
    ),
};

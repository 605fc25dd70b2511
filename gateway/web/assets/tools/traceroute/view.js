// @ts-check
// The path to a host: the service's explanation, then the hops with their times on one scale, network by network.

import { pathBands } from "../../lib/bands.js";
import { el, svg } from "../../lib/dom.js";
import { linkTo } from "../../lib/fitting.js";
import { listed, ms, percent, privateHop } from "../../lib/format.js";
import { remarks } from "../../lib/notes.js";
import { badge, code, cut, facts, fileButton, folded, none, section, value, values } from "../../lib/parts.js";
import { addressLinks, originWords, toolLink } from "../../lib/network.js";
import { ticks } from "../../lib/picture.js";
import { sh } from "../../lib/shell.js";
import { destination, ending, scaleEnd } from "./facts.js";
import { narrowing, pathMtu } from "./mtu.js";

/** @typedef {import("./facts.js").Traceroute} Traceroute */
/** @typedef {import("./facts.js").Hop & {waiting?: boolean}} Hop waiting is one without an answer yet */
/** @typedef {{hop: Hop, last: number}} Row last is a later hop's number where silent hops share a row */
/** @typedef {{asn: Hop["asn"], rows: Row[]}} Group asn is null where the network is not known */
/**
 * @typedef {{hops: Hop[], address: string | null, reached: boolean, mtu?: Traceroute["mtu"], partial?: boolean,
 *   running?: boolean}} Path partial is one of a trace that has not ended, running one that may get more hops
 */

/**
 * Three or more silent hops in a row become one row.
 * @param {Hop[]} hops
 * @returns {Row[]}
 */
function rowsOf(hops) {
  const alike = (/** @type {Hop} */ a, /** @type {Hop | undefined} */ b) =>
    b !== undefined && !a.waiting && a.received + b.received === 0 && a.note === b.note && a.sent === b.sent;
  const rows = [];
  for (let i = 0; i < hops.length; i++) {
    let end = i;
    while (alike(hops[i], hops[end + 1])) end++;
    if (end < i + 2) end = i;
    rows.push({ hop: hops[i], last: hops[end].ttl });
    i = end;
  }
  return rows;
}

/**
 * The rows network by network. Unknown hops between two of the same network count as part of it; others stand apart.
 * @param {Row[]} rows
 * @returns {Group[]}
 */
function networks(rows) {
  /** @type {Group[]} */
  const groups = [];
  rows.forEach((row, i) => {
    const before = groups.at(-1);
    const next = rows.slice(i).find((r) => r.hop.asn)?.hop.asn;
    const asn = row.hop.asn ?? (next && next.asn === before?.asn?.asn ? next : null);
    if (before && before.asn?.asn === asn?.asn) before.rows.push(row);
    else groups.push({ asn, rows: [row] });
  });
  return groups;
}

/**
 * Where a time lies on the scale, as a percentage: so a plot fits its cell at every width.
 * @param {number} time
 * @param {number[]} scale
 */
const at = (time, scale) => `${(Math.min(1, time / scale[scale.length - 1]) * 100).toFixed(2)}%`;

/**
 * The times of one hop: a bar from best to worst, a dot for each, a stroke for the average. An arrow points to what
 * lies beyond the scale.
 * @param {Hop} hop
 * @param {number[]} scale
 */
function plot(hop, scale) {
  const times = hop.rttsMs.filter((t) => t !== null);
  const end = scale[scale.length - 1];
  const [best, average, worst] = [hop.bestMs, hop.averageMs, hop.worstMs].map((t) => at(t ?? 0, scale));
  return svg(
    "svg",
    {
      class: "picture trace-plot",
      width: "100%",
      height: "100%",
      role: "img",
      "aria-label": times.length > 0 ? `Answers after ${listed(times.map(ms))}` : "No answer",
    },
    ...scale.map((t) => svg("line", { class: "line", x1: at(t, scale), x2: at(t, scale), y2: "100%" })),
    times.length > 0 &&
      svg(
        "svg",
        { class: "trace-plot", y: "50%" },
        svg("line", { class: "stroke-info trace-range", x1: best, x2: worst }),
        (hop.averageMs ?? 0) <= end &&
          svg("line", { class: "stroke-info trace-average", x1: average, x2: average, y1: -9, y2: 9 }),
        ...times.filter((t) => t <= end).map((t) => svg("circle", { class: "fill-info", cx: at(t, scale), r: 3 })),
        (hop.worstMs ?? 0) > end && svg("text", { class: "soft end", x: "100%", y: 4 }, "→"),
      ),
  );
}

/** @param {number[]} scale */
function axis(scale) {
  const anchor = (/** @type {number} */ i) => (i === 0 ? "" : i === scale.length - 1 ? "end" : "middle");
  return svg(
    "svg",
    { class: "picture trace-plot", width: "100%", height: 18, "aria-hidden": "true" },
    ...scale.map((t, i) => svg("text", { class: `soft ${anchor(i)}`, x: at(t, scale), y: 14 }, String(t))),
  );
}

/** @param {Row} row @param {Path} d */
function router({ hop, last }, d) {
  const labels = hop.labels?.map((l) => `${l.label} (class ${l.tc}, TTL ${l.ttl}${l.bottom ? ", last" : ""})`);
  return [
    hop.waiting
      ? none(d.running ? "no answer yet" : "no answer")
      : last > hop.ttl
        ? none(`These ${last - hop.ttl + 1} hops did not answer within 1 s.`)
        : hop.addresses.length > 0
          ? values(hop.addresses, { what: "address" })
          : none(hop.hidden ? privateHop : "no answer within 1 s"),
    hop === destination(d) && badge(d.reached ? "good" : "info", "destination"),
    hop.addresses.length > 1 && badge("off", "several paths"),
    hop.hostname && el("p", {}, value(hop.hostname, { what: "name" })),
    labels && el("p", { class: "muted" }, `The packet went through a tunnel here; MPLS labels: ${labels.join(", ")}.`),
    hop.address && hop.note && el("p", { class: "muted" }, hop.note),
    cut(hop),
  ];
}

/**
 * One row. While a trace runs, and where it ended too early, an answer may still be on its way.
 * @param {Row} row
 * @param {Path} d
 * @param {number[]} scale
 */
function hopRow(row, d, scale) {
  const { hop, last } = row;
  const small = (/** @type {string} */ text) => el("p", { class: "muted" }, text);
  const cells = [
    router(row, d),
    [plot(hop, scale)],
    hop.received > 0
      ? [
          el("strong", {}, ms(hop.averageMs)),
          small(`${ms(hop.bestMs)} to ${ms(hop.worstMs)}`.replace(/ ms (to .* ms)/, " $1")),
        ]
      : [],
    hop.waiting
      ? []
      : [
          `${hop.received} of ${hop.sent}`,
          !d.partial &&
            hop.received < hop.sent &&
            small(`${percent(hop.lossPercent)} ${hop === destination(d) ? "lost" : "unanswered"}`),
        ],
  ];
  return el(
    "tr",
    { role: "row", class: "trace-hop" },
    el("th", { scope: "row", role: "rowheader" }, last > hop.ttl ? `${hop.ttl}–${last}` : String(hop.ttl)),
    ...cells.map((cell) => el("td", { role: "cell" }, ...cell)),
  );
}

/** Of several origins the one with the lowest number is shown. @param {{others?: number[]}} asn */
const alsoBy = ({ others = [] }) =>
  others.length > 0 ? `; also announced by ${listed(others.map((n) => `AS${n}`))}` : "";

/**
 * The table. Its roles are for browsers that drop them where narrow screens lay the table out as blocks.
 * @param {Path} d
 * @param {string} [unknown] what heads hops whose network is not known; empty for no heading
 */
function path(d, unknown = "Network not known") {
  const scale = ticks(scaleEnd(d), 4);
  const head = [
    ["Hop"],
    ["Router"],
    ["Round-trip time in ms", axis(scale)],
    ["Average, best to worst"],
    ["Probes answered"],
  ];
  const groups = networks(rowsOf(d.hops)).map(({ asn, rows }) =>
    el(
      "tbody",
      { role: "rowgroup" },
      (asn || unknown) &&
        el(
          "tr",
          { role: "row", class: "trace-network" },
          el(
            "th",
            { colspan: 5, scope: "rowgroup", role: "rowheader" },
            ...(asn ? [toolLink("asn-lookup", `AS${asn.asn}`, originWords(asn)), alsoBy(asn)] : [unknown]),
          ),
        ),
      ...rows.flatMap((row) => [hopRow(row, d, scale), ...narrowing(d.mtu, row.hop.ttl, row.last)]),
    ),
  );
  return el(
    "table",
    { class: "trace", role: "table" },
    el(
      "caption",
      {},
      "Times from our server to each hop and back, on one scale: a dot for each answer, a bar from best to " +
        "worst, a stroke for the average.",
    ),
    el(
      "thead",
      { role: "rowgroup" },
      el("tr", { role: "row" }, ...head.map((title) => el("th", { scope: "col", role: "columnheader" }, ...title))),
    ),
    ...groups,
  );
}

const lasts =
  "A network is blamed only for delay that persists to the destination. Routers may answer " +
  "slowly yet forward quickly.";

/** The path network by network. @param {Hop[]} hops */
function byNetwork(hops) {
  const bands = pathBands(hops, originWords);
  return bands.length > 0 ? [...bands, el("p", { class: "hint" }, lasts)] : [];
}

/** A row for each hop, with its numbers. @param {Hop[]} hops @returns {(string | number | null)[][]} */
const rowsForFile = (hops) => [
  [
    "Hop",
    "Addresses",
    "Name",
    "AS number",
    "Network",
    "Best (ms)",
    "Average (ms)",
    "Worst (ms)",
    "Probes",
    "Answers",
    "Note",
  ],
  ...hops.map((h) => [
    h.ttl,
    h.hidden ? privateHop : h.addresses.join("; "),
    h.hostname,
    h.asn && `AS${h.asn.asn}`,
    h.asn && h.asn.name,
    h.bestMs,
    h.averageMs,
    h.worstMs,
    h.sent,
    h.received,
    h.note,
  ]),
];

/**
 * The path as far as it is known: each hop up to the farthest one has a row, so that none moves another down.
 * @param {Hop[]} answered
 * @param {boolean} running whether more may come
 */
function pathSoFar(answered, running) {
  const known = new Map(answered.map((hop) => [hop.ttl, hop]));
  const hops = Array.from({ length: Math.max(...known.keys()) }, (_, i) => known.get(i + 1) ?? waiting(i + 1));
  return section(
    "The path",
    path(
      { hops, address: null, reached: false, partial: true, running },
      running ? "Names and networks follow at the end" : "",
    ),
  );
}

/** A hop that has not answered yet. @param {number} ttl @returns {Hop} */
const waiting = (ttl) => ({
  ...{ ttl, address: null, addresses: [], hostname: null, hidden: false, asn: null, note: null, waiting: true },
  ...{ sent: 0, received: 0, lossPercent: 0, bestMs: null, averageMs: null, worstMs: null, rttsMs: [] },
});

/** What the trace shows beside its first line, which says that the destination was reached. @param {Traceroute} d */
function shows({ conclusion, explanation }) {
  const more = explanation.slice(conclusion.code === "REACHED" ? 1 : 0);
  return more.length > 0
    ? [section("What the trace shows", el("ul", { class: "prose" }, ...more.map((text) => el("li", {}, text))))]
    : [];
}

const cutTrace = "The output was cut here: it is longer than this service passes on.";

/** What the probes are. @type {Record<Traceroute["protocol"], string>} */
const kinds = { tcp: "TCP connection attempts", udp: "UDP datagrams", icmp: "ICMP echo requests" };

/** The probes with their port. @param {Traceroute} d */
const probes = (d) =>
  kinds[d.protocol] +
  (d.port === null ? "" : ` to port ${d.port}`) +
  (d.protocol === "tcp" ? ", none of which is completed" : "");

/** The same with traceroute and with mtr. @param {Traceroute} d */
function commands(d) {
  const port = d.port ?? "";
  if (d.protocol === "tcp")
    return [
      sh`traceroute -${d.family} -n -T -p ${port} ${d.target}`,
      sh`mtr -${d.family} -n -T -P ${port} -r -c 3 ${d.target}`,
    ];
  if (d.protocol === "udp")
    return [
      sh`traceroute -${d.family} -n -U -p ${port} ${d.target}`,
      sh`mtr -${d.family} -n -u -P ${port} -r -c 3 ${d.target}`,
    ];
  return [sh`traceroute -${d.family} -n -I ${d.target}`, sh`mtr -${d.family} -n -r -c 3 ${d.target}`];
}

/** @type {import("../../lib/view.js").View<Traceroute>} */
export default {
  live: (seen, asked) => {
    const ended = seen.stage?.stage === "ended";
    return [
      ended
        ? null
        : el(
            "ul",
            { class: "trace-story" },
            el("li", {}, "Hops appear as they answer. Hops that never answer are listed at the end."),
            asked.options.mtu === true && el("li", {}, "The path MTU is measured after the last hop."),
          ),
      pathSoFar(seen.list("hop"), !ended),
    ];
  },

  show: (d) => [
    ...remarks(d),
    d.reached || d.protocol === "tcp"
      ? null
      : el(
          "p",
          {},
          el("a", { href: linkTo("traceroute", d.target, { protocol: "tcp" }) }, "Trace with TCP to port 443"),
        ),
    d.hops.length > 0
      ? section(
          "The path",
          fileButton(() => rowsForFile(d.hops), "The path"),
          ...byNetwork(d.hops),
          path(d),
          cut(d, cutTrace),
        )
      : null,
    ...shows(d),
    d.mtu ? pathMtu(d.mtu, d.family) : null,
    folded(
      "The trace",
      `${kinds[d.protocol]} over IPv${d.family}`,
      facts([
        ["Destination", value(d.target, { what: "destination" })],
        ["Address", value(d.address, { what: "address" })],
        ["Address family", `IPv${d.family}`],
        ["Probes", el("span", {}, probes(d))],
        ["Ended because", el("span", {}, ending(d))],
      ]),
    ),
    d.raw ? folded("Raw output", "", code(d.raw, "raw output"), cut(d, cutTrace)) : null,
    addressLinks(d.address, "traceroute"),
  ],

  lessons: () => [
    "Delay that persists to the destination comes from a long or busy link. Delay that disappears " +
      "at the next hop comes from a router that was slow to answer.",
    "Each probe may pass one more router than the last, and the router that drops it reports " +
      "back. This is the path from our server, not from your computer; the return path may differ " +
      "and cannot be seen.",
    "A router that leaves probes unanswered usually limits how many it answers and still forwards " +
      "traffic. Only loss at the destination is real loss. Answers count if they come within a " +
      "second after the last probe.",
  ],

  terminal: (_asked, d) => {
    const [once, rounds] = commands(d);
    return [
      { label: "From your own computer", command: once },
      { label: "With loss, three rounds", command: rounds },
      ...(d.mtu ? [{ label: "With the path MTU", command: sh`tracepath -${d.family} -n ${d.target}` }] : []),
    ];
  },
  sources: (d) => [
    {
      name: "The routers and the host themselves",
      server: d.address,
      fetchedAt: d.measuredAt,
      measured: true,
      shared: d.shared,
    },
    { name: "Names: reverse DNS", told: "Fetched now, or from our cache, which keeps answers for at most a minute." },
    {
      name: "Networks: Team Cymru",
      zone: "asn.cymru.com",
      told: "Fetched now, or from our cache, which keeps answers for at most half an hour.",
    },
  ],
};

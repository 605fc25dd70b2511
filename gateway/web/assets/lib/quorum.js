// @ts-check
// What the results of several places come to, by codes and typed values only. The sentences are those of quorum.go, by
// the codes that are made here.

import { missing } from "./echo-verdict.js";
import { toneOf } from "./findings.js";
import { capital, listed, ms } from "./format.js";
import { attempt } from "./view.js";

/** @typedef {import("api").components["schemas"]} Schemas */
/** @typedef {import("./view.js").Verdict} Verdict */
/**
 * @typedef {{good: boolean, value: string, time?: number | null}} Reading what of a result is compared: whether it is
 *   good, a value that may differ between good results too, and a time in milliseconds
 */
/** @typedef {import("./view.js").Conclusion} Conclusion */
/** @typedef {{name: string, reading: Reading, conclusion?: Conclusion}} Vote */
/** @typedef {{name: string, data: any, conclusion?: Conclusion}} Result data is null without a result */
/** @typedef {{code: string, fills: Record<string, string>, floor: import("./view.js").Tone}} Quorum */
/** @typedef {Record<string, [tone: import("./view.js").Tone, text: string]>} Sentences by code */

/**
 * Each reads a result; null is a result that decides nothing.
 * @type {Record<string, (d: any) => Reading | null>}
 */
const readers = {
  uptime: (/** @type {Schemas["Uptime"]} */ d) =>
    d.conclusion.state === "unknown" ? null : { good: d.online, value: String(d.status ?? "no answer") },
  "dns-lookup": lookup,
  "dns-resolver-check": (/** @type {Schemas["DnsResolverCheck"]} */ d) =>
    d.status === "inconclusive"
      ? null
      : {
          good: ["agree", "agreeAbsent", "variation", "partial"].includes(d.status),
          value: sorted(d.groups.flatMap((g) => g.values)),
        },
  "http-headers": (/** @type {Schemas["HttpHeaders"]} */ d) => ({
    good: d.status < 400,
    value: `${d.status}${d.redirectsTo ? ` to ${d.redirectsTo}` : ""}`,
  }),
  "ssl-checker": (/** @type {Schemas["SslChecker"]} */ d) =>
    !d.authorized && d.issues.some((i) => i.code === d.authorizationError && i.severity === "info")
      ? null // this service did not verify it
      : { good: d.authorized, value: d.certificate.fingerprint256 },
  "port-checker": (/** @type {Schemas["PortChecker"]} */ d) => ({ good: d.state === "open", value: d.state }),
  ping: (/** @type {Schemas["Ping"]} */ d) => ({ good: d.received > 0, value: "", time: d.medianMs }),
  traceroute: (/** @type {Schemas["Traceroute"]} */ d) => ({ good: d.reached, value: d.reached ? d.address : "" }),
  "packet-loss": (/** @type {Schemas["PacketLoss"]} */ d) => {
    const lost = d.received === 0 || missing(d) > 0;
    return { good: !lost, value: lost ? `${d.lossPercent} %` : "" };
  },
};

/** @param {string[]} values */
const sorted = (values) => [...new Set(values)].sort().join(", ");

/**
 * Good is an answer with addresses, or with any record where no addresses were looked up. Records are compared without
 * the serial number of the zone, which differs while it is transferred.
 * @param {Schemas["DnsLookup"]} d
 * @returns {Reading}
 */
function lookup({ records: { SOA: _, ...records }, details, errors }) {
  const { A = [], AAAA = [] } = records;
  const addressed = "A" in details || "AAAA" in details;
  const found = Object.values(records).flat();
  const good = addressed ? A.length + AAAA.length > 0 : found.length > 0;
  return { good, value: good ? sorted(found.map((r) => JSON.stringify(r))) : sorted(Object.values(errors)) };
}

/** The routers of a path with their times; the destination is none. @param {Schemas["Traceroute"]} d */
const routers = (d) => d.hops.flatMap((h) => (h.address && h.address !== d.address ? [h.address] : []));

/**
 * A router that all paths pass: the first one where they reach their destination, else the last one.
 * @param {Schemas["Traceroute"][]} traces
 * @param {boolean} reached
 */
function meet(traces, reached) {
  const [first, ...others] = traces.map(routers);
  const common = first.filter((router) => others.every((path) => path.includes(router)));
  return common.at(reached ? 0 : -1);
}

/**
 * What results come to. A place that failed at the target is a vote against it; one that found nothing out is no vote.
 * @param {string} slug
 * @param {Result[]} results
 * @param {boolean} differ whether any fact differs, which decides for tools that have no reader here
 * @returns {Quorum}
 */
export function quorum(slug, results, differ) {
  const read = readers[slug] ?? (() => ({ good: true, value: "" }));
  const votes = results.flatMap(({ name, data, conclusion = data?.conclusion }) => {
    const failed = conclusion?.state === "fail" ? { good: false, value: conclusion.brief } : null;
    const reading = data ? attempt(() => read(data), null) : failed;
    return reading ? [{ name, reading, data, conclusion }] : [];
  });
  if (votes.length === 0) return { code: "NONE", fills: {}, floor: "good" };
  const [good, bad] = [true, false].map((is) => votes.filter((v) => v.reading.good === is));
  const values = [...new Set(votes.map((v) => v.reading.value))];
  const fills = {
    ...filled(votes, results.length),
    ...named(good, bad),
    one: votes[0].name,
    value: values[0],
    kinds: String(values.length),
  };
  const floor = worst(votes.map((v) => (v.conclusion ? toneOf({ conclusion: v.conclusion }) : "good")));
  if (votes.length === 1) return { code: "ONE", fills, floor };
  if (good.length > 0 && bad.length > 0) {
    const most = good.length === bad.length ? "SPLIT" : good.length > bad.length ? "MOST_GOOD" : "MOST_BAD";
    return { code: most, fills, floor: "warn" };
  }
  const code = good.length > 0 ? "ALL_GOOD" : "ALL_BAD";
  const codes = new Set(votes.map((v) => v.conclusion?.code));
  if (values.length > 1 || (bad.length > 0 && codes.size > 1) || (differ && !(slug in readers)))
    return { code: `${code}_DIFFER`, fills, floor };
  const traces = votes.flatMap(({ data }) => data ?? []);
  const router = slug === "traceroute" && attempt(() => meet(traces, good.length > 0), undefined);
  if (router) return { code: `${code}_JOIN`, fills: { ...fills, meet: router }, floor };
  const same = codes.size === 1 && ["warn", "bad"].includes(floor) && slug !== "packet-loss";
  return { code: same ? "SAME" : code, fills, floor };
}

/** The tones, the best first. @type {import("./view.js").Tone[]} */
const order = ["good", "info", "off", "warn", "bad"];

/** @param {import("./view.js").Tone[]} tones */
export const worst = (tones) => order[Math.max(...tones.map((tone) => order.indexOf(tone)))];

/** @param {Vote[]} votes */
const namesOf = (votes) => listed(votes.map((v) => v.name));

/** @param {Vote[]} good @param {Vote[]} bad */
function named(good, bad) {
  const [few, most] = good.length < bad.length ? [good, bad] : [bad, good];
  return {
    good: namesOf(good),
    bad: namesOf(bad),
    few: namesOf(few),
    rest: most.length === 1 ? namesOf(most) : `the ${most.length} other places`,
    path: few.length === 1 ? `${few[0].name}’s path` : `the paths from ${namesOf(few)}`,
  };
}

/** What is wrong from which places, in the brief form of their conclusions. @param {Vote[]} votes */
function reasonsOf(votes) {
  const wrong = votes.filter(({ conclusion }) => ["warn", "fail"].includes(conclusion?.state ?? ""));
  const briefs = new Set(wrong.flatMap(({ conclusion }) => conclusion?.brief || []));
  return [...briefs]
    .map((brief) => `${namesOf(wrong.filter(({ conclusion }) => conclusion?.brief === brief))}: ${brief}.`)
    .join(" ");
}

/** @param {Vote[]} votes @param {number} asked how many places there are */
function filled(votes, asked) {
  const count = votes.length === 2 ? "both places" : `all ${votes.length} places`;
  const values = [...new Set(votes.map((v) => v.reading.value))];
  const by = (/** @type {string} */ value) => listed(votes.filter((v) => v.reading.value === value).map((v) => v.name));
  const timed = votes.filter((v) => typeof v.reading.time === "number");
  const [fastest, slowest] = [1, -1].map((sign) => {
    const one = timed.toSorted((a, b) => sign * ((a.reading.time ?? 0) - (b.reading.time ?? 0)))[0];
    return one ? `${one.name} (${ms(one.reading.time)})` : "";
  });
  return {
    all: asked > votes.length ? `${count} that gave a result` : count,
    none: votes.length === 2 ? "neither place" : `none of the ${votes.length} places`,
    message: votes[0].conclusion?.message ?? "",
    reasons: reasonsOf(votes),
    groups: values.map((value) => `${value || "none"} from ${by(value)}`).join("; "),
    fastest,
    slowest,
  };
}

/**
 * The sentence of a quorum, with the reasons that it does not have itself. Its tone is no better than the conclusions.
 * @param {Sentences} sentences
 * @param {Quorum} found
 * @returns {Verdict | null} null where there is none for its code
 */
export function sentenceOf(sentences, { code, fills, floor }) {
  const mixed = /^(?:MOST|SPLIT)/.test(code) ? sentences.SPLIT : undefined;
  const [tone, text] = sentences[code] ?? sentences[code.replace(/_(?:DIFFER|JOIN)$/, "")] ?? mixed ?? [];
  if (!tone || !text) return null;
  const whole = text.replace(/\{(\w+)\}/g, (_, name) => fills[name] ?? "").trim();
  const reasons = /\{(?:groups|message)\}/.test(text) ? "" : fills.reasons;
  return { tone: worst([tone, floor]), text: [capital(whole), reasons].filter(Boolean).join(" "), code };
}

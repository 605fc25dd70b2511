// @ts-check
// What the results of several places come to, by codes and typed values alone. The sentences are those of quorum.go, by
// the codes that are made here.

import { missing } from "./echo-verdict.js";
import { capital, listed, ms } from "./format.js";
import { attempt } from "./view.js";

/** @typedef {import("api").components["schemas"]} Schemas */
/** @typedef {import("./view.js").Verdict} Verdict */
/**
 * @typedef {{good: boolean, value: string, time?: number | null}} Reading what of a result is compared: whether it is
 *   good, a value that may differ between good results too, and a time in milliseconds
 */
/** @typedef {{name: string, reading: Reading}} Vote */
/** @typedef {{name: string, data: any}} Result data is null without a result */
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
 * What results come to; a place without a result is no vote.
 * @param {string} slug
 * @param {Result[]} results
 * @param {boolean} differ whether any fact differs, which decides for tools that have no reader here
 * @returns {{code: string, fills: Record<string, string>}}
 */
export function quorum(slug, results, differ) {
  const read = readers[slug] ?? (() => ({ good: true, value: "" }));
  const votes = results.flatMap(({ name, data }) => {
    const reading = data ? attempt(() => read(data), null) : null;
    return reading ? [{ name, reading, data }] : [];
  });
  if (votes.length === 0) return { code: "NONE", fills: {} };
  if (votes.length === 1) return { code: "ONE", fills: { one: votes[0].name } };
  const [good, bad] = [true, false].map((is) => votes.filter((v) => v.reading.good === is));
  const values = [...new Set(votes.map((v) => v.reading.value))];
  const fills = {
    ...filled(votes, results.length),
    ...named(good, bad),
    value: values[0],
    kinds: String(values.length),
  };
  if (good.length > 0 && bad.length > 0) {
    const most = good.length === bad.length ? "SPLIT" : good.length > bad.length ? "MOST_GOOD" : "MOST_BAD";
    return { code: most, fills };
  }
  const code = good.length > 0 ? "ALL_GOOD" : "ALL_BAD";
  if (values.length > 1 || (differ && !(slug in readers))) return { code: `${code}_DIFFER`, fills };
  const router =
    slug === "traceroute" &&
    attempt(
      () =>
        meet(
          votes.map((v) => v.data),
          good.length > 0,
        ),
      undefined,
    );
  return router ? { code: `${code}_JOIN`, fills: { ...fills, meet: router } } : { code, fills };
}

/** @param {Vote[]} good @param {Vote[]} bad */
function named(good, bad) {
  const names = (/** @type {Vote[]} */ votes) => listed(votes.map((v) => v.name));
  const [few, most] = good.length < bad.length ? [good, bad] : [bad, good];
  return {
    good: names(good),
    bad: names(bad),
    few: names(few),
    rest: most.length === 1 ? names(most) : `${most.length} others`,
  };
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
    groups: values.map((value) => `${value || "none"} from ${by(value)}`).join("; "),
    fastest,
    slowest,
  };
}

/**
 * The sentence of a quorum.
 * @param {Sentences} sentences
 * @param {{code: string, fills: Record<string, string>}} found
 * @returns {Verdict | null} null where there is none for its code
 */
export function sentenceOf(sentences, { code, fills }) {
  const [tone, text] = sentences[code] ?? sentences[code.replace(/_(?:DIFFER|JOIN)$/, "")] ?? [];
  if (!tone || !text) return null;
  const whole = text.replace(/\{(\w+)\}/g, (_, name) => fills[name] ?? "");
  return { tone, text: capital(whole), code };
}

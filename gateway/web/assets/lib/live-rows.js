// @ts-check
// What a run has found so far as a list, for tools whose view has no picture of it: a line a thing.

import { explain } from "./dns-codes.js";
import { el } from "./dom.js";
import { host, ms } from "./format.js";

/** @typedef {{name: string, text: string}} Row */
/** @typedef {import("api").components["schemas"]} Schemas */

/** Longer texts are cut here; the answer has them whole. */
const most = 160;

/** @type {Record<string, string>} */
const ports = { filtered: "no answer", skipped: "not tried" };

/** @type {Record<string, string>} */
const checkNames = { mx: "MX", spf: "SPF", dmarc: "DMARC", dkim: "DKIM", mtaSts: "MTA-STS", tlsRpt: "TLS-RPT" };

/** @type {Record<string, string>} */
const files = { found: "found", missing: "not found", unreachable: "no answer", invalid: "cannot be used" };

/** @param {unknown} list */
const joined = (list) =>
  Array.isArray(list) ? list.map((item) => (typeof item === "string" ? item : JSON.stringify(item))).join(", ") : "";

/**
 * Each thing in words, without a judgement: that comes with the conclusion.
 * @type {{hop: (h: Schemas["RedirectHop"]) => Row, address: (a: Schemas["PortAddress"]) => Row, resolver: (r:
 *   Schemas["ResolverAnswer"]) => Row, type: (t: Schemas["DnsTypeStep"]["type"]) => Row, check: (c:
 *   Schemas["MailCheckStep"]["check"]) => Row, file: (f: Schemas["FileStep"]["file"]) => Row, endpoint: (e:
 *   Schemas["SslEndpoint"]) => Row, protocol: (p: Schemas["SslProtocolStep"]["protocol"]) => Row, source: (s:
 *   Schemas["Source"]) => Row}}
 */
const words = {
  hop: (h) => ({ name: h.url, text: h.status === null ? "no answer" : `${h.status} ${h.statusText ?? ""}` }),
  address: (a) => {
    const text = ports[a.state] ?? String(a.state);
    return { name: a.address, text: a.responseTimeMs === null ? text : `${text} after ${ms(a.responseTimeMs)}` };
  },
  resolver: (r) => ({
    name: r.name,
    text:
      r.outcome === "answer"
        ? joined(r.values)
        : r.outcome === "nodata"
          ? "no such record"
          : r.outcome === "nxdomain"
            ? "the name does not exist"
            : (r.reason ?? explain(r.errorCode ?? "")),
  }),
  type: (t) => ({
    name: t.type,
    text:
      t.error === null
        ? joined(Object.values(t.records ?? {})[0])
        : t.error === "ENODATA"
          ? "no such record"
          : explain(t.error),
  }),
  check: (c) => ({ name: checkNames[c.name] ?? c.name, text: c.summary }),
  file: (f) => {
    const text = files[f.status] ?? String(f.status);
    return { name: f.url, text: f.httpStatus === null ? text : `${text} (${f.httpStatus})` };
  },
  endpoint: (e) => ({ name: e.address, text: e.protocol ?? "no TLS connection" }),
  protocol: (p) => ({ name: p.protocol, text: p.accepted ? "accepted" : "not accepted" }),
  source: (s) => ({
    name: s.name,
    text: s.cached ? "answer from our cache" : `answered${s.url ? ` from ${host(s.url)}` : ""}`,
  }),
};

/**
 * @param {import("./steps.js").Seen} seen
 * @returns {HTMLElement}
 */
export function stepRows(seen) {
  const rows = seen
    .kinds()
    .filter((kind) => Object.hasOwn(words, kind))
    .flatMap((kind) => seen.list(kind).map((thing) => rowOf(kind, thing)));
  return el(
    "ul",
    { class: "live-rows" },
    ...rows.map(({ name, text }) =>
      el(
        "li",
        {},
        el("span", { class: "mark" }),
        el("span", { class: "live-name" }, name),
        el("span", { class: "live-text" }, text),
      ),
    ),
  );
}

/**
 * One thing in words; what has another shape than expected has at least its kind.
 * @param {string} kind
 * @param {unknown} thing
 * @returns {Row}
 */
export function rowOf(kind, thing) {
  const say = /** @type {Record<string, (thing: unknown) => Row>} */ (words)[kind];
  try {
    const { name, text } = say(thing);
    return { name: short(String(name)), text: short(String(text ?? "")) };
  } catch {
    return { name: kind, text: "" };
  }
}

/** @param {string} whole */
const short = (whole) => (whole.length <= most ? whole : `${whole.slice(0, most - 1)}…`);

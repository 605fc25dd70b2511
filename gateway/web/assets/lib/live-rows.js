// @ts-check
// What a run has found so far as a list, for tools whose view has no picture of it: a line a thing.

import { explain } from "./dns-codes.js";
import { el } from "./dom.js";
import { host, ms } from "./format.js";
import { mark } from "./parts.js";
import { statusTone } from "./statuses.js";

/** @typedef {import("./view.js").Tone} Tone */
/** @typedef {{tone: Tone, name: string, text: string}} Row */

/** Longer texts are cut here; the answer has them whole. */
const most = 160;

/** @type {Record<string, [Tone, string]>} */
const ports = {
  open: ["good", "open"],
  closed: ["bad", "closed"],
  filtered: ["warn", "no answer"],
  unreachable: ["bad", "unreachable"],
  skipped: ["info", "not tried"],
};

/** @type {Record<string, Tone>} */
const checkTones = { pass: "good", warn: "warn", fail: "bad" };

/** @type {Record<string, string>} */
const checkNames = { mx: "MX", spf: "SPF", dmarc: "DMARC", dkim: "DKIM", mtaSts: "MTA-STS", tlsRpt: "TLS-RPT" };

/** @type {Record<string, [Tone, string]>} */
const files = {
  found: ["good", "found"],
  missing: ["info", "not found"],
  unreachable: ["warn", "no answer"],
  invalid: ["warn", "cannot be used"],
};

/** @param {any} list */
const joined = (list) =>
  Array.isArray(list) ? list.map((item) => (typeof item === "string" ? item : JSON.stringify(item))).join(", ") : "";

/** Whether clients refuse what an address of ssl-checker shows; else it was not verified. @param {any} e */
const refused = (e) => (e.issues ?? []).length === 0 || e.issues.some((/** @type {any} */ i) => i.severity === "fail");

/** @type {Record<string, (thing: any) => Row>} */
const words = {
  hop: (h) => ({
    tone: h.status === null ? "bad" : statusTone(h.status),
    name: h.url,
    text: h.status === null ? "no answer" : `${h.status} ${h.statusText ?? ""}`,
  }),
  address: (a) => {
    const [tone, text] = ports[a.state] ?? ["info", String(a.state)];
    return { tone, name: a.address, text: a.responseTimeMs === null ? text : `${text} after ${ms(a.responseTimeMs)}` };
  },
  resolver: (r) => ({
    tone: r.outcome === "error" ? "warn" : r.outcome === "answer" ? "good" : "info",
    name: r.name,
    text:
      r.outcome === "answer"
        ? joined(r.values)
        : r.outcome === "nodata"
          ? "no such record"
          : r.outcome === "nxdomain"
            ? "the name does not exist"
            : (r.reason ?? explain(r.errorCode)),
  }),
  type: (t) => ({
    tone: t.error === null ? "good" : t.error === "ENODATA" ? "info" : "warn",
    name: t.type,
    text: t.error === null ? joined(t.records?.[t.type]) : t.error === "ENODATA" ? "no such record" : explain(t.error),
  }),
  check: (c) => ({ tone: checkTones[c.status] ?? "info", name: checkNames[c.name] ?? c.name, text: c.summary }),
  file: (f) => {
    const [tone, text] = files[f.status] ?? ["info", String(f.status)];
    return { tone, name: f.url, text: f.httpStatus === null ? text : `${text} (${f.httpStatus})` };
  },
  endpoint: (e) => ({
    tone: e.protocol === null ? "info" : e.authorized ? "good" : refused(e) ? "bad" : "info",
    name: e.address,
    text:
      e.protocol === null
        ? "no TLS connection"
        : `${e.protocol}, certificate ${e.authorized ? "trusted" : refused(e) ? "not trusted" : "not verified"}`,
  }),
  protocol: (p) => ({ tone: "info", name: p.protocol, text: p.accepted ? "accepted" : "not accepted" }),
  source: (s) => ({
    tone: "info",
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
    .filter((kind) => words[kind])
    .flatMap((kind) => seen.list(kind).map((thing) => rowOf(kind, thing)));
  return el(
    "ul",
    { class: "live-rows" },
    ...rows.map(({ tone, name, text }) =>
      el("li", {}, mark(tone), el("span", { class: "live-name" }, name), el("span", { class: "live-text" }, text)),
    ),
  );
}

/**
 * One thing in words; what has another shape than expected has at least its kind.
 * @param {string} kind
 * @param {any} thing
 * @returns {Row}
 */
export function rowOf(kind, thing) {
  try {
    const { tone, name, text } = words[kind](thing);
    return { tone, name: short(String(name)), text: short(String(text ?? "")) };
  } catch {
    return { tone: "info", name: kind, text: "" };
  }
}

/** @param {string} text */
const short = (text) => (text.length <= most ? text : `${text.slice(0, most - 1)}…`);

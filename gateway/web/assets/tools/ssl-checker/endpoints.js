// @ts-check
// All addresses of a name: the certificate of each, and where they differ.

import { el } from "../../lib/dom.js";
import { day, listed, plural } from "../../lib/format.js";
import { badge, cut, facts, folded, none, section, value } from "../../lib/parts.js";
import { groupOf, lookOf } from "../../lib/severity.js";
import { versionName } from "./suites.js";
import { unverified } from "./facts.js";

/** @typedef {import("./suites.js").SslChecker} SslChecker */
/** @typedef {SslChecker["endpoints"][number]} Endpoint */

/**
 * The traits that are compared: a name, and its value at one address.
 * @type {[string, (e: Endpoint) => string | null][]}
 */
const traits = [
  ["verdict", (e) => (e.authorized ? "trusted" : e.authorizationError)],
  ["certificate", (e) => e.fingerprint256],
  ["version", (e) => e.protocol],
];

/**
 * The words for an address without a certificate, by the code of its issue.
 * @type {Record<string, ["bad" | "warn" | "off", string]>}
 */
const unreached = {
  ENDPOINT_SKIPPED: ["off", "not tried"],
  ENDPOINT_UNREACHABLE: ["warn", "not reached"],
  ENDPOINT_WITHOUT_TLS: ["bad", "no TLS"],
};

/** @param {SslChecker} d */
export function endpoints(d) {
  const list = d.endpoints ?? [];
  if (list.length < 2) return null;
  const seen = list.filter((e) => e.fingerprint256 !== null);
  const alike = traits.every(([, of]) => new Set(seen.map(of)).size === 1) && seen.length === list.length;
  const part = (/** @type {(Node | string | null)[]} */ ...inside) =>
    alike
      ? folded("All addresses", `${plural(seen.length, "address", "addresses")}, all alike`, ...inside)
      : section("All addresses", ...inside);
  return part(
    el("p", {}, comparison(seen), "The rest of this page is about ", el("span", { class: "mono" }, d.address), "."),
    el("div", { class: "ssl-cards" }, ...list.map((e) => card(d, seen, e))),
  );
}

/** @param {Endpoint[]} seen */
function comparison(seen) {
  const differing = traits.filter(([, of]) => new Set(seen.map(of)).size > 1).map(([name]) => name);
  if (differing.length > 0) return `They differ in ${listed(differing)}. `;
  return seen.length > 1
    ? `${seen.length === 2 ? "Both" : `All ${seen.length}`} that answered give the same certificate, version and ` +
        "verdict. "
    : "";
}

/** @param {SslChecker} d @param {Endpoint[]} seen @param {Endpoint} e */
function card(d, seen, e) {
  const [verdict, certificate, version] = traits.map(([, of]) => (e.fingerprint256 === null ? null : odd(seen, of, e)));
  const until =
    e.fingerprint256 !== null && e.fingerprint256 === d.certificate.fingerprint256 ? d.certificate.validTo : null;
  return el(
    "article",
    { class: "ssl-card" },
    el("h3", {}, value(e.address), " ", el("span", { class: "muted" }, `IPv${e.family}`)),
    facts([
      ["Verdict", el("span", {}, trust(e), " ", verdict)],
      [
        "Certificate (SHA-256)",
        e.fingerprint256 &&
          el("span", {}, fingerprint(e.fingerprint256, `fingerprint at ${e.address}`), " ", certificate),
      ],
      ["Valid to", until && el("span", {}, day(until))],
      [
        "Version",
        e.fingerprint256 && el("span", {}, e.protocol ? versionName(e.protocol) : none("none agreed"), " ", version),
      ],
    ]),
    remarks(d, e),
    cut(e),
  );
}

/**
 * A mark on a value that is not the most common, or on all where none is.
 * @param {Endpoint[]} seen
 * @param {(e: Endpoint) => string | null} of
 * @param {Endpoint} e
 */
function odd(seen, of, e) {
  const times = (/** @type {Endpoint} */ one) => seen.filter((other) => of(other) === of(one)).length;
  const most = Math.max(...seen.map(times));
  const common = new Set(seen.filter((one) => times(one) === most).map(of));
  return common.size === 1 && common.has(of(e)) ? null : badge("warn", "differs");
}

/** @param {Endpoint} e */
function trust(e) {
  const { authorized, authorizationError, issues } = e;
  if (authorized) return badge("good", "trusted");
  if (unverified(e)) return badge("off", "not verified");
  if (authorizationError)
    return el("span", {}, badge("bad", "refused"), " ", el("span", { class: "mono" }, authorizationError));
  const why = issues.find((i) => unreached[i.code]);
  return badge(...(why ? unreached[why.code] : unreached.ENDPOINT_UNREACHABLE));
}

/** The first twelve digits of a fingerprint; the button copies them all. @param {string} whole @param {string} what */
export const fingerprint = (whole, what) => value(`${whole.slice(0, 17)}…`, { what, copied: whole });

/** @param {SslChecker} d @param {Endpoint} e */
function remarks(d, { issues, fingerprint256 }) {
  const list = issues.filter((i) => i.severity !== "info" || fingerprint256 === null);
  if (list.length === 0) return null;
  return el(
    "ul",
    { class: "values" },
    ...list.map((i) => el("li", {}, badge(...lookOf(i.severity, groupOf(d, [i.code], "broken"))), ` ${i.message}`)),
  );
}

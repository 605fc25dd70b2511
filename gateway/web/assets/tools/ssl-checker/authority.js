// @ts-check
// What is published about a certificate elsewhere: whether it was revoked, who may issue another, and TLSA records.

import { el } from "../../lib/dom.js";
import { findingOf, inFull } from "../../lib/findings.js";
import { dateTime, plural } from "../../lib/format.js";
import { badge, facts, folded, more, none, table, value, values } from "../../lib/parts.js";

/** @typedef {import("./suites.js").SslChecker} SslChecker */
/** @typedef {SslChecker["revocation"]} Revocation */
/** @typedef {import("../../lib/view.js").Tone} Tone */

/** @type {Record<Revocation["status"], [Tone | "off", string]>} */
const statuses = {
  good: ["good", "not revoked"],
  revoked: ["bad", "revoked"],
  unknown: ["off", "revocation not known"],
  notChecked: ["off", "revocation not checked"],
};

/** @type {Record<string, string>} */
const sources = {
  crl: "the authority's list (CRL)",
  ocsp: "the authority's OCSP responder",
  staple: "the OCSP answer that the server sent along",
};

/** How many records are shown at once. */
const most = 6;

/** Answers of earlier versions have none of it. @param {SslChecker} d */
export function authority(d) {
  if (!d.revocation) return null;
  return folded("Revocation, CAA and TLSA", summary(d), revocation(d.revocation), issuance(d), associations(d));
}

/** @param {SslChecker} d */
const summary = (d) =>
  [statuses[d.revocation.status][1], d.caa.found && "CAA records", d.tlsa.length > 0 && "TLSA records"]
    .filter(Boolean)
    .join(", ");

/** @param {Revocation} r */
function revocation({ status, source, url, producedAt, nextUpdate, revokedAt, reason }) {
  const decided = status === "good" || status === "revoked";
  return facts([
    ["Revocation", badge(...statuses[status])],
    ["Revoked on", revokedAt && dateTime(revokedAt)],
    ["The authority's reason", status === "revoked" ? reason && value(reason, { quiet: true }) : null],
    ["Why", decided ? null : reason && el("span", { class: "sentence" }, reason)],
    ["Checked with", source && el("span", {}, sources[source])],
    ["At", url && value(url, { quiet: true })],
    ["As of", producedAt && el("span", {}, dateTime(producedAt))],
    ["Next update", nextUpdate && el("span", {}, dateTime(nextUpdate))],
  ]);
}

/** @param {SslChecker} d */
function issuance(d) {
  const { found, permitted, records } = d.caa;
  const failed = findingOf(d, "CAA_NOT_KNOWN", "CAA_NOT_PERMITTED");
  if (!failed && found === null && permitted === null) return null; // that of an address
  return facts([
    ["Who may issue (CAA)", failed ? el("span", { class: "sentence" }, inFull(failed)) : words(found, permitted)],
    ["CAA records of", found && value(found)],
    ["Records", found && few(records)],
  ]);
}

/** @param {string | null} found @param {boolean | null} permitted */
function words(found, permitted) {
  if (found === null) return permitted ? el("span", {}, "any authority: there are no CAA records") : null;
  if (permitted === null) return el("span", {}, "whether they permit the present authority is not known");
  return el("span", {}, "the present authority is permitted");
}

/** Records, some of them folded away where they are many. @param {string[]} records */
const few = (records) =>
  records.length > most ? more(`All ${plural(records.length, "record")}`, values(records)) : values(records);

/** @param {SslChecker} d */
function associations({ port, host, tlsa }) {
  if (tlsa.length === 0) return null;
  const list = table({
    caption: `TLSA records of port ${port} of ${host}`,
    columns: [{ title: "Record" }, { title: "The certificate" }, { title: "DNSSEC" }],
    rows: tlsa.map((r) => [
      value(`${r.usage} ${r.selector} ${r.matching} ${short(r.data)}`, {
        what: "TLSA record",
        copied: `${r.usage} ${r.selector} ${r.matching} ${r.data}`,
      }),
      r.matches ? badge("good", "matches") : badge("off", "does not match"),
      r.authenticated ? badge("good", "authenticated") : none("not authenticated"),
    ]),
  });
  return tlsa.length > most ? more(`All ${plural(tlsa.length, "TLSA record")}`, list) : list;
}

/** A digest, or the begin of what is longer. @param {string} data */
const short = (data) => (data.length > 64 ? `${data.slice(0, 32)}…` : data);

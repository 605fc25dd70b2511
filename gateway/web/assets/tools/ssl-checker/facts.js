// @ts-check
// The TLS of a server: what is compared with an earlier answer, and what its modules share.

import { dateTime, plural } from "../../lib/format.js";
import { rowsOf, suitesOf, versionName } from "./suites.js";

/** @typedef {import("./suites.js").SslChecker} SslChecker */
/** @typedef {import("./suites.js").Version} Version */
/** @typedef {import("api").components["schemas"]["ChainCertificate"]} Certificate */

/** @param {Pick<Certificate, "validFrom">} c */
export const notYet = (c) => Date.parse(c.validFrom) > Date.now();

/** @param {number} n whole days */
const days = (n) => (n < 1 ? "less than a day" : plural(n, "day"));

/** How long a certificate is still valid. @param {Pick<Certificate, "daysRemaining" | "validFrom">} c */
export const left = (c) =>
  c.daysRemaining < 0
    ? `expired ${days(-c.daysRemaining - 1)} ago`
    : notYet(c)
      ? "not valid yet"
      : `${days(c.daysRemaining)} left`;

/**
 * Whether this service did not verify the certificate of an answer or of one address: the issue of its error is a note.
 * @param {{authorizationError: string | null, issues: {code: string, severity: string}[]}} d
 */
export const unverified = ({ authorizationError, issues }) =>
  issues.some((i) => i.code === authorizationError && i.severity === "info");

/** Whether clients trust the certificate. @param {SslChecker} d */
const trust = (d) => (d.authorized ? "yes" : unverified(d) ? "not verified" : "no");

/** The versions that the server accepts. @param {SslChecker} d */
const accepted = ({ supportedProtocols }) =>
  /** @type {Version[]} */ (Object.keys(supportedProtocols)).filter((name) => supportedProtocols[name]);

/** The cipher suites and groups of a complete scan. @param {SslChecker} d */
const scanned = (d) => ({
  "Cipher suites": rowsOf(suitesOf(d)).map(
    ({ name, at }) =>
      `${name}: ${[...at].map(([version, strength]) => `${strength} in ${versionName(version)}`).join(", ")}`,
  ),
  Groups: d.groups ?? [],
});

/** What is published elsewhere, in codes. @param {SslChecker} d */
const published = ({ revocation, caa, tlsa }) => ({
  Revocation: revocation.status,
  CAA: caa.records,
  "Permitted by CAA": caa.permitted === null ? "not known" : caa.permitted ? "yes" : "no",
  TLSA: tlsa.map((r) => `${r.usage} ${r.selector} ${r.matching} ${r.data}`),
});

/** @type {import("../../lib/view.js").Judge<SslChecker>} */
export default {
  facts: (d) => ({
    Trusted: trust(d),
    "SHA-256 fingerprint": d.certificate.fingerprint256,
    Issuer: d.certificate.issuer,
    "Valid to": dateTime(d.certificate.validTo),
    Names: [...d.certificate.subjectAltNames.dns, ...d.certificate.subjectAltNames.ip],
    "Protocol versions": accepted(d),
    ...(d.complete ? scanned(d) : {}),
    Chain: d.chain.map((e) => e.subject),
    ...(d.revocation ? published(d) : {}),
  }),
};

// @ts-check
// A certificate: how long it holds, who vouches for it, and what the server speaks.

import { dateTime, plural } from "../../lib/format.js";
import { severities } from "../../lib/severity.js";
import { codeWords, inWords } from "../../lib/words.js";
import { rowsOf, suitesOf, versionName } from "./suites.js";

/** @param {any[]} issues @returns {any[]} problems, warnings, notes, each in the order of the answer */
export const worstFirst = (issues) =>
  Object.keys(severities).flatMap((severity) => issues.filter((i) => i.severity === severity));

/** @param {any} c a certificate */
export const notYet = (c) => Date.parse(c.validFrom) > Date.now();

/** @param {number} n whole days */
const days = (n) => (n < 1 ? "less than a day" : plural(n, "day"));

/** What is left of a certificate. @param {any} c */
export const left = (c) =>
  c.daysRemaining < 0
    ? `expired ${days(-c.daysRemaining - 1)} ago`
    : notYet(c)
      ? "not valid yet"
      : `${days(c.daysRemaining)} left`;

/** Why this service did not verify a chain, which may be a good one. */
const unread = ["KEY_TOO_LONG", "CHAIN_NOT_READ", "CHAIN_TOO_COSTLY"];

/**
 * Why the certificate of an answer or of one address was not verified, where nothing else is known against it.
 * @param {{authorizationError: string | null, issues: {code: string, severity: string, message: string}[]}} d
 */
export const unverified = (d) =>
  d.authorizationError === "UNABLE_TO_GET_ISSUER_CERT_LOCALLY"
    ? d.issues.find((i) => unread.includes(i.code))
    : undefined;

/** Whether it is known that clients refuse the certificate. @param {any} d */
const trust = (d) =>
  d.authorized ? "yes" : unverified(d) ? "not verified" : `no: ${inWords(d.authorizationError ?? "")}`;

/**
 * What a check that was not cut short found the server to take. @param {any} d @returns
 * {import("../../lib/view.js").Facts}
 */
const taken = (d) => ({
  "Cipher suites": rowsOf(suitesOf(d)).map(
    ({ name, at }) =>
      `${name}: ${[...at].map(([version, strength]) => `${strength} in ${versionName(version)}`).join(", ")}`,
  ),
  Groups: d.groups ?? [],
});

/** @type {import("../../lib/view.js").Judge} */
export default {
  facts: ({ certificate: c, ...d }) => ({
    Trusted: trust(d),
    "SHA-256 fingerprint": c.fingerprint256,
    Issuer: c.issuer,
    "Valid to": dateTime(c.validTo),
    Names: [...c.subjectAltNames.dns, ...c.subjectAltNames.ip],
    "Protocol versions": Object.keys(d.supportedProtocols).filter((name) => d.supportedProtocols[name]),
    ...(d.complete ? taken(d) : {}),
    Chain: d.chain.map((/** @type {any} */ e) => e.subject),
    Findings: d.issues.map((/** @type {any} */ i) => codeWords(i.code)),
  }),
};

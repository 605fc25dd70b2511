// @ts-check
// A certificate: how long it holds, who vouches for it, and what the server speaks.

import { dateTime, day, lower, plural } from "../../lib/format.js";
import { severities } from "../../lib/severity.js";
import { certificateOf } from "../../lib/topics.js";
import { codeWords, inWords } from "../../lib/words.js";
import { rowsOf, suitesOf, versionName } from "./suites.js";

/** @typedef {"bad" | "warn" | "info"} Tone */

/** @param {any[]} issues @returns {any[]} problems, warnings, notes, each in the order of the answer */
export const worstFirst = (issues) => Object.keys(severities).flatMap((severity) => issues.filter((i) => i.severity === severity));

/** @param {any} c a certificate */
export const notYet = (c) => Date.parse(c.validFrom) > Date.now();

/** @param {number} n whole days */
const days = (n) => (n < 1 ? "less than a day" : plural(n, "day"));

/** What is left of a certificate. @param {any} c */
export const left = (c) => (c.daysRemaining < 0 ? `expired ${days(-c.daysRemaining - 1)} ago` : notYet(c) ? "not valid yet" : `${days(c.daysRemaining)} left`);

/** @param {any} d */
const place = (d) => (d.port === 443 ? d.host : `${d.host}:${d.port}`);

/** A remark of the service as a sentence that stands alone. @param {any} d @param {string} message */
function about(d, message) {
  const named = message.replace(/^The certificate(?:'s (\w+))? /, (_, part) => `The ${part ? `${part} of the ` : ""}certificate of ${place(d)} `);
  return named === message ? `${place(d)}: ${lower(message)}` : named;
}

/** The defects of a chain that was not verified, and so may be a good one. */
const unread = ["KEY_TOO_LONG", "CHAIN_NOT_READ"];

/** Why nothing is known of who vouches for the certificate. @param {any} d @returns {{code: string, message: string} | undefined} */
export const unverified = (d) => (d.chainComplete ? undefined : d.issues.find((/** @type {any} */ i) => unread.includes(i.code)));

/** At which addresses clients refuse the certificate, where they do not at all. @param {any} d */
function where(d) {
  const all = /** @type {any[]} */ (d.endpoints ?? []);
  const [sound, refused] = [all.filter((e) => e.authorized), all.filter((e) => e.authorizationError)];
  if (sound.length === 0) return "";
  if (refused.length > 1) return ` at ${refused.length} of ${all.length} addresses`;
  return ` at ${d.address}, but not at ${sound.length === 1 ? sound[0].address : `${sound.length} others`}`;
}

/** Why clients refuse the certificate. @param {any} d */
function refusal(d) {
  const { certificate: c, authorizationError: code } = d;
  const why = code === "CERT_HAS_EXPIRED" && c.daysRemaining < 0 ? `The certificate ${left(c)}.`
    : code === "CERT_NOT_YET_VALID" && notYet(c) ? `The certificate is not valid before ${day(c.validFrom)}.`
    : d.issues.find((/** @type {any} */ i) => i.code === code)?.message ?? `The certificate is not accepted (${code}).`;
  const cause = code === "UNABLE_TO_GET_ISSUER_CERT_LOCALLY" && unverified(d);
  if (cause) return about(d, cause.message);
  const who = code === "UNABLE_TO_VERIFY_LEAF_SIGNATURE" ? "many clients refuse it" : d.port === 443 ? "browsers refuse the site" : "clients that check certificates refuse it";
  return `${about(d, why).slice(0, -1)}; ${who}${where(d)}.`;
}

/** @param {any} d @returns {import("../../lib/view.js").Concern[]} */
function concerns(d) {
  const told = ["INCOMPLETE_CHAIN", d.authorizationError, d.authorizationError === "UNABLE_TO_GET_ISSUER_CERT_LOCALLY" && unverified(d)?.code];
  // Where clients refuse the certificate the verdict says at which address.
  const twice = (/** @type {any} */ i) => told.includes(i.code) || (!d.authorized && i.code === "ENDPOINTS_DIFFER" && i.severity === "fail" && i.message.startsWith(d.address));
  const rest = worstFirst(d.issues).filter((i) => i.severity !== "info" && !twice(i));
  const list = rest.map((i) => ({ tone: /** @type {Tone} */ (severities[i.severity][0]), text: about(d, i.message) }));
  return d.authorized ? list : [{ tone: "bad", broken: true, text: refusal(d), topic: certificateOf(place(d)) }, ...list];
}

/** @param {any} d @returns {import("../../lib/view.js").Verdict} */
function verdict(d) {
  const [worst] = concerns(d);
  return worst ?? { tone: "good", text: `The certificate of ${place(d)} is trusted and valid for another ${days(d.certificate.daysRemaining)}.` };
}

/** What a check that was not cut short found the server to take. @param {any} d @returns {import("../../lib/view.js").Facts} */
const taken = (d) => ({
  "Cipher suites": rowsOf(suitesOf(d)).map(({ name, at }) => `${name}: ${[...at].map(([version, strength]) => `${strength} in ${versionName(version)}`).join(", ")}`),
  "Groups": d.groups ?? [],
});

/** @type {import("../../lib/view.js").Judge} */
export default {
  verdict, concerns,
  facts: ({ certificate: c, ...d }) => ({
    "Trusted": d.authorized ? "yes" : `no: ${inWords(d.authorizationError ?? "")}`, "SHA-256 fingerprint": c.fingerprint256, "Issuer": c.issuer, "Valid to": dateTime(c.validTo),
    "Names": [...c.subjectAltNames.dns, ...c.subjectAltNames.ip], "Protocol versions": Object.keys(d.supportedProtocols).filter((name) => d.supportedProtocols[name]),
    ...(d.complete ? taken(d) : {}),
    "Chain": d.chain.map((/** @type {any} */ e) => e.subject), "Findings": d.issues.map((/** @type {any} */ i) => codeWords(i.code)),
  }),
};

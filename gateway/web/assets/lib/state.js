// @ts-check
// A report in one sentence: whether what was asked for works, and how much there is to look at.

import { plural } from "./format.js";
import { takesNoMail } from "./rank.js";

/** @typedef {import("./view.js").Tone} Tone */
/** @typedef {{tone: "bad" | "warn" | "info"}[]} Findings */

/** @type {[Findings[number]["tone"], string][]} */
const counted = [
  ["bad", "problem"],
  ["warn", "warning"],
];

/**
 * How many findings there are of each weight, in words: "2 problems, 3 warnings".
 * @param {Findings} findings
 */
export function countsOf(findings) {
  return counted
    .map(([tone, name]) => [findings.filter((f) => f.tone === tone).length, name])
    .filter(([n]) => n !== 0)
    .map(([n, name]) => plural(Number(n), String(name)))
    .join(", ");
}

/**
 * What the answers say of the thing itself, null where none says whether it works.
 * @param {string} name
 * @param {Map<string, any>} answers by tool
 * @returns {string | null}
 */
export function standing(name, answers) {
  const [mailed, byAddress] = [answers.get("email-dns-health"), name.includes("@")];
  const mail = byAddress || !takesNoMail(mailed) ? mailbox(name, mailed) : null;
  const service = answers.get("port-checker");
  return (
    absent(name, answers.get("dns-lookup")) ??
    (byAddress ? mail : null) ??
    (service && name.endsWith(`:${service.port}`) ? port(service) : null) ??
    site(name, answers.get("uptime")) ??
    mail ??
    echo(name, answers.get("ping") ?? answers.get("packet-loss")) ??
    port(service) ??
    number(name, answers.get("asn-lookup"))
  );
}

/** @param {string} name @param {any} d */
function absent(name, d) {
  const gone = ["NO_SUCH_NAME", "ALIAS_TARGET_MISSING"].includes(d?.conclusion?.code);
  return gone ? `${name} does not exist in the DNS` : null;
}

/** @param {string} name @param {any} d */
function site(name, d) {
  if (!d) return null;
  if (d.challenge) return `${name} answers with a bot challenge`;
  if (d.verdict === "up") return `${name} works`;
  if ([d.families?.ipv4, d.families?.ipv6].every((f) => f?.state === "noAddress")) return `${name} has no website`;
  if (d.verdict === "down") return d.status === null ? `${name} is down` : `${name} is down: it answers ${d.status}`;
  return d.certificateValid === false ? `Browsers refuse ${name}’s certificate` : `${name} works only in part`;
}

/** @type {Record<string, string>} */
const ports = { open: "is open", closed: "is closed", filtered: "does not answer", unreachable: "cannot be reached" };

/** @param {any} d */
const port = (d) => (d && ports[d.state] ? `Port ${d.port} of ${d.host} ${ports[d.state]}` : null);

/** @param {string} name @param {any} d */
const mailbox = (name, d) =>
  d && (d.overall === "pass" || d.overall === "info")
    ? `Mail for ${name} is set up well`
    : d
      ? `Mail for ${name} needs work`
      : null;

/** @param {string} name @param {any} d */
const echo = (name, d) => (!d ? null : d.received > 0 ? `${name} answers probes` : `${name} does not answer probes`);

/** @param {string} name @param {any} d */
const number = (name, d) =>
  !d ? null : d.announced ? `${name} is registered` : `${name} is not registered as far as the ASN service knows`;

/**
 * @param {string} name what was asked for
 * @param {Map<string, any>} answers
 * @param {Findings} findings
 * @returns {{tone: Tone, text: string}}
 */
export function stateOf(name, answers, findings) {
  const what = standing(name, answers) ?? (answers.size > 0 ? `${name} was checked` : null);
  if (!what) return { tone: "warn", text: `No check of ${name} gave an answer.` };
  const counts = countsOf(findings);
  const tone = findings.some((f) => f.tone === "bad") ? "bad" : counts ? "warn" : "good";
  return { tone, text: `${what}; ${counts || "nothing needs attention"}.` };
}

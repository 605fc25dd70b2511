// @ts-check
// A report in one sentence: the conclusion of the check that answers what was asked for, and how many findings there
// are.

import { plural } from "./format.js";
import { takesNoMail } from "./rank.js";

/** @typedef {import("./view.js").Tone} Tone */
/** @typedef {import("./view.js").Data} Data */
/** @typedef {{tone: "bad" | "warn" | "info"}[]} Findings */
/** @typedef {ReadonlyMap<string, Data & {port?: number}>} Answers by tool; the port is that of port-checker */

/** @type {[Findings[number]["tone"], string][]} */
const counted = [
  ["bad", "problem"],
  ["warn", "warning"],
];

/**
 * How many findings there are of each severity, in words: "2 problems, 3 warnings".
 * @param {Findings} findings
 */
export function countsOf(findings) {
  return counted
    .map(([tone, name]) => [findings.filter((f) => f.tone === tone).length, name])
    .filter(([n]) => n !== 0)
    .map(([n, name]) => plural(Number(n), String(name)))
    .join(", ");
}

/** The name is not in the DNS, so that nothing else can be said of it. */
const absent = ["NO_SUCH_NAME", "ALIAS_TARGET_MISSING"];

/** A name without an address may be there for mail alone. */
const noSite = "NO_ADDRESS";

/**
 * The conclusion that speaks for the target, null where no answer does.
 * @param {string} name
 * @param {Answers} answers
 * @returns {string | null}
 */
export function standing(name, answers) {
  const codeOf = (/** @type {string} */ slug) => answers.get(slug)?.conclusion?.code ?? "";
  const byAddress = name.includes("@");
  const mail = byAddress || !takesNoMail(answers.get("email-dns-health")) ? ["email-dns-health"] : [];
  const order = [
    absent.includes(codeOf("dns-lookup")) && "dns-lookup",
    ...(byAddress || codeOf("uptime") === noSite ? mail : []),
    name.endsWith(`:${answers.get("port-checker")?.port}`) && "port-checker",
    "uptime",
    ...mail,
    "ping",
    "packet-loss",
    "port-checker",
    "asn-lookup",
  ];
  return order.flatMap((slug) => (slug && answers.get(slug)?.conclusion?.message) || [])[0] ?? null;
}

/**
 * @param {string} name what was asked for
 * @param {Answers} answers
 * @param {Findings} findings
 * @returns {{tone: Tone, text: string}}
 */
export function stateOf(name, answers, findings) {
  const what = standing(name, answers) ?? (answers.size > 0 ? `${name} was checked.` : null);
  if (!what) return { tone: "warn", text: `No check of ${name} gave an answer.` };
  const counts = countsOf(findings);
  const tone = findings.some((f) => f.tone === "bad") ? "bad" : counts ? "warn" : "good";
  return { tone, text: counts ? `${name}: ${counts}.` : `${what} Nothing needs attention.` };
}

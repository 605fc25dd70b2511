// @ts-check
// A report in one sentence: whether the target works, by the conclusion of the check that answers what was asked for,
// and how much could be better.

import { toneOf } from "./findings.js";
import { plural } from "./format.js";
import { takesNoMail } from "./rank.js";

/** @typedef {import("./view.js").Data} Data */
/** @typedef {Pick<import("./view.js").Concern, "tone" | "group" | "text">[]} Findings worst first */
/**
 * An answer: port is that of port-checker, the others are those of uptime.
 * @typedef {Data & {port?: number, status?: number | null, statusText?: string | null}} Spoken
 */
/** @typedef {ReadonlyMap<string, Spoken>} Answers by tool */
/** @typedef {import("./view.js").Verdict & {aside: string}} State aside is said in smaller letters; may be empty */

/** @type {[Findings[number]["group"], string][]} */
const counted = [
  ["broken", "problem"],
  ["safer", "suggestion"],
];

/**
 * How many findings there are of each group, in words: "2 problems, 3 suggestions".
 * @param {Pick<Findings[number], "group">[]} findings
 */
export function countsOf(findings) {
  return counted
    .map(([group, name]) => [findings.filter((f) => f.group === group).length, name])
    .filter(([n]) => n !== 0)
    .map(([n, name]) => plural(Number(n), String(name)))
    .join(", ");
}

/** The name is not in the DNS, so that nothing else can be said of it. */
const absent = ["NAME_NOT_FOUND", "ALIAS_TARGET_MISSING"];

/** A name without an address may be there for mail only. */
const noSite = "NO_ADDRESS";

/** The answers that tell whether validating resolvers find a name, the resolver's own reason first. */
const validating = ["dns-lookup", "uptime", "dns-resolver-check", "dns-delegation"];

/** Whether an answer is that a name fails DNSSEC validation. @param {Spoken | undefined} d */
const isBogus = (d) => d?.conclusion?.state === "fail" && d.conclusion.code.startsWith("DNSSEC_");

/**
 * The answer that speaks for the target, null where none does.
 * @param {string} name
 * @param {Answers} answers
 * @returns {{slug: string, data: Spoken} | null}
 */
export function standing(name, answers) {
  const codeOf = (/** @type {string} */ slug) => answers.get(slug)?.conclusion?.code ?? "";
  const byAddress = name.includes("@");
  const mail = byAddress || !takesNoMail(answers.get("email-dns-health")) ? ["email-dns-health"] : [];
  const order = [
    absent.includes(codeOf("dns-lookup")) && "dns-lookup",
    validating.find((slug) => isBogus(answers.get(slug))),
    ...(byAddress || codeOf("uptime") === noSite ? mail : []),
    name.endsWith(`:${answers.get("port-checker")?.port}`) && "port-checker",
    "uptime",
    ...mail,
    "ping",
    "packet-loss",
    "port-checker",
    "asn-lookup",
  ];
  for (const slug of order) {
    const data = slug ? answers.get(slug) : undefined;
    if (slug && data?.conclusion?.message) return { slug, data };
  }
  return null;
}

/** Whether mail speaks for a name without an address. @param {{slug: string}} spoken @param {Answers} answers */
const forMail = ({ slug }, answers) =>
  slug === "email-dns-health" && answers.get("uptime")?.conclusion?.code === noSite;

/**
 * What is said of a target where nothing is broken.
 * @param {string} name
 * @param {{slug: string, data: Spoken}} spoken
 * @param {Answers} answers
 */
function sentence(name, spoken, answers) {
  const { state, message } = spoken.data.conclusion;
  if (!forMail(spoken, answers)) return message;
  return state === "ok" ? `${name} has no website; mail is set up.` : `${name} has no website. ${message}`;
}

/**
 * @param {string} name what was asked for
 * @param {Answers} answers
 * @param {Findings} findings
 * @returns {State}
 */
export function stateOf(name, answers, findings) {
  const spoken = standing(name, answers);
  const broken = findings.filter((f) => f.group === "broken");
  // A single problem is what the sentence says.
  const aside = countsOf(broken.length === 1 ? findings.filter((f) => f.group !== "broken") : findings);
  if (broken.length > 0) {
    const said = spoken && ["fail", "warn"].includes(spoken.data.conclusion.state);
    const [{ text }] = broken;
    return {
      tone: broken.some((f) => f.tone === "bad") ? "bad" : "warn",
      text: said ? spoken.data.conclusion.message : text.includes(name) ? text : `${name}: ${text}`,
      aside,
    };
  }
  if (!spoken)
    return answers.size > 0
      ? { tone: "info", text: `${name} was checked.`, aside }
      : { tone: "warn", text: `No check of ${name} gave an answer.`, aside };
  const { state } = spoken.data.conclusion;
  const text = spoken.slug === "uptime" && state === "ok" ? `${name} works.` : sentence(name, spoken, answers);
  return { tone: toneOf(spoken.data), text, aside: aside || "Nothing needs attention" };
}

/** The tools that decide, unless uptime does. @type {Partial<Record<import("./recognise.js").Meaning, string[]>>} */
const deciding = {
  email: ["email-dns-health"],
  hostPort: ["port-checker"],
  asn: ["asn-lookup"],
  address: ["uptime", "ping"],
};

/**
 * The state while checks are out, as soon as the answer that decides is there; null until then.
 * @param {string} name
 * @param {import("./recognise.js").Meaning} kind
 * @param {Answers} answers
 * @param {Findings} findings
 * @param {number} open how many checks are out
 * @returns {State | null}
 */
export function earlyState(name, kind, answers, findings, open) {
  const spoken = standing(name, answers);
  if (!spoken) return null;
  const decides = ["dns-lookup", ...(deciding[kind] ?? ["uptime"])].includes(spoken.slug) || isBogus(spoken.data);
  if (!decides && !forMail(spoken, answers)) return null;
  const { state, code } = spoken.data.conclusion;
  // Whether a name without an address is one for mail alone is not known before its mail.
  if (kind !== "url" && code === noSite && !answers.has("email-dns-health")) return null;
  const broken = findings.some((f) => f.group === "broken");
  const aside = `${plural(open, "check")} to go`;
  if (broken) return { ...stateOf(name, answers, findings), aside };
  const status = spoken.slug === "uptime" && state === "ok" ? spoken.data.status : null;
  const text = status
    ? `${name} answers ${`${status} ${spoken.data.statusText ?? ""}`.trim()}.`
    : sentence(name, spoken, answers);
  return { tone: toneOf(spoken.data), text, aside };
}

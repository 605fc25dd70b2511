// @ts-check
// What follows from a name that is not there, or from a site that is down, is no finding of its own.

import { takesNoMail } from "./rank.js";

/**
 * What is looked at of a check. @typedef {{slug: string, stage: import("./queue.js").Stage<import("./api.js").Answer>}}
 *   Check
 */
/**
 * @template {Check} C
 * @typedef {{code: string, group: string, from: C[]}} Entry a finding, and the checks that report it
 */

/** A name without an address. */
const noSite = "NO_ADDRESS";

/** The name leads nowhere. */
const absent = ["NAME_NOT_FOUND", "ALIAS_TARGET_MISSING", noSite, "DOMAIN_NOT_FOUND"];

/** A name without a registration may be why it leads nowhere. */
const unregistered = "NOT_REGISTERED";

/** What asks the site itself, and what only connects to it. */
const web = ["redirect-checker", "http-headers", "security-headers", "robots-sitemap"];
const connects = [...web, "ssl-checker"];

/** The conclusion of a check's answer, empty where there is none. @param {Check} check */
const codeOf = ({ stage }) =>
  stage.state === "answered" && stage.reply.ok ? (stage.reply.data?.conclusion?.code ?? "") : "";

/**
 * Whether a name is there for mail alone: it has no address, and servers that take its mail. A visitor who asked for a
 * page expected one.
 * @param {Check[]} checks
 * @param {import("./recognise.js").Meaning} kind what was asked for
 */
export function forMailAlone(checks, kind) {
  const of = (/** @type {string} */ slug) => checks.find((check) => check.slug === slug);
  const [site, names, mail] = [of("uptime"), of("dns-lookup"), of("email-dns-health")];
  if (kind === "url" || !site || !names || mail?.stage.state !== "answered" || !mail.stage.reply.ok) return false;
  const { data } = mail.stage.reply;
  const set = ["ok", "info", "warn"].includes(data?.conclusion?.state ?? "") && !takesNoMail(data);
  return set && codeOf(site) === noSite && codeOf(names) === "HAS_RECORDS";
}

/**
 * The same findings where a name is there for mail alone: that it has no site is the first note.
 * @template {Check} C
 * @template {Entry<C>} E
 * @param {E[]} entries worst first
 * @param {C[]} checks all of the report
 * @returns {{entries: E[], silent: C[]}}
 */
export function withoutSite(entries, checks) {
  const silent = checks.filter((check) => statusOf(check) === 400);
  const about = entries.filter(({ code }) => code === noSite);
  const others = entries.filter((entry) => !about.includes(entry));
  const at = others.findIndex(({ group }) => group === "note");
  const noted = about.map((entry) => ({ ...entry, tone: "info", group: "note" }));
  return { entries: others.toSpliced(at < 0 ? others.length : at, 0, ...noted), silent };
}

/** @param {Check} check */
const statusOf = ({ stage }) => (stage.state === "answered" && !stage.reply.ok ? stage.reply.status : 0);

/**
 * Puts what follows from one cause with it: findings of other checks, and checks that could not answer for it.
 * @template {Check} C
 * @template {Entry<C>} E
 * @param {E[]} entries worst first
 * @param {C[]} checks all of the report
 * @returns {{entries: E[], silent: C[]}} silent are the checks without an answer that the cause explains
 */
export function fold(entries, checks) {
  const nowhere = entries.find(({ code, group }) => group === "broken" && absent.includes(code));
  const down = checks.some((check) => check.slug === "uptime" && codeOf(check) === "DOWN");
  const root =
    nowhere ??
    (down ? entries.find((e) => e.group === "broken" && e.from.some((c) => c.slug === "uptime")) : undefined);
  if (!root) return { entries, silent: [] };
  const follows = (/** @type {E} */ entry) =>
    entry !== root &&
    (nowhere && entry.group !== "broken"
      ? entry.code !== unregistered
      : entry.from.every(({ slug }) => web.includes(slug)) &&
        (entry.group === "broken" || entry.from.every(({ slug }) => slug === "robots-sitemap")));
  const silent = checks.filter((check) =>
    nowhere ? statusOf(check) === 400 : connects.includes(check.slug) && [502, 504].includes(statusOf(check)),
  );
  const from = [...root.from, ...entries.filter(follows).flatMap((entry) => entry.from), ...silent];
  return {
    entries: entries
      .filter((entry) => !follows(entry))
      .map((entry) => (entry === root ? { ...root, from: [...new Set(from)] } : entry)),
    silent,
  };
}

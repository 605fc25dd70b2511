// @ts-check
// What follows from a name that is not there, or from a site that is down, is no finding of its own; and what nobody
// asked for is no problem.

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

/** What tries a port of an address that nobody named. */
const unasked = [...connects, "uptime", "port-checker"];

/**
 * Whether a fault that a check finds is none of the target: an address need not serve anything at the usual ports.
 * @param {{slug: string}} check
 * @param {import("./recognise.js").Meaning} kind what was asked for
 */
export const isUnasked = ({ slug }, kind) => kind === "address" && unasked.includes(slug);

/** Whether a site cannot be reached, or its name not be looked up, by the code of a conclusion. @param {string} code */
export const unreachable = (code) => code === "DOWN" || /^(DNSSEC|NAME_SERVERS)_/.test(code);

/** The conclusion of a check's answer. @param {Check} check */
const endOf = ({ stage }) => (stage.state === "answered" && stage.reply.ok ? stage.reply.data?.conclusion : undefined);

/** Its code, empty if there is none. @param {Check} check */
const codeOf = (check) => endOf(check)?.code ?? "";

/**
 * Whether a name is there for mail only: it has no address, and servers that take its mail. A visitor who asked for a
 * page expected one.
 * @param {Check[]} checks
 * @param {import("./recognise.js").Meaning} kind what was asked for
 */
export function forMailAlone(checks, kind) {
  const of = (/** @type {string} */ slug) => checks.find((check) => check.slug === slug);
  const [site, names, mail] = [of("uptime"), of("dns-lookup"), of("email-dns-health")];
  if (kind === "url" || !site || !names || mail?.stage.state !== "answered" || !mail.stage.reply.ok) return false;
  const { data } = mail.stage.reply;
  const set = (data?.conclusion?.state ?? "unknown") !== "unknown" && !takesNoMail(data);
  return set && codeOf(site) === noSite && codeOf(names) === "HAS_RECORDS";
}

/**
 * The findings with some of them as the first notes: what they report is no problem.
 * @template {Entry<any>} E
 * @param {E[]} entries worst first
 * @param {(entry: E) => boolean} is
 */
function noted(entries, is) {
  const others = entries.filter((entry) => !is(entry));
  const at = others.findIndex(({ group }) => group === "note");
  const notes = entries.filter(is).map((entry) => ({ ...entry, tone: "info", group: "note" }));
  return others.toSpliced(at < 0 ? others.length : at, 0, ...notes);
}

/**
 * The findings of a name that is there for mail only: that it has no site is a note.
 * @template {Check} C
 * @template {Entry<C>} E
 * @param {E[]} entries worst first
 * @param {C[]} checks all of the report
 * @returns {{entries: E[], silent: C[]}}
 */
export const withoutSite = (entries, checks) => ({
  entries: noted(entries, ({ code }) => code === noSite),
  silent: checks.filter((check) => statusOf(check) === 400),
});

/** @param {Check} check */
const statusOf = ({ stage }) => (stage.state === "answered" && !stage.reply.ok ? stage.reply.status : 0);

/**
 * Puts what follows from one cause with it: findings of other checks, and checks that could not answer for it.
 * @template {Check} C
 * @template {Entry<C>} E
 * @param {E[]} entries worst first
 * @param {C[]} checks all of the report
 * @param {import("./recognise.js").Meaning} [kind] what was asked for
 * @returns {{entries: E[], silent: C[]}} silent are the checks without an answer that the cause explains
 */
export function fold(entries, checks, kind = "domain") {
  const { entries: left, silent } = folded(entries, checks);
  return {
    entries: noted(left, ({ group, from }) => group === "broken" && from.every((check) => isUnasked(check, kind))),
    silent,
  };
}

/**
 * @template {Check} C
 * @template {Entry<C>} E
 * @param {E[]} entries
 * @param {C[]} checks
 * @returns {{entries: E[], silent: C[]}}
 */
function folded(entries, checks) {
  const nowhere = entries.find(
    ({ code, group, from }) =>
      group === "broken" && [code, ...from.map(codeOf)].some((reported) => absent.includes(reported)),
  );
  const down = checks.some((check) => check.slug === "uptime" && unreachable(codeOf(check)));
  const isBroken = (/** @type {E} */ e) => e.group === "broken";
  const bogus = entries.find(
    (e) => isBroken(e) && e.code.startsWith("DNSSEC_") && e.from.some((c) => endOf(c)?.state === "fail"),
  );
  const root =
    nowhere || (down && entries.find((e) => isBroken(e) && e.from.some((c) => c.slug === "uptime"))) || bogus;
  if (!root) return { entries, silent: [] };
  const follows = (/** @type {E} */ entry) => {
    if (entry === root) return false;
    const all = (/** @type {string[]} */ slugs) => entry.from.every(({ slug }) => slugs.includes(slug));
    if (nowhere && (!isBroken(entry) || absent.includes(entry.code))) return entry.code !== unregistered;
    // Records that do not validate say nothing about mail.
    if (root === bogus && all(["email-dns-health"])) return true;
    return (nowhere || down) && all(isBroken(entry) ? web : ["robots-sitemap"]);
  };
  const silent = checks.filter((check) =>
    nowhere ? statusOf(check) === 400 : down && connects.includes(check.slug) && [502, 504].includes(statusOf(check)),
  );
  // Checks that do not apply to a missing name are counted by themselves.
  const from = [...root.from, ...entries.filter(follows).flatMap((entry) => entry.from), ...(nowhere ? [] : silent)];
  return {
    entries: entries
      .filter((entry) => !follows(entry))
      .map((entry) => (entry === root ? { ...root, from: [...new Set(from)] } : entry)),
    silent,
  };
}

// @ts-check
// Whether a site answers, over each family of addresses on its own.

import { el } from "../lib/dom.js";
import { ms } from "../lib/format.js";
import { badge, facts, mark, none, section, value } from "../lib/parts.js";
import { waterfall } from "../lib/picture.js";
import { sh } from "../lib/shell.js";
import { statusMeaning, statusShown } from "../lib/statuses.js";
import { timingFacts } from "../lib/timings.js";

/** @typedef {{state: "up" | "down" | "noAddress" | "skipped", address: string | null, status: number | null, responseTimeMs: number | null, reason: string | null}} Family */
/** @typedef {"IPv4" | "IPv6"} Name */

/** Longer than this is worth a word, in milliseconds. */
const slow = 2000;

/** @param {any} d @returns {[Name, Family][]} */
const families = (d) => [["IPv4", d.families.ipv4], ["IPv6", d.families.ipv6]];

/** @param {any} d */
const host = (d) => new URL(d.url).host;

/** @param {any} d the family that does not answer while the other does @returns {Name | undefined} */
const lame = (d) => (d.online ? families(d).find(([, f]) => f.state === "down")?.[0] : undefined);

/** @param {any} d */
const answered = (d) => `${d.status} ${d.statusText ?? ""}`.trim();

/** The reason as the end of a sentence about the host. @param {any} d */
function because(d) {
  const name = `${new URL(d.url).hostname} `;
  const reason = d.reason ?? "it did not answer as it should.";
  return reason.startsWith(name) ? `it ${reason.slice(name.length)}` : reason.replace(/^(The|A|Over) /, (/** @type {string} */ word) => word.toLowerCase());
}

/** @param {any} d @returns {string} why a site is degraded, as the end of a sentence */
function trouble(d) {
  const missing = lame(d);
  if (missing) return `does not answer over ${missing}.`;
  if (d.certificateValid === false) return "its certificate is not valid.";
  if (d.status >= 400) return `with ${answered(d)}.`;
  return because(d);
}

/** @type {import("../lib/view.js").View} */
export default {
  verdict(d) {
    const over = families(d).filter(([, f]) => f.state === "up").map(([name]) => name).join(" and ");
    if (d.verdict === "up") return { tone: "good", text: `${host(d)} is up: it answers ${answered(d)} after ${ms(d.responseTimeMs)} over ${over}.` };
    if (d.verdict === "degraded") return { tone: "warn", text: `${host(d)} answers, but ${trouble(d)}` };
    return { tone: "bad", text: d.status === null ? `${host(d)} is down: ${because(d)}` : `${host(d)} is down: it answers ${answered(d)}.` };
  },

  show(d) {
    return [
      section("IPv4 and IPv6", el("div", { class: "uptime-families" }, ...families(d).map(([name, f]) => card(name, f)))),
      d.timings && section("Where the time went", waterfall([{ title: host(d), timings: d.timings }], { caption: whose(d) }), timingFacts(d.timings)),
      section("The site", facts([
        ["URL", value(d.url, { what: "URL" })],
        ["Online", el("span", {}, d.online ? "yes, it gives an answer that is no server error" : "no")],
        ["Reason", d.reason && el("span", {}, d.reason)],
        ["Status", d.status && el("span", {}, statusShown(d.status, d.statusText), el("br"), el("span", { class: "muted" }, statusMeaning(d.status)))],
        ["Final URL", d.finalUrl && value(d.finalUrl, { what: "final URL" })],
        ["Response time", d.responseTimeMs !== null ? el("span", {}, value(ms(d.responseTimeMs), { what: "response time", mono: false }), redirected(d) && " with all redirects") : null],
        ["Certificate", certificate(d)],
      ])),
    ];
  },

  concerns(d) {
    /** @type {import("../lib/view.js").Concern[]} */
    const list = [];
    if (d.verdict === "down") list.push({ tone: "bad", text: `${host(d)} is down. ${d.reason ?? ""}`.trim() });
    if (d.verdict === "degraded") list.push({ tone: d.certificateValid === false ? "bad" : "warn", text: `${host(d)} is up, but not in order. ${d.reason ?? ""}`.trim() });
    if (d.responseTimeMs >= slow) list.push({ tone: "warn", text: `${host(d)} takes ${ms(d.responseTimeMs)} to answer.` });
    if (d.online && d.families.ipv4.state === "noAddress" && !d.url.includes("[")) {
      list.push({ tone: "warn", text: `${d.families.ipv4.reason} Visitors without IPv6 may not reach it.` });
    }
    return list;
  },

  meaning(d) {
    const missing = lame(d);
    const nowhere = families(d).every(([, f]) => f.state === "noAddress");
    const absent = families(d).find(([, f]) => f.state === "noAddress");
    return [
      { up: "The site answered just now, from where this service runs. That says nothing about any other place or time.",
        degraded: `The site answers, but a part of its visitors may have trouble with it. ${d.reason ?? ""}`,
        down: nowhere ? `${d.reason} Without an address nobody can reach a site by its name.`
          : `No answer that visitors could use came, also at a second try. ${d.reason ?? ""} The cause may lie with the site, with the way to it, or in a rule that keeps automated checks out.` }[/** @type {"up" | "degraded" | "down"} */ (d.verdict)],
      missing ? `Visitors whose connection prefers ${missing} wait until their browser gives up on it, or do not reach the site at all.` : "",
      d.certificateValid === false ? "Browsers show a warning in place of a site whose certificate is not valid, so that for most people it is as good as down." : "",
      absent && d.online ? `${absent[1].reason} ${absent[0] === "IPv6" ? "That is common and harms nobody who has IPv4." : "Visitors who have IPv4 alone cannot reach it."}` : "",
      families(d).some(([, f]) => f.state === "skipped") ? "This service has no connection of one of the two families, so that it cannot tell how the site does over it." : "",
    ].filter(Boolean);
  },

  terminal(_, d) {
    const trust = d.certificateValid === false ? "-k " : "";
    return families(d).filter(([, f]) => f.state !== "noAddress").map(([name]) => ({
      label: `The status and the time over ${name}`,
      command: `curl -${name.slice(-1)} -sSL ${trust}--max-redirs 5 --max-time 15 -o /dev/null -w ${sh`${"%{http_code} after %{time_total} s\\n"} ${d.url}`}`,
    }));
  },

  facts(d) {
    return {
      "Verdict": d.verdict, "Status": d.status === null ? "no answer" : answered(d), "Final URL": d.finalUrl ?? "", "Reason": d.reason ?? "",
      "Certificate": { true: "valid", false: "not valid", null: "none" }[String(d.certificateValid)] ?? "",
      ...Object.fromEntries(families(d).map(([name, f]) => [name, stateWords[f.state] ?? f.state])),
    };
  },
};

/** @type {Record<Family["state"], string>} */
const stateWords = { up: "answers", down: "down", noAddress: "no address", skipped: "not checked" };

/** @param {any} d */
const redirected = (d) => d.finalUrl !== null && d.finalUrl !== d.url;

/** @param {any} d @returns {string} which request the timing is of: the family that answered first speaks for the site */
function whose(d) {
  const first = families(d).find(([, f]) => f.responseTimeMs === d.responseTimeMs)?.[0];
  return `The request${first ? ` over ${first}` : ""} ${redirected(d) ? `to ${d.finalUrl}, where the redirects end` : `to ${d.url}`}.`;
}

/** @param {any} d */
function certificate(d) {
  if (d.certificateValid === null) return none(d.status === null ? "unknown, as no answer came" : "none: no answer came over TLS");
  return badge(d.certificateValid ? "good" : "bad", d.certificateValid ? "valid" : "not valid");
}

/**
 * One family. What was not checked says why in its reason.
 * @param {Name} name
 * @param {Family} f
 */
function card(name, f) {
  const tone = f.state === "down" ? "bad" : f.state !== "up" ? "info" : f.reason ? "warn" : "good";
  return el("div", { class: `uptime-family ${tone}` },
    el("h3", {}, mark(tone), ` ${name} `, el("span", { class: "uptime-state" }, stateWords[f.state] ?? f.state)),
    f.responseTimeMs !== null && el("p", { class: "uptime-time" }, ms(f.responseTimeMs)),
    f.reason && el("p", { class: "uptime-reason" }, f.reason),
    facts([["Address", f.address && value(f.address, { what: `${name} address` })], ["Status", f.status && statusShown(f.status)]]));
}

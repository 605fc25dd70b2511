// @ts-check
// Whether a site answers, over each family of addresses on its own.

import { el } from "../../lib/dom.js";
import { findingOf } from "../../lib/findings.js";
import { askVisitor } from "../../lib/for-you.js";
import { host, ms } from "../../lib/format.js";
import { http3Facts, http3Part } from "../../lib/http3.js";
import { remarks } from "../../lib/notes.js";
import { badge, facts, folded, mark, none, section, value } from "../../lib/parts.js";
import { waterfall } from "../../lib/picture.js";
import { sh } from "../../lib/shell.js";
import { statusShown } from "../../lib/statuses.js";
import { timingFacts } from "../../lib/timings.js";
import { families, stateWords } from "./facts.js";

/** @typedef {import("./facts.js").Uptime} Uptime */
/** @typedef {import("./facts.js").Family} Family */
/** @typedef {Family["addresses"][number]} Address */
/** @typedef {import("./facts.js").Name} Name */

/** @param {Uptime} d */
const redirected = (d) => d.finalUrl !== null && d.finalUrl !== d.url;

/** Which request the timings are of: that of the family that answered first. @param {Uptime} d */
function whose(d) {
  const first = families(d).find(([, f]) => f.responseTimeMs === d.responseTimeMs)?.[0];
  return (
    `The request${first ? ` over ${first}` : ""} ` +
    `${redirected(d) ? `to ${d.finalUrl}, where the redirects end` : `to ${d.url}`}.`
  );
}

/** @param {Uptime} d */
function certificate(d) {
  if (d.certificateValid === null)
    return none(
      findingOf(d, "CERTIFICATE_NOT_VERIFIED")
        ? "not verified"
        : d.status === null
          ? `not known: ${d.online ? "the answer was not read" : "no answer"}`
          : "none: the answer came over plain HTTP",
    );
  return badge(d.certificateValid ? "good" : "bad", d.certificateValid ? "valid" : "not valid");
}

/**
 * One family; its reason is why it was not checked, or what is wrong.
 * @param {Name} name
 * @param {Family} f
 * @param {boolean} [challenged] whether its error is a bot challenge, which says nothing about the site
 */
function card(name, f, challenged = false) {
  const tone =
    f.state === "down"
      ? challenged && f.status !== null
        ? "warn"
        : "bad"
      : f.state !== "up"
        ? "info"
        : f.reason
          ? "warn"
          : "good";
  return el(
    "div",
    { class: `uptime-family ${tone}` },
    el("h3", {}, mark(tone), ` ${name} `, el("span", { class: "uptime-state" }, stateWords[f.state] ?? f.state)),
    f.state === "up" && f.responseTimeMs !== null && el("p", { class: "uptime-time" }, ms(f.responseTimeMs)),
    f.reason && el("p", { class: "uptime-reason" }, f.reason),
    facts([
      ["Address", f.address && value(f.address, { what: `${name} address` })],
      ["Status", f.status && statusShown(f.status)],
      ["Time", f.state !== "up" && f.responseTimeMs !== null ? ms(f.responseTimeMs) : null],
    ]),
    (f.addresses ?? []).length > 1 &&
      el(
        "ul",
        { class: "uptime-addresses", "aria-label": `${name} addresses` },
        ...(f.addresses ?? []).map((a) => each(name, a)),
      ),
  );
}

/** @type {Record<Address["state"], "good" | "bad" | "info">} */
const tones = { up: "good", down: "bad", skipped: "info" };

/**
 * One address of several, by its own answer.
 * @param {Name} name
 * @param {Address} a
 */
function each(name, a) {
  return el(
    "li",
    {},
    badge(tones[a.state] ?? "info", stateWords[a.state] ?? a.state),
    " ",
    value(a.address, { what: `${name} address` }),
    a.status !== null && ` ${a.status}`,
    a.reason && el("div", { class: "hint" }, a.reason),
  );
}

/**
 * One family while it is checked, or where the run ended before it had answered.
 * @param {number} family 4 or 6
 * @param {import("../../lib/steps.js").Seen} seen
 */
function cardSoFar(family, seen) {
  const known = seen.list("family").find((f) => f.family === family);
  const addresses = seen
    .list("address")
    .filter((/** @type {Address} */ a) => a.address.includes(":") === (family === 6));
  if (known) return card(`IPv${family === 6 ? 6 : 4}`, { .../** @type {Family} */ (known), addresses });
  return el(
    "div",
    { class: "uptime-family info" },
    el(
      "h3",
      {},
      `IPv${family}`,
      el("span", { class: "uptime-state" }, seen.stage?.stage === "ended" ? "no result" : "being asked"),
    ),
    el("ul", { class: "uptime-addresses" }, ...addresses.map((a) => each(family === 6 ? "IPv6" : "IPv4", a))),
  );
}

/** @type {import("../../lib/view.js").View<Uptime>} */
export default {
  yours: (d, asked) => askVisitor(d.online === true, asked),
  live: (seen) => [
    section(
      "IPv4 and IPv6",
      el("div", { class: "uptime-families" }, ...[4, 6].map((family) => cardSoFar(family, seen))),
    ),
  ],

  show(d) {
    return [
      ...remarks(d, /^HTTP3_/),
      section(
        "IPv4 and IPv6",
        el("div", { class: "uptime-families" }, ...families(d).map(([name, f]) => card(name, f, Boolean(d.challenge)))),
      ),
      d.timings &&
        section(
          "Where the time went",
          waterfall([{ title: host(d.url), timings: d.timings }], { caption: whose(d) }),
          timingFacts(d.timings),
        ),
      http3Part(d),
      folded(
        "The site",
        "status, final URL, certificate",
        facts([
          ["URL", value(d.url, { what: "URL" })],
          ["Online", el("span", {}, d.online ? "yes, it answers without a server error" : "no")],
          ["Reason", d.reason && el("span", {}, d.reason)],
          ["Bot challenge", d.challenge?.vendor],
          ["Status", d.status && statusShown(d.status, d.statusText)],
          ["Final URL", d.finalUrl && value(d.finalUrl, { what: "final URL" })],
          [
            "Response time",
            d.responseTimeMs !== null
              ? el(
                  "span",
                  {},
                  value(ms(d.responseTimeMs), { what: "response time", mono: false }),
                  redirected(d) && " with all redirects",
                )
              : null,
          ],
          ["Certificate", certificate(d)],
        ]),
      ),
    ];
  },

  second: http3Facts,

  terminal(_, d) {
    const trust = d.certificateValid === false ? "-k " : "";
    return families(d)
      .filter(([, f]) => f.state !== "noAddress")
      .map(([name]) => ({
        label: `The status and the time over ${name}`,
        command:
          `curl -${name.slice(-1)} -sSL ${trust}--max-redirs 5 --max-time 15 -o /dev/null -w ` +
          `${sh`${"%{http_code} after %{time_total} s\\n"} ${d.url}`}`,
      }));
  },
  sources: (d) => [{ name: "The web server itself", url: d.url }],
};

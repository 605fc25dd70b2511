// @ts-check
// A chain of redirects: each step, what kind it is, and why the chain ended.

import { el } from "../../lib/dom.js";
import { toneOf } from "../../lib/findings.js";
import { ms, plural } from "../../lib/format.js";
import { remarks } from "../../lib/notes.js";
import { badge, cut, facts, folded, mark, notice, section, table, value } from "../../lib/parts.js";
import { waterfall } from "../../lib/picture.js";
import { sh } from "../../lib/shell.js";
import { statusShown, statusTone } from "../../lib/statuses.js";

/** @typedef {import("./facts.js").RedirectChecker} RedirectChecker */
/** @typedef {import("./facts.js").Hop} Hop */
/** @typedef {import("../../lib/view.js").Tone} Tone */

/**
 * The words of a flag, its tone, and the sentence that explains it.
 * @type {Record<Hop["flags"][number], [string, Tone | "off", string]>}
 */
const flags = {
  httpToHttps: ["to HTTPS", "good", "The step leads from HTTP to HTTPS."],
  httpsToHttp: [
    "back to HTTP",
    "warn",
    "The step leads from HTTPS to HTTP, so anyone on the path can read and change the page.",
  ],
  permanent: ["permanent", "off", "Browsers and search engines may remember the new address and go there at once."],
  temporary: ["temporary", "off", "The old address stays in use; browsers request it every time."],
  crossHost: ["other host", "off", "The step leads to another host name."],
  wwwChange: ["www changes", "off", "The step adds www to the name or takes it away."],
  relativeLocation: [
    "relative address",
    "off",
    "The server names the next address without its host, which is allowed.",
  ],
  userinfo: ["user name in it", "warn", "The next address contains a user name, which browsers ignore or warn about."],
  conflictingLocation: [
    "conflicting destinations",
    "bad",
    "The answer has several different Location headers, so browsers show an error.",
  ],
  repairedLocation: [
    "repaired address",
    "warn",
    "The address as sent is not a valid URL. Browsers repair it; other clients may not follow it.",
  ],
  certificateInvalid: ["certificate not valid", "bad", "Browsers show a warning here instead of going on."],
};

/** @param {Hop["flags"][number]} name */
function flag(name) {
  const [words, tone] = flags[name] ?? [name, "off"];
  return badge(tone, words);
}

/** Whether a request was sent: none is to an address that is not public. @param {Hop} hop */
const visited = (hop) => hop.timings.totalMs > 0;

/** What stands in place of a status. @param {RedirectChecker["outcome"] | undefined} outcome */
const unanswered = (outcome) => (outcome === "blocked" ? "not visited" : "no answer");

/** Browsers refuse an answer with Location headers that differ, whatever its status. @param {Hop} hop */
const conflict = (hop) => hop.flags.includes("conflictingLocation");

/**
 * A URL without what it shares with the one before.
 * @param {string} url
 * @param {string} [before]
 */
function short(url, before) {
  if (!before || !URL.canParse(url) || !URL.canParse(before)) return url;
  const { origin, href } = new URL(url);
  return origin === new URL(before).origin ? href.slice(origin.length) : url;
}

/**
 * Each step of the chain.
 * @param {Hop[]} hops
 * @param {Tone} end the tone of a step without an answer
 * @param {RedirectChecker["outcome"]} [outcome]
 * @returns {HTMLElement[]}
 */
function stepsOf(hops, end, outcome) {
  return hops.map((h) =>
    el(
      "li",
      { class: `rc-step ${h.status === null ? end : statusTone(h.status)}` },
      el("span", { class: "rc-number", "aria-hidden": "true" }, String(h.index + 1)),
      el(
        "div",
        { class: "rc-head" },
        h.status === null ? badge(end, unanswered(outcome)) : statusShown(h.status, h.statusText),
        el("span", { class: "rc-flags" }, ...h.flags.map(flag)),
        visited(h) && el("span", { class: "rc-time" }, ms(h.responseTimeMs)),
      ),
      el("div", { class: "rc-url" }, value(h.url, { what: `URL ${h.index + 1}` })),
      h.status === null && el("div", { class: "hint" }, h.statusText),
      h.address && el("div", { class: "hint" }, "Answered by ", value(h.address, { what: "address" })),
      h.location !== null &&
        el(
          "div",
          { class: "hint" },
          "Location: ",
          value(h.location, { what: "Location" }),
          !conflict(h) && backTo(h, hops),
        ),
      ...(h.otherLocations ?? []).map((location) =>
        el("div", { class: "hint" }, "Another Location: ", value(location, { what: "Location" })),
      ),
      cut(h, "A text of this step was cut: the server sent more than the service passes on."),
    ),
  );
}

/**
 * The chain from top to bottom.
 * @param {RedirectChecker} d
 */
function path(d) {
  const tone = toneOf(d);
  const end = el(
    "li",
    { class: `rc-end ${tone}` },
    mark(tone),
    el("p", {}, d.outcome === "final" ? "The chain ends here: this is the page." : d.conclusion.message),
    clientRedirect(d),
  );
  const used = /** @type {Hop["flags"]} */ (Object.keys(flags)).filter((name) =>
    d.hops.some((h) => h.flags.includes(name)),
  );
  return el(
    "div",
    {},
    el("ol", { class: "rc-path" }, ...stepsOf(d.hops, tone, d.outcome), end),
    used.length > 0 &&
      el("ul", { class: "rc-legend" }, ...used.map((name) => el("li", {}, flag(name), " ", flags[name][2]))),
  );
}

/**
 * Where a redirect leads to a step that was there already.
 * @param {Hop} hop
 * @param {Hop[]} hops
 */
function backTo(hop, hops) {
  if (!URL.canParse(hop.location ?? "", hop.url)) return null;
  const next = new URL(hop.location ?? "", hop.url).href.split("#")[0];
  const seen = hops.find((h) => h.index <= hop.index && h.url.split("#")[0] === next);
  return seen ? ` That is step ${seen.index + 1} again.` : null;
}

/** @param {RedirectChecker} d */
function clientRedirect({ clientRedirect: c }) {
  if (!c) return null;
  const how = { metaRefresh: "a meta element in the page", refreshHeader: "a Refresh header" }[c.kind] ?? c.kind;
  return notice(
    "info",
    el(
      "p",
      {},
      `The page then sends browsers on by ${how}, ` +
        `${c.delaySeconds > 0 ? `after ${plural(c.delaySeconds, "second")}` : "at once"}. That is not followed ` +
        "here.",
    ),
    el(
      "p",
      {},
      value(c.url, { what: "URL" }),
      " ",
      el("a", { href: `/tools/redirect-checker?input=${encodeURIComponent(c.url)}` }, "Check it"),
    ),
  );
}

/** @param {Hop[]} hops */
function timings(hops) {
  const columns = [
    { title: "Step" },
    { title: "Status" },
    ...["DNS", "Connect", "TLS", "First byte", "Total"].map((title) => ({ title, numeric: true })),
  ];
  const rows = hops.map(({ index, status, timings: t }) => [
    String(index + 1),
    status === null ? "none" : String(status),
    ...[t.dnsMs, t.connectMs, t.tlsMs, t.firstByteMs].map((took) => ms(status === null ? null : took)),
    ms(t.totalMs || null),
  ]);
  return table({ caption: "The timing of each step", columns, rows, hideCaption: true });
}

/** @type {import("../../lib/view.js").View<RedirectChecker>} */
export default {
  live: (seen) => [section("The chain", el("ol", { class: "rc-path" }, ...stepsOf(seen.list("hop"), "bad")))],

  show(d) {
    const hops = d.hops;
    const before = hops.slice(0, -1).reduce((sum, h) => sum + h.responseTimeMs, 0);
    return [
      ...remarks(d),
      section("The chain", path(d)),
      section(
        "Where the time went",
        waterfall(
          hops.map((h, i) => ({
            title: `${h.index + 1}. ${short(h.url, hops[i - 1]?.url)}`,
            timings: visited(h) ? h.timings : null,
            note: h.status === null ? unanswered(d.outcome) : String(h.status),
          })),
          {
            sequential: true,
            caption:
              `${ms(d.totalMs)} in ` +
              `all${d.outcome === "final" && before > 0 ? `, of which the redirects took ${ms(before)}` : ""}.`,
          },
        ),
        timings(hops),
      ),
      folded(
        "Summary",
        ms(d.totalMs),
        facts([
          ["First URL", value(d.url, { what: "URL" })],
          ["Final URL", d.finalUrl && value(d.finalUrl, { what: "final URL" })],
          ["Final status", d.finalStatus && statusShown(d.finalStatus, hops.at(-1)?.statusText)],
          ["Redirects followed", d.redirectCount],
          ["Total time", ms(d.totalMs)],
          ["Outcome", el("span", {}, d.summary)],
        ]),
      ),
    ];
  },

  lessons: (d) =>
    d.outcome === "final" && d.redirectCount === 0
      ? []
      : [
          "A redirect is an answer that names another address. Browsers follow it by themselves, and " +
            "each step takes time.",
        ],

  terminal(_, d) {
    const trust = d.hops.some((h) => h.flags.includes("certificateInvalid")) ? "-k " : "";
    return [
      {
        label: "The headers of every step, with cookies kept between steps",
        command: `curl -sSL ${trust}-b '' --max-redirs 8 -D - -o /dev/null ${sh`${d.url}`}`,
      },
      {
        label: "The number of redirects, the last address and the time",
        command:
          `curl -sSL ${trust}-b '' --max-redirs 8 -o /dev/null -w ` +
          `${sh`${"%{num_redirects} redirects to %{url_effective}, %{http_code}, %{time_total} s\\n"} ${d.url}`}`,
      },
    ];
  },
  sources: (d) => d.hops.filter(visited).map((h) => ({ name: "The web server itself", url: h.url })),
};

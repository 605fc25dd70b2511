// @ts-check
// The security headers of a site, control by control, and how to set what is missing.

import { el } from "../../lib/dom.js";
import { counted, host, listed, plural } from "../../lib/format.js";
import { notes } from "../../lib/notes.js";
import {
  badge,
  code,
  cut,
  facts,
  folded,
  leadTo,
  mark,
  more,
  none,
  notice,
  section,
  table,
  tabs,
  value,
} from "../../lib/parts.js";
import { configurations, noLines, serverLines } from "./servers.js";
import { counts, lookOf, severities } from "../../lib/severity.js";
import { sh } from "../../lib/shell.js";
import { newerHeaders, withoutHttps } from "./beside.js";
import { findingOf } from "../../lib/findings.js";
import { fixPart } from "../../lib/fix.js";

/** @typedef {import("./facts.js").SecurityHeaders} SecurityHeaders */
/** @typedef {import("./facts.js").Control} Control */
/** @typedef {import("./servers.js").Lines} Lines */

const order = Object.keys(severities);

/** Headers break nothing: the tone and word of a status. @param {string} status */
const look = (status) => lookOf(status, "safer");

/** What to think of before sending a header. @type {Record<string, string>} */
const cautions = {
  hsts: "It applies to every subdomain, so first make sure that all of them work over HTTPS.",
  csp:
    "The right policy depends on your pages. Start with Content-Security-Policy-Report-Only, which blocks " +
    "nothing: watch the browser's console, add what your pages need, then send it without -Report-Only.",
  coop: "Windows of other sites, as for a login or a payment, may lose contact with the page.",
  coep: "Files and frames of other sites stop loading unless those sites agree. Send it only for isolation.",
  corp: "Other sites can no longer show your images and files.",
  "permissions-policy": "Leave out what your pages use.",
  cookies: "Best changed in the program that sets them. HttpOnly hides a cookie from the page's own scripts.",
  "information-leak":
    "nginx can remove what the program behind it sends; for anything else it needs the headers-more module.",
};

/** @param {string} what @param {Lines} lines */
const servers = (what, lines) =>
  tabs(
    `Server to configure for ${what}`,
    configurations(lines).map(([title, text]) => ({ title, panel: code(text, `${title}: ${what}`) })),
  );

/** The controls by status. @param {SecurityHeaders} d */
const sorted = (d) => [...d.controls].sort((a, b) => order.indexOf(a.status) - order.indexOf(b.status));

/** All controls at a glance, each a link to its details. @param {SecurityHeaders} d */
function overview(d) {
  const tile = (/** @type {Control} */ c) => {
    const link = el("a", { href: `#${place(c)}` }, sign(c), c.name);
    leadTo(link, () => document.getElementById(place(c)));
    return el("li", { class: look(c.status)[0] }, link);
  };
  return section(
    "At a glance",
    el("p", { class: "sec-counts" }, ...counts(d.controls.map((c) => look(c.status))).map((count) => badge(...count))),
    el("ol", { class: "sec-strip" }, ...sorted(d).map(tile)),
  );
}

/** The id of a control's details. @param {Control} c */
const place = (c) => `control-${c.id}`;

/** @param {Control} c */
function sign({ status }) {
  const [tone] = look(status);
  return tone === "off"
    ? el(
        "span",
        { class: "mark off" },
        el("span", { "aria-hidden": "true" }, "–"),
        el("span", { class: "offscreen" }, "Not applicable: "),
      )
    : mark(tone);
}

/** The codes of a control begin with its name: COOP_MISSING of coop. @param {Control} c @param {SecurityHeaders} d */
const repairable = (c, d) =>
  (d.findings ?? []).find((f) => f.paste && f.code.startsWith(`${c.id.toUpperCase().replaceAll("-", "_")}_`));

/** @param {Control} c @param {SecurityHeaders} d @param {import("../../lib/view.js").Asked} asked */
function controlNode(c, d, asked) {
  const lines = serverLines(c, d.cookies);
  const tabs = lines && servers(c.name, lines);
  const finding = repairable(c, d);
  return el(
    "details",
    { class: "sec-control", id: place(c) },
    el("summary", {}, sign(c), el("h3", {}, c.name), el("span", { class: "sec-finding" }, c.finding)),
    facts([
      ["Sent now", c.value === null ? (c.present ? null : none("nothing")) : value(c.value || "(empty)")],
      ["Recommended", advised(c)],
      ["Read more", reference(c, c.reference)],
    ]),
    caution(c) && el("p", {}, caution(c)),
    finding ? fixPart(finding, { asked, before: d.findings }, tabs) : tabs,
  );
}

/** What to send or do. Only the value of a header is copied. @param {Control} c */
function advised({ recommendation, set }) {
  if (!set) return recommendation && el("span", {}, recommendation);
  return el(
    "div",
    {},
    el("span", { class: "mono" }, `${set.name}: `),
    value(set.value, { what: `the value of ${set.name}` }),
    set.note && el("div", { class: "hint" }, set.note),
  );
}

/** @param {Control} c */
const caution = (c) => (c.id === "csp" && !c.set?.startingPoint ? undefined : cautions[c.id]);

/** @param {Control} c */
const settled = (c) => c.status === "pass" || c.status === "notApplicable";

/**
 * The controls that need something done, a card each; the others in a list.
 * @param {SecurityHeaders} d
 * @param {import("../../lib/view.js").Asked} asked
 */
function controlParts(d, asked) {
  const [open, done] = [sorted(d).filter((c) => !settled(c)), sorted(d).filter(settled)];
  const rows = done.map((c) =>
    el(
      "div",
      { id: place(c) },
      el("dt", {}, reference(c, c.name)),
      el("dd", {}, c.finding, c.value && el("div", {}, value(c.value, { what: c.name }))),
    ),
  );
  return [
    open.length > 0 ? section("Could be safer", ...open.map((c) => controlNode(c, d, asked))) : null,
    done.length > 0
      ? folded("Nothing to do", listed(done.map((c) => c.name)), el("dl", { class: "facts" }, ...rows))
      : null,
  ];
}

/** @param {Control} c @param {string} text */
const reference = (c, text) =>
  /^https:/.test(c.reference) ? el("a", { href: c.reference, rel: "noreferrer nofollow" }, text) : text;

/** All lines that need no decision by the owner, for each server. @param {SecurityHeaders} d */
function everything(d) {
  const all = noLines();
  const included = sorted(d).filter((c) => {
    const lines = (c.id === "coep" && c.status === "info") || c.set?.exampleHost ? null : serverLines(c, d.cookies);
    for (const server of /** @type {const} */ (["nginx", "Apache", "Caddy"]))
      all[server].push(...(lines?.[server] ?? []));
    return lines;
  });
  if (included.length === 0) return null;
  return folded(
    "All of it, ready to paste",
    "for nginx, Apache and Caddy",
    el(
      "p",
      {},
      `The lines of ${plural(included.length, "control")}; those whose value only you can choose are left out. ` +
        "In nginx, an add_header in an inner block replaces those of outer blocks.",
    ),
    el("ul", {}, ...included.filter(caution).map((c) => el("li", {}, el("strong", {}, c.name), `: ${caution(c)}`))),
    servers("all recommended headers", all),
  );
}

const cutPart = "The answer is cut here, but all of it was checked.";

/** @param {SecurityHeaders} d */
function cookieTable(d) {
  if (d.cookies.length === 0) return null;
  const yes = (/** @type {boolean} */ on) => (on ? "yes" : badge("off", "no"));
  const rows = d.cookies.map((c) => [
    value(c.name || "(no name)"),
    c.issues.length === 0
      ? "nothing"
      : el(
          "ul",
          { class: "values sentence" },
          ...c.issues.map((i) => el("li", {}, badge(...look(i.severity)), ` ${i.message}`)),
        ),
    yes(c.secure),
    yes(c.httpOnly),
    c.sameSite ?? badge("off", "not set"),
  ]);
  const faulty = d.cookies.filter((c) => c.issues.length > 0).length;
  return folded(
    "Cookies",
    `${plural(d.cookies.length, "cookie")}${faulty > 0 ? `, ${faulty} to fix` : ""}`,
    table({
      caption: "Cookies that the answer sets",
      hideCaption: true,
      columns: [
        { title: "Name" },
        { title: "What is wrong" },
        { title: "Secure" },
        { title: "HttpOnly" },
        { title: "SameSite" },
      ],
      rows,
    }),
    cut(d, cutPart),
  );
}

/** @param {SecurityHeaders} d */
function trust(d) {
  if (d.tls?.authorized) return "trusted";
  return findingOf(d, "CERTIFICATE_NOT_VERIFIED") ? "not verified" : `not trusted (${d.tls?.authorizationError})`;
}

/** @param {SecurityHeaders} d */
function answerPart(d) {
  const columns = [{ title: "Header" }, { title: "Value" }];
  return folded(
    "The answer",
    plural(d.headers.length, "header"),
    facts([
      ["URL", value(d.url)],
      ["Final URL", value(d.finalUrl)],
      ["Status", value(d.status, { quiet: true })],
      ["TLS", d.tls ? `${d.tls.version}, ${d.tls.cipher}` : "none: plain HTTP"],
      ["Certificate", d.tls && trust(d)],
      ["Redirects followed", d.redirectCount],
    ]),
    d.redirects.length > 0 &&
      table({
        caption: "Redirects on the way",
        columns: [{ title: "URL" }, { title: "Status", numeric: true }],
        rows: d.redirects.map((r) => [value(r.url), String(r.status)]),
      }),
    more(
      d.truncated ? counted(d.headers.length, true, "header") : `All ${plural(d.headers.length, "header")}`,
      table({
        caption: "Headers of the answer; cookie values are masked",
        columns,
        rows: d.headers.map((h) => [h.name, value(h.value)]),
      }),
      cut(d, cutPart),
    ),
  );
}

/** @type {import("../../lib/view.js").View<SecurityHeaders>} */
export default {
  lessons: () => [
    "These headers let browsers refuse unencrypted connections, scripts of other sites and " +
      "framing. They limit the damage when something else goes wrong.",
  ],
  show: (d, asked) => [
    d.notice ? notice("warn", d.notice) : null,
    ...notes(d),
    overview(d),
    withoutHttps(d.httpRedirect),
    ...controlParts(d, asked),
    everything(d),
    cookieTable(d),
    newerHeaders(d.newerHeaders),
    answerPart(d),
  ],
  // -k: with a certificate that is not trusted curl would show nothing.
  terminal: (_, d) => [
    {
      label: "The headers of the answer",
      command: `curl -sS${d.tls?.authorized === false ? "k" : ""} ${sh`-D - -o /dev/null ${d.finalUrl}`}`,
    },
    ...(d.httpRedirect
      ? [
          {
            label: "The answer without https",
            command: `curl -sS ${sh`-D - -o /dev/null ${`http://${host(d.url).replace(/:\d+$/, "")}/`}`}`,
          },
        ]
      : []),
    ...(d.redirectCount > 0
      ? [{ label: "The way there, with its redirects", command: sh`curl -sSL -D - -o /dev/null ${d.url}` }]
      : []),
  ],
  sources: (d) => [{ name: "The web server itself", url: d.finalUrl }],
};

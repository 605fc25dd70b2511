// @ts-check
// What a site tells browsers to protect its visitors with: control by control, and how to set what is missing.

import { el } from "../lib/dom.js";
import { listed, plural } from "../lib/format.js";
import { badge, code, facts, more, none, notice, section, table, tabs, value } from "../lib/parts.js";
import { sh } from "../lib/shell.js";

/** @typedef {{id: string, name: string, status: "fail" | "warn" | "info" | "pass" | "notApplicable", present: boolean, value: string | null, finding: string, recommendation: string | null, reference: string}} Control */
/** @typedef {{nginx: string[], Apache: string[], Caddy: string[]}} Lines for each server */
/** @typedef {"good" | "warn" | "bad" | "info"} Tone */

/** By urgency: the tone of a status, and the word for it. @type {Record<string, [Tone | "off", string]>} */
const statuses = { fail: ["bad", "fails"], warn: ["warn", "weak"], info: ["info", "could be better"], pass: ["good", "in order"], notApplicable: ["off", "does not apply"] };
const order = Object.keys(statuses);
const signs = { fail: "✗", warn: "!", info: "i", pass: "✓", notApplicable: "–" };

/** What to think of before sending a header. @type {Record<string, string>} */
const cautions = {
  hsts: "includeSubDomains holds for every subdomain: first make sure that all of them answer over https.",
  csp: "Which policy fits depends on what the pages load and cannot be guessed from outside. Content-Security-Policy-Report-Only is a start that blocks nothing: watch the browser's console, add what your pages need, then send it without -Report-Only.",
  coop: "Windows for a login or a payment on another site may lose their tie to the page; try them.",
  coep: "Images, scripts and frames of other sites that do not agree to it stop loading. Send it only where the page needs isolation; it is left out of the lines for everything.",
  corp: "Other sites can no longer show your images and files.",
  "permissions-policy": "Leave out of the list what your pages use.",
  cookies: "The program that sets a cookie is the best place to change it. HttpOnly hides a cookie from the page's own scripts.",
  "information-leak": "nginx passes these on from the program behind it; what it sets itself, only the headers-more module removes.",
};

/** A policy to start with, which breaks nothing. */
const cspStart = "Content-Security-Policy-Report-Only: default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'";

/**
 * The lines that set or remove what a control recommends. Nothing where that is no header, or where its value holds what a
 * server would read as a variable.
 * @param {Control} control
 * @param {{name: string, issues: {code: string}[]}[]} cookies
 * @returns {Lines | null}
 */
export function serverLines({ id, present, recommendation }, cookies) {
  const text = recommendation ?? "";
  if (id === "cookies") return text ? cookieLines(cookies) : null;
  const gone = /Do not send: ([\w-]+(?:, [\w-]+)*)/.exec(text)?.[1].split(", ");
  if (gone) return removal(gone);
  const line = text.startsWith("Content-Security-Policy: default-src") ? cspStart : text.replace(/^.*(?:there|then send|beside it): /, "");
  const [, name, content] = /^([A-Z][A-Za-z-]+): (.+?)(?: \([^()]*\))?$/.exec(line) ?? [];
  return name && name !== "Content-Type" && !/[$%{}`\r\n]/.test(content) ? setting(name, content, present) : null;
}

/** @param {string} name @param {string} text @param {boolean} present @returns {Lines} */
function setting(name, text, present) {
  const quoted = `"${text.replace(/["\\]/g, "\\$&")}"`;
  // Policies add up; of any other header there may be one.
  const adds = name.startsWith("Content-Security-Policy");
  const replaces = present && !adds;
  return {
    nginx: [...(replaces ? [`proxy_hide_header ${name};`] : []), `add_header ${name} ${quoted} always;`],
    Apache: [...(replaces ? [`Header onsuccess unset ${name}`] : []), `Header always ${adds ? "add" : "set"} ${name} ${quoted}`],
    Caddy: [`header ${adds ? "+" : ">"}${name} ${text.includes('"') ? `\`${text}\`` : quoted}`],
  };
}

/** @param {string[]} names @returns {Lines} */
function removal(names) {
  return {
    nginx: names.map((n) => (n === "server" ? "server_tokens off;" : `proxy_hide_header ${n};`)),
    Apache: names.flatMap((n) => (n === "server" ? ["ServerTokens Prod"] : [`Header unset ${n}`, `Header always unset ${n}`])),
    Caddy: names.map((n) => `header -${n}`),
  };
}

/** The attributes that an issue of a cookie asks for. @type {Record<string, string>} */
const attributes = { NOT_SECURE: "Secure", NOT_HTTP_ONLY: "HttpOnly", NO_SAME_SITE: "SameSite=Lax", NONE_WITHOUT_SECURE: "Secure" };

/** @param {{name: string, issues: {code: string}[]}[]} cookies @returns {Lines | null} */
function cookieLines(cookies) {
  const lines = /** @type {Lines} */ ({ nginx: [], Apache: [], Caddy: [] });
  for (const { name, issues } of cookies) {
    const wanted = [...new Set(issues.flatMap((i) => attributes[i.code] ?? []))];
    if (wanted.length === 0 || !/^[\w-]+$/.test(name)) continue;
    lines.nginx.push(`proxy_cookie_flags ${name} ${wanted.join(" ").toLowerCase()};`);
    lines.Apache.push(`Header always edit Set-Cookie "^(${name}=.*)$" "$1; ${wanted.join("; ")}"`);
    lines.Caddy.push(`header >Set-Cookie "^(${name}=.*)$" "$1; ${wanted.join("; ")}"`);
  }
  return lines.nginx.length > 0 ? lines : null;
}

/** @param {string} what @param {Lines} lines */
const servers = (what, lines) => tabs(`Server to configure for ${what}`, Object.entries(lines).map(([title, list]) => ({ title, panel: code(list.join("\n"), `${title}: ${what}`) })));

/** @param {any} d @returns {Control[]} */
const sorted = (d) => d.controls.slice().sort((/** @type {Control} */ a, /** @type {Control} */ b) => order.indexOf(a.status) - order.indexOf(b.status));

/** @param {any} d @param {string} status @returns {Control[]} */
const having = (d, status) => d.controls.filter((/** @type {Control} */ c) => c.status === status);

/** All controls at a glance: a tile each, and below in words which is what. @param {any} d */
function overview(d) {
  const tile = (/** @type {Control} */ c) => el("li", { class: statuses[c.status][0] }, signs[c.status]);
  const row = (/** @type {string} */ status) => having(d, status).length > 0 && el("div", {}, el("dt", {}, badge(...statuses[status])), el("dd", {}, listed(having(d, status).map((c) => c.name))));
  return section("At a glance", el("ol", { class: "sec-strip", "aria-hidden": "true" }, ...sorted(d).map(tile)), el("dl", { class: "facts" }, ...order.map(row)));
}

/** @param {Control} c @param {any} d */
function controlNode(c, d) {
  const lines = serverLines(c, d.cookies);
  return el("article", { class: "sec-control" }, el("h3", {}, c.name, " ", badge(...statuses[c.status])), el("p", {}, c.finding),
    facts([["Sent now", c.value === null ? c.present ? null : none("nothing") : value(c.value || "(empty)")], ["Recommended", c.recommendation && value(c.recommendation)], ["Read more", /^https:/.test(c.reference) ? el("a", { href: c.reference, rel: "noreferrer nofollow" }, c.reference) : c.reference]]),
    lines && more("The lines for nginx, Apache and Caddy", cautions[c.id] && el("p", {}, cautions[c.id]), servers(c.name, lines)));
}

/** Everything that needs no decision of the owner's, for each server. @param {any} d */
function everything(d) {
  const all = /** @type {Lines} */ ({ nginx: [], Apache: [], Caddy: [] });
  const chosen = sorted(d).filter((c) => !(c.id === "coep" && c.status === "info") && !c.recommendation?.includes(".example"));
  const included = chosen.filter((c) => {
    const lines = serverLines(c, d.cookies);
    for (const server of /** @type {const} */ (["nginx", "Apache", "Caddy"])) all[server].push(...(lines?.[server] ?? []));
    return lines;
  });
  if (included.length === 0) return null;
  return section("All of it, ready to paste",
    el("p", {}, `For ${listed(included.map((c) => c.name))}. In nginx, an add_header in an inner block hides those of the outer ones; proxy_hide_header is for pages that come from another server. Read first:`),
    el("ul", {}, ...included.filter((c) => cautions[c.id]).map((c) => el("li", {}, el("strong", {}, c.name), `: ${cautions[c.id]}`))),
    servers("all recommended headers", all));
}

/** @param {any} d */
function cookieTable(d) {
  if (d.cookies.length === 0) return null;
  const yes = (/** @type {boolean} */ on) => (on ? "yes" : badge("off", "no"));
  const rows = d.cookies.map((/** @type {any} */ c) => [value(c.name || "(no name)"), yes(c.secure), yes(c.httpOnly), c.sameSite ?? badge("off", "not set"),
    c.issues.length === 0 ? "nothing" : el("ul", { class: "values" }, ...c.issues.map((/** @type {any} */ i) => el("li", {}, badge(statuses[i.severity][0], i.severity), ` ${i.message}`)))]);
  return section("Cookies", table({ caption: "Cookies that the answer sets", hideCaption: true, columns: [{ title: "Name" }, { title: "Secure" }, { title: "HttpOnly" }, { title: "SameSite" }, { title: "What is wrong" }], rows }));
}

/** @param {any} d */
function answerPart(d) {
  const columns = [{ title: "Header" }, { title: "Value" }];
  return section("The answer that was judged",
    facts([
      ["URL asked", value(d.url)], ["URL judged", value(d.finalUrl)], ["Status", value(d.status)],
      ["TLS", d.tls ? `${d.tls.version}, ${d.tls.cipher}` : "none: plain HTTP"], ["Certificate", d.tls && (d.tls.authorized ? "trusted" : `not trusted (${d.tls.authorizationError})`)],
      ["Redirects followed", d.redirectCount],
    ]),
    d.redirects.length > 0 && table({ caption: "Redirects on the way", columns: [{ title: "URL" }, { title: "Status", numeric: true }], rows: d.redirects.map((/** @type {any} */ r) => [value(r.url), String(r.status)]) }),
    more(`All ${plural(d.headers.length, "header")}`, table({ caption: "Headers of the answer; cookie values are masked", columns, rows: d.headers.map((/** @type {any} */ h) => [h.name, value(h.value)]) })));
}

/** @param {string} url */
const host = (url) => new URL(url).host;

/** The first sentence of a finding that says something by itself. @param {Control} c */
const gist = (c) => c.finding.replace(/^\d+ (?:cookie|policies)[^.]*\. /, "").match(/^.*?\.(?= [A-Z“]|$)/s)?.[0] ?? c.finding;

/** @param {any} d @returns {import("../lib/view.js").Verdict} */
function verdict(d) {
  const { fail, warn, info, pass } = d.summary;
  const counts = listed([fail && `${plural(fail, "control")} ${fail === 1 ? "fails" : "fail"}`, warn && `${warn} ${warn === 1 ? "is" : "are"} weak`, info && `${info} could be better`, `${pass || "none"} ${pass > 1 ? "are" : "is"} in order`].filter(Boolean));
  return { tone: fail ? "bad" : warn || d.notice ? "warn" : "good", text: `${host(d.finalUrl)}: ${counts}${d.notice ? ", on an answer that may not be the site's page" : ""}.` };
}

/** @param {any} d @returns {import("../lib/view.js").Concern[]} */
function concerns(d) {
  const weak = having(d, "warn");
  return [
    ...having(d, "fail").map((c) => ({ tone: /** @type {const} */ ("bad"), text: `${c.name} of ${host(d.finalUrl)}: ${gist(c)}` })),
    ...(weak.length > 0 ? [{ tone: /** @type {const} */ ("warn"), text: `Weak security headers of ${host(d.finalUrl)}: ${listed(weak.map((c) => c.name))}.` }] : []),
  ];
}

/** @param {any} d */
function meaning(d) {
  const list = ["With these headers a site tells browsers what to refuse on its behalf: unencrypted connections, foreign script, frames around its pages. They are a second line of defence, which limits what a mistake elsewhere can cost."];
  if (d.summary.fail > 0) list.push("A missing header is no break-in by itself. Begin with those at the top: they cost little and stop the most common attacks.");
  if (d.summary.info > 0) list.push("What could be better is optional; whether it fits depends on the site.");
  return list;
}

/** Values that are new in every answer stay out of comparisons. @param {Control} c */
const lasting = (c) => (c.value === null ? "" : `: ${c.id === "information-leak" ? c.recommendation ?? "" : c.value.replace(/'nonce-[^']*'/g, "'nonce-…'")}`);

/** @type {import("../lib/view.js").View} */
export default {
  verdict, concerns, meaning,
  show: (d) => [d.notice && notice("warn", d.notice), overview(d), section("Controls, most urgent first", ...sorted(d).map((c) => controlNode(c, d))), everything(d), cookieTable(d), answerPart(d)],
  terminal: (_, d) => [{ label: "The headers of the answer that was judged", command: sh`curl -sS -D - -o /dev/null ${d.finalUrl}` }, { label: "The way there, with its redirects", command: sh`curl -sSL -D - -o /dev/null ${d.url}` }],
  facts: (d) => ({ "Answer": `${d.status} ${d.finalUrl}`, ...Object.fromEntries(d.controls.map((/** @type {Control} */ c) => [c.name, c.status + lasting(c)])) }),
};

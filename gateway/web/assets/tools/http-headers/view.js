// @ts-check
// One request: its timing, its status, its headers.

import { el } from "../../lib/dom.js";
import { findingOf } from "../../lib/findings.js";
import { counted, host, listed, ms, plural } from "../../lib/format.js";
import { http3Facts, http3Part } from "../../lib/http3.js";
import { remarks } from "../../lib/notes.js";
import { badge, cut, facts, folded, none, section, table, value } from "../../lib/parts.js";
import { waterfall } from "../../lib/picture.js";
import { sh } from "../../lib/shell.js";
import { statusShown } from "../../lib/statuses.js";
import { timingFacts } from "../../lib/timings.js";

import { coding } from "./facts.js";

/** @typedef {import("./facts.js").HttpHeaders} HttpHeaders */
/** @typedef {import("./facts.js").Header} Header */

/** What well-known headers are for. @type {Record<string, string>} */
const purposes = {
  "accept-ranges": "Whether parts of the file can be requested, as for resuming a download.",
  "access-control-allow-origin": "Which other sites' scripts may read this answer.",
  age: "For how many seconds a cache has held this answer.",
  allow: "Which request methods the server accepts here.",
  "alt-svc": "Other protocols or ports that serve the site, such as HTTP/3.",
  "cache-control": "Who may keep this answer, and for how long.",
  "cf-cache-status": "Whether Cloudflare answered from its cache.",
  "cf-ray": "Cloudflare's ID for this request.",
  "content-disposition": "Whether browsers show the content or save it as a file.",
  "content-encoding": "How the content is compressed.",
  "content-language": "The language of the intended audience.",
  "content-security-policy": "What the page may load and run, as a guard against injected scripts.",
  "cross-origin-opener-policy": "Keeps the page apart from windows of other sites.",
  "cross-origin-resource-policy": "Which sites may embed this content.",
  etag: "An identifier of this version, by which caches check whether their copy is current.",
  expires: "How long caches may use this answer.",
  "last-modified": "When the content last changed.",
  link: "Related addresses, such as files to load early or the canonical page.",
  location: "Where the server sends the visitor.",
  nel: "Where browsers report failed connections.",
  "permissions-policy": "Which browser features, such as the camera, the page may use.",
  "referrer-policy": "How much of this address other sites learn from links.",
  "report-to": "Where browsers send reports about this site.",
  "retry-after": "When to try again.",
  "server-timing": "How long parts of the server's work took, by its own account.",
  "set-cookie": "A cookie for the browser to keep. Its value is masked here.",
  "strict-transport-security": "Makes browsers use only HTTPS for this host from now on.",
  "transfer-encoding": "How the content is encoded for transfer, as in chunks.",
  vary: "Which parts of a request change the answer; caches keep a copy for each.",
  via: "Proxies that the answer came through.",
  "www-authenticate": "How to sign in.",
  "x-cache": "Whether a cache had the answer.",
  "x-content-type-options": "Stops browsers from guessing the content type.",
  "x-frame-options": "Whether other sites may show the page in a frame.",
  "x-powered-by": "The software that made the page, by its own account.",
  "x-robots-tag": "What search engines may do with this page.",
};

const cutPart = "Part of the answer was cut: the server sent more headers, or longer ones, than are shown.";

/** @param {HttpHeaders} d */
function certificate(d) {
  if (findingOf(d, "CERTIFICATE_NOT_VERIFIED")) return none("not verified");
  const fault = d.tls?.authorizationError;
  return fault
    ? el("span", {}, badge("bad", "not valid"), " ", value(fault, { what: "error", quiet: true }))
    : badge("good", "valid");
}

/** @param {string} url */
function onward(url) {
  if (url.endsWith("…")) return value(url, { what: "URL" }); // it was cut, and leads nowhere
  const link = (/** @type {string} */ slug, /** @type {string} */ text) =>
    el("a", { href: `/tools/${slug}?input=${encodeURIComponent(url)}` }, text);
  return el(
    "span",
    {},
    value(url, { what: "URL" }),
    el("br"),
    link("redirect-checker", "Follow it to the end"),
    " · ",
    link("http-headers", "See its headers"),
  );
}

/** @param {HttpHeaders} d */
const alternatives = (d) =>
  d.alternatives &&
  (d.alternatives.length > 0
    ? el("span", {}, listed(d.alternatives.map((a) => `${a.protocol} at ${a.host ?? "this host"}, port ${a.port}`)))
    : none("not offered in this answer"));

/** @param {HttpHeaders} d */
function compressed(d) {
  if (coding(d)) return el("span", {}, coding(d));
  return findingOf(d, "NOT_COMPRESSED") ? badge("warn", "not compressed") : none("none");
}

/** @param {Header[]} headers @param {boolean} [part] whether a part of the answer was cut */
function headerTable(headers, part) {
  const rows = headers.map((h, i) => [
    el("span", { class: "mono" }, h.name),
    el(
      "div",
      {},
      value(h.value, { what: h.name }),
      purposes[h.name] && h.name !== headers[i - 1]?.name && el("div", { class: "hint" }, purposes[h.name]),
    ),
  ]);
  return table({
    caption: `${counted(headers.length, part, "header")}; repeated headers are listed separately.`,
    columns: [{ title: "Name" }, { title: "Value" }],
    rows,
  });
}

/** @type {import("../../lib/view.js").View<HttpHeaders>} */
export default {
  show(d) {
    return [
      ...remarks(d, /^HTTP3_/),
      section("Where the time went", waterfall([{ title: host(d.url), timings: d.timings }]), timingFacts(d.timings)),
      section(
        "Headers",
        d.headers.length === 0 ? none("The answer has no headers.") : headerTable(d.headers, d.truncated),
        cut(d, cutPart),
      ),
      http3Part(d),
      folded(
        "The answer",
        "address, protocol, TLS, compression",
        facts([
          ["Status", statusShown(d.status, d.statusText)],
          ["URL", value(d.url, { what: "URL" })],
          ["Redirects to", d.redirectsTo && onward(d.redirectsTo)],
          ["Address", value(d.address, { what: "address" })],
          ["Protocol", d.httpVersion],
          ["Bot challenge", d.challenge?.vendor],
          ["Other ways to the site (Alt-Svc)", alternatives(d)],
          ["Compression", d.compression && compressed(d)],
          ["Response time", ms(d.responseTimeMs)],
          ["TLS version", d.tls ? d.tls.version : none("none: the connection is not encrypted")],
          ["Cipher suite", d.tls && value(d.tls.cipher, { what: "cipher suite", quiet: true })],
          ["Certificate", d.tls && certificate(d)],
        ]),
      ),
      ...(d.informational ?? []).map((a) =>
        folded(
          `Before the answer: ${`${a.status} ${a.statusText}`.trim()}`,
          plural(a.headers.length, "header"),
          a.headers.length === 0 ? none("It has no headers.") : headerTable(a.headers, d.truncated),
        ),
      ),
    ];
  },

  second: http3Facts,

  terminal(_, d) {
    const trust = d.tls && !d.tls.authorized ? "-k " : "";
    // The answer depends on what is offered, which is the service's own list.
    const offer = d.compression ? `${sh`-H ${`Accept-Encoding: ${d.compression.offered.join(", ")}`}`} ` : "";
    const format =
      "DNS %{time_namelookup} s, connected %{time_connect} s, TLS %{time_appconnect} s, first byte " +
      "%{time_starttransfer} s\\n";
    return [
      {
        label: trust ? "The status and headers; -k goes on in spite of the certificate" : "The status and headers",
        command: `curl -sS ${trust}${offer}-D - -o /dev/null ${sh`${d.url}`}`,
      },
      {
        label: "The times, each counted from the start",
        command: `curl -sS ${trust}-o /dev/null -w ${sh`${format} ${d.url}`}`,
      },
    ];
  },
  sources: (d) => [{ name: "The web server itself", url: d.url }],
};

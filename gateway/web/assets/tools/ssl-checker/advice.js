// @ts-check
// What to change in a web server: in words, and as lines for its configuration.

import { el } from "../../lib/dom.js";
import { inFull, findingOf } from "../../lib/findings.js";
import { plural } from "../../lib/format.js";
import { code, more, section, tabs } from "../../lib/parts.js";
import { changesFor, configurations, pressing } from "./servers.js";
import { rowsOf, suitesOf } from "./suites.js";

/** @typedef {import("./suites.js").SslChecker} SslChecker */
/** @typedef {import("./servers.js").Change} Change */

/** @param {SslChecker} d */
export function advice(d) {
  const changes = changesFor(d);
  if (changes.length === 0) return null;
  const panels = configurations(changes).map(([title, text]) => ({
    title,
    panel: el("div", {}, el("p", {}, places[title](changes)), code(text, `${title}: lines to change`)),
  }));
  const list = el(
    "ul",
    { class: "prose" },
    ...changes.flatMap((change) => reasons[change](d).map((text) => el("li", {}, text))),
  );
  const servers = tabs("Server to configure", panels);
  return pressing(d)
    ? section("What to change", list, servers)
    : section("Suggestions", list, more("The lines for nginx, Apache and Caddy", servers));
}

/** What each change is for, and which clients it may exclude. @type {Record<Change, (d: SslChecker) => string[]>} */
const reasons = {
  versions: (d) =>
    [
      inFull(findingOf(d, "SSL3", "ONLY_SSL3")),
      inFull(findingOf(d, "DEPRECATED_PROTOCOL", "ONLY_OUTDATED_PROTOCOLS")),
      findingOf(d, "SSL3", "ONLY_SSL3", "DEPRECATED_PROTOCOL", "ONLY_OUTDATED_PROTOCOLS")
        ? "Programs without a newer version, most of them from before 2014, can then no longer connect."
        : "",
      findingOf(d, "NO_TLS13")
        ? `${inFull(findingOf(d, "NO_TLS13"))} It connects faster and has no weak cipher suites. It needs OpenSSL ` +
          "1.1.1 or later."
        : "",
    ].filter(Boolean),
  suites: (d) => [
    `Accept only strong cipher suites. ${leaving(d)}Every client of the last ten years supports one of the ` +
      "rest; they work with RSA and with ECDSA certificates.",
  ],
  chain: () => [
    "Put the server's certificate and then each intermediate, in order and without the root, into one file. " +
      "Below it is called fullchain.pem, as many tools name it; the folder is an example.",
  ],
};

/** How many suites that leaves out. @param {SslChecker} d */
function leaving(d) {
  const rows = rowsOf(suitesOf(d));
  const n = rows.filter((row) => [...row.at.values()].some((strength) => strength !== "strong")).length;
  return n > 0 ? `That leaves out ${n} of its ${plural(rows.length, "suite")}. ` : "";
}

/** Where the lines belong. @type {Record<string, (changes: Change[]) => string>} */
const places = {
  nginx: (changes) =>
    [
      tuned(changes) &&
        "In the http block, in place of such lines there and in server blocks: sites that share a port may all " +
          "get the versions of the first.",
      changes.includes("suites") &&
        "Remove ssl_dhparam lines: none of these suites needs one, and with a short one nginx may no longer start.",
      changes.includes("chain") && "ssl_certificate stands in the site's server block.",
      "Then nginx -t, and reload.",
    ]
      .filter(Boolean)
      .join(" "),
  Apache: (changes) =>
    [
      tuned(changes) &&
        "Outside of every <VirtualHost>, in place of such lines there and inside: sites that share a port may " +
          "all get the versions of the first.",
      changes.includes("chain") && "SSLCertificateFile stands in the site's <VirtualHost>.",
      "Then apachectl configtest, and reload.",
    ]
      .filter(Boolean)
      .join(" "),
  Caddy: (changes) =>
    [
      "In the block of the site.",
      tuned(changes) &&
        "By default Caddy accepts only strong suites of TLS 1.2 and 1.3, so removing your lines works as well.",
      "Then caddy validate, and reload.",
    ]
      .filter(Boolean)
      .join(" "),
};

/** @param {Change[]} changes */
const tuned = (changes) => changes.some((change) => change !== "chain");

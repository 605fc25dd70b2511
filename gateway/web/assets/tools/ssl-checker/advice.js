// @ts-check
// What to change in a web server: in words, and as lines for its configuration.

import { el } from "../../lib/dom.js";
import { inFull, findingOf } from "../../lib/findings.js";
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
        ? "Programs that support nothing newer, mostly from before 2014, can then no longer connect."
        : "",
      findingOf(d, "NO_TLS13")
        ? `${inFull(findingOf(d, "NO_TLS13"))} It connects faster and has no weak cipher suites. It needs OpenSSL ` +
          "1.1.1 or later."
        : "",
    ].filter(Boolean),
  suites: (d) => [`${weakSuites(d)} Every client of the last ten years still connects.`.trim()],
  chain: () => [
    "Put the server’s certificate and then each intermediate, in order and without the root, into " +
      "one file. Here it is called fullchain.pem; the folder is an example.",
  ],
};

/** @param {SslChecker} d */
function weakSuites(d) {
  const rows = rowsOf(suitesOf(d));
  const n = rows.filter((row) => [...row.at.values()].some((strength) => strength !== "strong")).length;
  if (n === 0) return "";
  return `Disable the ${n === 1 ? "one weak cipher suite" : `${n} weak cipher suites`} of ${rows.length}.`;
}

/** Where the lines belong. @type {Record<string, (changes: Change[]) => string>} */
const places = {
  nginx: (changes) =>
    [
      tuned(changes) &&
        "Put these lines into the http block and remove such lines from the server blocks, because " +
          "sites that share a port may all get the versions of the first.",
      changes.includes("suites") &&
        "Remove ssl_dhparam lines: these suites do not need them, and a short parameter may keep " +
          "nginx from starting.",
      changes.includes("chain") && "ssl_certificate belongs in the site’s server block.",
      "Then nginx -t, and reload.",
    ]
      .filter(Boolean)
      .join(" "),
  Apache: (changes) =>
    [
      tuned(changes) &&
        "Put these lines outside every <VirtualHost> and remove such lines elsewhere, because sites " +
          "that share a port may all get the versions of the first.",
      changes.includes("chain") && "SSLCertificateFile belongs in the site’s <VirtualHost>.",
      "Then apachectl configtest, and reload.",
    ]
      .filter(Boolean)
      .join(" "),
  Caddy: (changes) =>
    [
      "Put these lines into the site’s block.",
      tuned(changes) &&
        "By default Caddy accepts only strong suites of TLS 1.2 and 1.3, so you can also just remove your lines.",
      "Then caddy validate, and reload.",
    ]
      .filter(Boolean)
      .join(" "),
};

/** @param {Change[]} changes */
const tuned = (changes) => changes.some((change) => change !== "chain");

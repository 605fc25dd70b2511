// @ts-check
// The visitor's own address, large; or why we can't show it, and what the operator can do about it.

import { runTool } from "../../lib/api.js";
import { announce, el } from "../../lib/dom.js";
import { renderFailure } from "../../lib/failure.js";
import { addressLinks, originWords } from "../../lib/network.js";
import { code, copyAction, facts, folded, none, section, value } from "../../lib/parts.js";
import { sh } from "../../lib/shell.js";

/** @typedef {import("api").components["schemas"]["MyIp"]} MyIp */

/** @param {string} ip @param {MyIp["version"]} version */
function addressPart(ip, version) {
  return el(
    "div",
    { class: "my-ip" },
    el("p", { class: `my-ip-address mono v${version}` }, ip),
    el("p", { class: "my-ip-family" }, `IPv${version}`),
    copyAction("Copy address", ip),
  );
}

/**
 * Network, country and name of the address, which are looked up on request: it takes queries to others.
 * @param {string} ip
 */
function lookupPart(ip) {
  const button = el("button", { type: "button", class: "second", id: "look-up" }, "Look up network, country and name");
  const place = el("div", {}, button);
  button.addEventListener("click", async () => {
    button.disabled = true;
    button.textContent = "Looking up…";
    const answer = await runTool("ip-geolocation", ip, {}, new AbortController().signal);
    const d = /** @type {import("api").components["schemas"]["IpGeolocation"] | undefined} */ (
      /** @type {unknown} */ (answer.data)
    );
    place.replaceChildren(d ? found(d) : renderFailure(answer));
    announce(d ? "Network, country and name are shown." : (answer.error ?? "No result."));
  });
  return section("Network, country and name", place);
}

/** @param {import("api").components["schemas"]["IpGeolocation"]} d */
const found = (d) =>
  facts([
    ["Network", d.asn ? el("span", {}, originWords(d.asn)) : none("not announced")],
    ["Holder", d.organization ? el("span", {}, d.organization) : none("not published")],
    ["Country of registration", d.country ? el("span", {}, d.countryName ?? d.country) : none("not known")],
    ["Name", d.hostname ? value(d.hostname, { what: "name" }) : none()],
  ]);

/** What the operator can set: where the service stands, the setting, and what it does. */
const settings = [
  [
    "Behind your own proxy",
    "TRUST_PROXY_HEADERS=true",
    "Trusts the header in which a proxy passes on the visitor’s address.",
  ],
  [
    "Which header",
    "CLIENT_ADDRESS_HEADER=x-real-ip",
    "Trusts only this header; name the one that your proxy overwrites. Without it, visitors can forge their " +
      "address through most proxies. In x-forwarded-for the last address counts, or with TRUSTED_PROXY_HOPS the " +
      "one at that place from the right.",
  ],
  [
    "Behind Cloudflare or Vercel",
    "TRUSTED_PROXY_PLATFORM=cloudflare",
    "Trusts the header of that platform; the other value is vercel. Not needed where CF_PAGES=1 or VERCEL=1 is set.",
  ],
  [
    "To be stricter",
    "TRUSTED_PROXY_CIDRS=10.0.0.0/8",
    "Trusts headers only from proxies in these ranges; put yours in place of the example. It only narrows " +
      "trust and grants none by itself.",
  ],
];

function operatorPart() {
  return folded(
    "For the operator of this service",
    "settings that show visitors their address",
    el(
      "p",
      {},
      "The address is taken only from a proxy that the operator trusts. It is never guessed from the " +
        "connection, since its other end is probably that proxy.",
    ),
    facts(
      settings.map(([where, setting, does]) => [
        where,
        el("div", {}, value(setting, { what: "setting" }), el("p", {}, does)),
      ]),
    ),
    el(
      "p",
      {},
      "Unless the trusted header is x-forwarded-for, your proxy must overwrite it with one public address, " +
        "IPv4 or IPv6, whatever the visitor sent. In nginx:",
    ),
    code("proxy_set_header X-Real-IP $remote_addr;", "the line for nginx"),
  );
}

/** @type {import("../../lib/view.js").View<MyIp>} */
export default {
  show: (d) =>
    d.available && d.ip !== null
      ? [addressPart(d.ip, d.version), lookupPart(d.ip), addressLinks(d.ip, "my-ip")]
      : [operatorPart()],

  terminal: () => [
    {
      label: "Ask this service from another machine",
      command:
        `curl -s -X POST ${sh`-H ${"Content-Type: application/json"} -d ${'{"input":""}'}`} ` +
        sh`${location.origin}/api/tools/my-ip`,
    },
    { label: "Ask a public resolver, over IPv4", command: "dig -4 +short myip.opendns.com A @resolver1.opendns.com" },
    { label: "The same over IPv6", command: "dig -6 +short myip.opendns.com AAAA @resolver1.opendns.com" },
    { label: "The addresses of your own machine (Linux)", command: "ip -brief address" },
  ],
  sources: (d) => (d.available ? [{ name: "The proxy in front of this service, in a header" }] : []),
};

// @ts-check
// Whether a target opens for the visitor too: their answer beside the service's own says where the fault is. Nothing is
// requested, and nothing is kept.

import { el } from "./dom.js";
import { linkTo } from "./fitting.js";
import { bracketed, recognise } from "./recognise.js";

/** @typedef {import("./view.js").Asked} Asked */
/** @typedef {{text: string, links: [string, string][]}} Meaning links are words and where they lead */

/**
 * What both answers mean together.
 * @param {boolean} here whether the service reaches it
 * @param {boolean} there whether the visitor does
 * @param {string} host
 * @param {string} url where the visitor opens it
 * @param {boolean} places whether there are other places to ask
 * @returns {Meaning}
 */
export function meaningOf(here, there, host, url, places) {
  const everywhere = /** @type {[string, string][]} */ (
    places ? [["Check from all places", linkTo("uptime", url, { place: "all" })]] : []
  );
  if (here && there)
    return {
      text: "It opens from here and for you. If it fails for someone else, check their network first.",
      links: everywhere,
    };
  if (here)
    return {
      text: "It opens from here, so the fault is on your side or on the path: your DNS, network, VPN or a filter.",
      links: [
        ...everywhere,
        ["Compare public resolvers", linkTo("dns-resolver-check", host)],
        ["Ping this service from your browser", "/tools/ping"],
        ["See your own address", "/tools/my-ip"],
      ],
    };
  if (there)
    return {
      text:
        "It opens for you but not from here. Likely causes: a firewall that blocks data centres, a " +
        "broken IPv4 or IPv6 path, or a site open only to some countries.",
      links: [...everywhere, ["Follow the path from here", linkTo("traceroute", host)]],
    };
  return {
    text: "It opens neither from here nor for you: the fault is most likely at the site itself.",
    links: [...everywhere, ["Run every check", linkTo("report", host)]],
  };
}

/**
 * The question with its two answers; null where what was asked for has no host.
 * @param {boolean} here whether the service reaches it
 * @param {Asked} asked
 * @returns {HTMLElement | null}
 */
export function askVisitor(here, asked) {
  const found = recognise(asked.input);
  const host = found?.host;
  if (!host) return null;
  const url = found.inputs.url ?? `https://${bracketed({ host })}/`;
  const places = document.getElementById("place") !== null;
  const answer = el("div", { "aria-live": "polite" });
  const buttons = [true, false].map((there) => {
    const button = el(
      "button",
      { type: "button", class: "quiet", "aria-pressed": "false" },
      there ? "It does" : "It does not",
    );
    button.addEventListener("click", () => {
      for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
      const { text, links } = meaningOf(here, there, host, url, places);
      const list = links.map(([words, href]) => el("li", {}, el("a", { href }, words)));
      answer.replaceChildren(el("p", {}, text), ...(list.length > 0 ? [el("ul", {}, ...list)] : []));
    });
    return button;
  });
  const question = "Does it open for you?";
  const choice = el("p", { role: "group", "aria-label": question }, ...buttons);
  return el("div", { class: "for-you" }, el("p", {}, question), choice, answer);
}

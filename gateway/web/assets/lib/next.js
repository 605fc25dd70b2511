// @ts-check
// What to do after a check without a result: what the failure usually means, and other checks of the target.

import { linkTo } from "./fitting.js";
import { recognise } from "./recognise.js";

/** @typedef {import("./view.js").Asked} Asked */
/** @typedef {{label: string, href: string}} Step */

/** Kinds of input whose tools query registries, name servers and the like about a target, not the target itself. */
const askedAbout = ["domain", "address", "network", "registration", "none"];

/** The tools whose measurements the diagnostics worker makes: they fail with it, never because of the target. */
const measured = ["ping", "packet-loss", "traceroute"];

/** What failures mean that are not the target's, by the status of the answer. @type {Record<number, string>} */
const ours = {
  0: "Usually your connection dropped for a moment, or this service is being updated.",
  403:
    "This service only takes requests from its own pages. Usually a browser extension or a proxy has changed the " +
    "request.",
  429: "Limits like this one keep the service from being used to flood others. They say nothing about the target.",
  500:
    "This is a fault of this service and says nothing about the target. If it happens again, the request ID " +
    "below shows the operator where to look.",
  501: "The operator has not enabled this check. The others work without it.",
  503: "This service is busy or lacks something that the check needs. That says nothing about the target.",
};

/**
 * The tones of failures that say nothing about the target; a limit, or a check that is off, is no fault at all. @type
 * {Record<number, import("./view.js").Tone>}
 */
const tones = { 0: "warn", 403: "warn", 429: "info", 500: "warn", 501: "info", 503: "warn" };

/** The colour of a failure: red is the target's alone. @param {import("./api.js").Answer} answer */
export const failureTone = ({ status }) => tones[status] ?? "bad";

/** Whether this service failed, or the way to it, and no target. @param {import("./api.js").Answer} answer */
export const own = ({ status }) => [0, 500, 503].includes(status);

/**
 * What a failure usually means, in a sentence or two; empty where the API's sentence is enough.
 * @param {import("./api.js").Answer} answer
 * @param {string} kind of the tool's input
 * @param {string} slug of the tool
 * @returns {string}
 */
export function usually({ status, stage }, kind, slug) {
  if (measured.includes(slug) && (status === 502 || status === 504))
    return "A part of this service, or a name server that it queried, did not answer. The target itself may be fine.";
  const direct = !askedAbout.includes(kind);
  if (status === 502)
    return direct
      ? "Check the host and the port: another kind of server may listen there, or none."
      : "Usually a name server or registry on the way to the answer is down or refuses to answer. The target " +
          "itself may be fine.";
  if (status === 504)
    return direct
      ? accepted(stage)
        ? "The server accepts connections, so no firewall is in the way. Usually it is overloaded, or the program " +
          "that should answer hangs."
        : "Usually the server is down or too busy to answer in time, or a firewall drops what is sent to it."
      : "Usually a name server or registry on the way to the answer is slow or down. The target itself may be fine.";
  return ours[status] ?? "";
}

/** Whether a server had accepted a connection when the run ended. @param {import("./steps.js").Stage} [stage] */
const accepted = (stage) => typeof stage?.connectMs === "number" || ["waiting", "reading"].includes(stage?.stage ?? "");

/** The most usual ports. */
const ports = [443, 80, 25, 22];

/**
 * The checks that fit instead, the best first.
 * @param {string} kind of the tool's input
 * @param {Asked} asked
 * @returns {Step[]}
 */
export function nextSteps(kind, { slug, input }) {
  const found = recognise(input);
  if (!found) return [];
  const { address, domain, host = domain } = found.inputs;
  if (kind === "hostPort" && (found.kind === "domain" || found.kind === "address")) {
    const before = host?.includes(":") ? `[${host}]` : host;
    return ports.map((port) => step(`Port ${port}`, slug, `${before}:${port}`));
  }
  if (kind === "domain" && address) return aboutAddress(slug, address);
  if (domain && slug !== "dns-lookup") return [step(`Look up the addresses of ${domain}`, "dns-lookup", domain)];
  return [];
}

/**
 * @param {string} slug
 * @param {string} address where a name was wanted
 * @returns {Step[]}
 */
function aboutAddress(slug, address) {
  const bytes = address.split(".");
  const reverse = bytes.length === 4 ? `${bytes.reverse().join(".")}.in-addr.arpa` : null;
  const steps = [step(`Find the network of ${address}`, "ip-geolocation", address)];
  return slug === "dns-lookup" && reverse ? [step(`Look up ${reverse}`, slug, reverse), ...steps] : steps;
}

/** @param {string} label @param {string} slug @param {string} input @returns {Step} */
const step = (label, slug, input) => ({ label, href: linkTo(slug, input) });

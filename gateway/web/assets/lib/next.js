// @ts-check
// What to do after a check without a result: what the failure usually means, and other checks of the target.

import { toneOf } from "./findings.js";
import { linkTo } from "./fitting.js";
import { recognise } from "./recognise.js";

/** @typedef {import("./view.js").Asked} Asked */
/** @typedef {{label: string, href: string}} Step */

/**
 * What a failure means that says nothing about the target and has no conclusion, by the status of the answer. @type
 * {Record<number, string>}
 */
export const ours = {
  0: "Usually your connection dropped for a moment, or this service is being updated.",
  403:
    "This service accepts requests only from its own pages. Usually a browser extension or a " +
    "proxy has changed the request.",
  429: "The limits keep this service from being used to flood others. They say nothing about the target.",
  500:
    "This is a fault of this service and says nothing about the target. If it happens again, the request ID " +
    "below shows the operator where to look.",
  501: "The operator has not enabled this check. The others work without it.",
  503: "This service is busy or lacks something that the check needs. This says nothing about the target.",
};

/**
 * The tones of failures that say nothing about the target; a limit, or a check that is off, is no fault at all. @type
 * {Record<number, import("./view.js").Tone>}
 */
const tones = { 0: "warn", 403: "warn", 429: "info", 500: "warn", 501: "info", 503: "warn" };

/** The colour of a failure: red is the target's alone. @param {import("./api.js").Answer} answer */
export const failureTone = ({ status, conclusion }) => (conclusion ? toneOf({ conclusion }) : (tones[status] ?? "bad"));

/** Whether this service failed, or the way to it, and no target. @param {import("./api.js").Answer} answer */
export const own = ({ status, conclusion }) =>
  conclusion ? conclusion.state === "unknown" : [0, 500, 503].includes(status);

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

// @ts-check
// A target in headings and titles. Only a target that the service has accepted is named there: a link would otherwise
// put a stranger's words at the head of a page of ours.

import { el } from "./dom.js";

/** More characters of a path and query are not in a heading, as in pages.go. */
const longestPath = 32;

/**
 * The parts of a target as a heading shows them, and its host for the title.
 * @param {string} target one that the service has accepted
 * @returns {{host: string, text: string, path: string}} text is the target up to its path, path that and the query,
 *   shortened
 */
export function partsOf(target) {
  if (/^https?:/i.test(target) && URL.canParse(target)) {
    const { protocol, host, hostname, pathname, search } = new URL(target);
    const path = `${pathname}${search}`;
    const shown = path.length > longestPath ? `${path.slice(0, longestPath)}…` : path;
    return { host: bare(hostname), text: `${protocol}//${host}`, path: path === "/" ? "" : shown };
  }
  const asn = /^(?:as)?(\d+)$/i.exec(target);
  if (asn) return { host: `AS${asn[1]}`, text: `AS${asn[1]}`, path: "" };
  const [, inside, name, port = ""] = /^(?:\[([^\]]*)\]|([^:]*))(:\d+)?$/.exec(target) ?? [];
  const host = canonical(inside ?? name ?? target);
  return { host, text: port ? `${host.includes(":") ? `[${host}]` : host}${port}` : host, path: "" };
}

/** A host in lower case and in A-labels, as the service writes it. @param {string} host */
function canonical(host) {
  const address = `http://${host.includes(":") ? `[${host}]` : host.replace(/\.$/, "")}/`;
  return URL.canParse(address) ? bare(new URL(address).hostname) : host;
}

/** @param {string} hostname */
const bare = (hostname) => hostname.replace(/^\[|\]$/g, "");

/** The content of a heading. @param {{text: string, path: string}} parts @returns {(string | Node)[]} */
export const headingOf = ({ text, path }) => (path ? [text, el("code", {}, path)] : [text]);

/**
 * Whether an answer shows that the service has accepted the target: it ran. A refused input is 400; a limit says
 * nothing of it.
 * @param {import("./api.js").Answer} answer
 */
export const ran = ({ data, status }) => Boolean(data) || status === 502 || status === 504;

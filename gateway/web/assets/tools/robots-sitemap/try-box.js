// @ts-check
// A box to try a path against a robots.txt and a crawler's name.

import { el, freshId } from "../../lib/dom.js";
import { mark } from "../../lib/parts.js";
import { known } from "./crawlers.js";
import { mayFetch } from "./matcher.js";
import { spell } from "./facts.js";

/** @typedef {import("./matcher.js").Rule} Rule */
/** @typedef {Pick<import("./facts.js").RobotsSitemap["robots"], "status" | "httpStatus" | "groups">} Robots */

/** How many of the file's crawlers are listed to choose from. */
const mostNames = 100;

/**
 * A form that tries a path against the rules as one types.
 * @param {Robots} robots
 * @param {URL} url of the check: its path is tried first
 * @param {{lines: Map<number, HTMLElement>, box?: HTMLElement}} file
 */
export function tryBox(robots, url, { lines, box }) {
  const names = [
    ...new Set([...robots.groups.flatMap((g) => g.userAgents).slice(0, mostNames), ...Object.keys(known)]),
  ].filter((n) => n !== "*");
  const listId = freshId("crawlers");
  const crawler = el("input", {
    id: freshId("crawler"),
    value: "Googlebot",
    list: listId,
    maxlength: 200,
    autocomplete: "off",
    spellcheck: "false",
  });
  const path = el("input", {
    id: freshId("path"),
    value: url.pathname + url.search,
    maxlength: 2000,
    autocomplete: "off",
    spellcheck: "false",
  });
  const out = el("div", { class: "rs-out", role: "status" });
  const decide = (/** @type {boolean} */ byHand) => {
    const tried = asURL(path.value);
    const { line, nodes } = decision(
      robots,
      crawler.value.trim(),
      tried ? tried.pathname + tried.search : asPath(path.value),
    );
    const foreign = tried && tried.host !== url.host;
    out.replaceChildren(
      ...nodes,
      ...(foreign
        ? [el("p", { class: "hint" }, `This file covers only ${url.host}; ${tried.host} has its own rules.`)]
        : []),
    );
    for (const [n, node] of lines) node.classList.toggle("rs-decides", n === line);
    const at = byHand && line && lines.get(line);
    if (at && box) box.scrollTop = at.offsetTop - box.clientHeight / 2;
  };
  decide(false);
  const form = el(
    "form",
    { class: "tool rs-try" },
    el(
      "div",
      { class: "field" },
      el("label", { for: crawler.id }, "Crawler"),
      crawler,
      el("datalist", { id: listId }, ...names.map((n) => el("option", { value: n }))),
    ),
    el("div", { class: "field wide" }, el("label", { for: path.id }, "Path, or a whole URL"), path),
    out,
  );
  form.addEventListener("input", () => decide(true));
  form.addEventListener("submit", (event) => event.preventDefault());
  return form;
}

/** @param {string} text */
function asURL(text) {
  return /^\s*https?:/i.test(text) && URL.canParse(text) ? new URL(text) : null;
}

/** @param {string} text @returns {string} a path with its query, without a fragment */
function asPath(text) {
  const path = text.trim().split("#")[0];
  return path.startsWith("/") ? path : `/${path}`;
}

/** The group that a crawler follows, in words. @param {string} crawler @param {string} agent the name of the group */
function group(crawler, agent) {
  const named = crawler.toLowerCase().startsWith(agent.toLowerCase());
  return `${agent === "*" ? "all crawlers (*)" : agent}${named ? "" : ", as none names it"}`;
}

/** @param {Robots} robots */
function withoutRules({ httpStatus }) {
  return [401, 403, 429].includes(httpStatus ?? 0)
    ? "If the server refuses the file to this crawler too, there are no rules to follow (RFC 9309)."
    : "There are no rules to follow.";
}

/**
 * What a crawler may do with a path, and why.
 * @param {Robots} robots
 * @param {string} crawler
 * @param {string} path
 * @returns {{line: number | null, nodes: Node[]}}
 */
export function decision(robots, crawler, path) {
  const closed = robots.status === "unreachable" && path !== "/robots.txt";
  const { allowed, rule, agent, matching } = mayFetch(robots.groups, crawler, path);
  // What Google documents of its crawlers; RFC 9309 has no rules for a 429.
  const limited = robots.httpStatus === 429 && /^googlebot\b/i.test(crawler) && path !== "/robots.txt";
  const may = allowed && !closed && !limited;
  const who = crawler || "A crawler without a name";
  const why =
    path === "/robots.txt"
      ? "The file itself may always be read."
      : closed
        ? "The file cannot be read, so everything counts as closed."
        : limited
          ? "Google treats a 429 as a server error and the whole site as closed. RFC 9309 sets no rules here."
          : robots.status !== "found"
            ? withoutRules(robots)
            : agent === null
              ? "No group applies to it, so everything is open."
              : `It follows the group for ${group(crawler, agent)}. ` +
                (rule ? `Line ${rule.line} decides: ${spell(rule)}` : "No rule in it matches the path, so it is open.");
  const others = matching
    .slice(1, 4)
    .map((r) => `line ${r.line} (${spell(r)})`)
    .join(", ");
  return {
    line: rule?.line ?? null,
    nodes: [
      el(
        "p",
        { class: `rs-verdict ${may ? "good" : "warn"}` },
        mark(may ? "good" : "warn"),
        ` ${who} ${may ? "may" : "may not"} fetch ${path}`,
      ),
      el("p", {}, why),
      ...(others
        ? [
            el(
              "p",
              { class: "hint" },
              `Weaker rules that match too: ${others}${matching.length > 4 ? ` and ${matching.length - 4} more` : ""}.`,
            ),
          ]
        : []),
    ],
  };
}

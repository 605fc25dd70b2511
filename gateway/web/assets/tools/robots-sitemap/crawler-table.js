// @ts-check
// What well-known crawlers may visit, a row each.

import { el } from "../../lib/dom.js";
import { badge, folded, none, table } from "../../lib/parts.js";
import { known } from "./crawlers.js";
import { agentFor } from "./matcher.js";
import { refusal } from "./facts.js";

/** @typedef {import("../../lib/view.js").Tone} Tone */
/** @typedef {import("./facts.js").RobotsSitemap} RobotsSitemap */

/** What a crawler may do, with its tone. @type {Record<RobotsSitemap["robots"]["effect"], [Tone, string]>} */
const rights = {
  allowAll: ["good", "everything"],
  rules: ["info", "all but some paths"],
  disallowAll: ["warn", "nothing"],
};

/** @param {RobotsSitemap} d */
export function crawlerTable(d) {
  if (!d.crawlers) return null;
  const columns = [{ title: "Crawler" }, { title: "Used for" }, { title: "May visit" }, { title: "Group it follows" }];
  const limited = refusal(d.robots) === "RATE_LIMITED";
  const rows = d.crawlers.map((c) => {
    const agent = agentFor(d.robots.groups, c.name);
    const right = rights[limited && c.name === "Googlebot" ? "disallowAll" : c.effect] ?? ["info", c.effect];
    return [
      c.name,
      known[c.name]?.of ?? "—",
      badge(...right),
      d.robots.status !== "found" || agent === null ? none() : agent === "*" ? "* (all others)" : agent,
    ];
  });
  return folded(
    "Well-known crawlers",
    "",
    table({ caption: "What well-known crawlers may visit", columns, rows, hideCaption: true }),
    limited &&
      el(
        "p",
        { class: "hint" },
        "RFC 9309 allows this. Google treats the refusal as a server error and the whole site as closed.",
      ),
  );
}

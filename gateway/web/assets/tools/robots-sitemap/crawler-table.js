// @ts-check
// What the widely known crawlers are told, a row each.

import { el } from "../../lib/dom.js";
import { badge, folded, none, table } from "../../lib/parts.js";
import { known } from "./crawlers.js";
import { agentFor } from "./matcher.js";
import { refusal } from "./verdict.js";

/** @typedef {import("../../lib/view.js").Tone} Tone */

/** What a crawler may do, with its tone. @type {Record<string, [Tone, string]>} */
const rights = { allowAll: ["good", "may visit everything"], rules: ["info", "may visit all but some paths"], disallowAll: ["warn", "may visit nothing"] };

/** What the widely known crawlers are told. @param {any} d */
export function crawlerTable(d) {
  if (!d.crawlers) return null;
  const columns = [{ title: "Crawler" }, { title: "Whose" }, { title: "What it is told" }, { title: "By which group" }];
  const rows = d.crawlers.map((/** @type {import("./crawlers.js").Crawler} */ c) => {
    const agent = agentFor(d.robots.groups, c.name);
    return [c.name, known[c.name]?.of ?? "—", badge(...(rights[c.effect] ?? ["info", c.effect])), d.robots.status !== "found" || agent === null ? none() : agent === "*" ? "* (all others)" : agent];
  });
  return folded("What well-known crawlers are told", "", table({ caption: "Well-known crawlers and what they are told", columns, rows, hideCaption: true }),
    refusal(d.robots) === "RATE_LIMITED" && el("p", { class: "hint" }, "This is what RFC 9309 says. Google takes the refusal as a server error and treats the whole site as closed."));
}

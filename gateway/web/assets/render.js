// @ts-check
// An answer as nodes: verdict, key facts, all the details, the JSON as it came.

import { el } from "./dom.js";
import { plain, words } from "./format.js";
import { retryText } from "./api.js";
import { judge } from "./verdicts.js";

/** @typedef {import("./api.js").Answer} Answer */

const marks = { good: "✓", warn: "!", bad: "✗", info: "i" };

/**
 * The line that says what an answer comes to.
 * @param {string} slug
 * @param {Record<string, any>} data
 * @returns {HTMLElement}
 */
export function verdictLine(slug, data) {
  const { tone, text } = judge(slug, data);
  return el("p", { class: `verdict ${tone}` }, el("span", { class: "mark", "aria-hidden": "true" }, marks[tone]), el("span", {}, text));
}

/**
 * A whole answer.
 * @param {string} slug
 * @param {Answer} answer with data
 * @returns {Node[]}
 */
export function renderAnswer(slug, answer) {
  const data = answer.data ?? {};
  const { facts = [] } = judge(slug, data);
  const shown = facts.filter(([, value]) => value !== null && value !== undefined && value !== "" && value !== "—");
  const nodes = [verdictLine(slug, data)];
  if (shown.length > 0) {
    nodes.push(el("dl", { class: "facts" }, ...shown.flatMap(([name, value]) => [el("dt", {}, words(name)), el("dd", {}, valueNode(name, value))])));
  }
  nodes.push(el("h2", {}, "Details"), objectNode(data));
  nodes.push(el("details", { class: "raw" }, el("summary", {}, "The answer as JSON"), el("pre", { tabindex: "0" }, JSON.stringify(data, null, 2))));
  if (answer.requestId) nodes.push(el("p", { class: "muted" }, `Request ${answer.requestId}`));
  return nodes;
}

/**
 * A failure, in the API's words.
 * @param {Answer} answer without data
 * @returns {HTMLElement}
 */
export function renderFailure(answer) {
  const box = el("div", { class: "notice bad", role: "alert" }, el("p", {}, answer.error ?? "Something went wrong."));
  const retry = retryText(answer);
  if (retry) box.append(el("p", {}, retry));
  if (answer.requestId) box.append(el("p", { class: "muted" }, `Request ${answer.requestId}`));
  return box;
}

/**
 * @param {string} key
 * @param {unknown} value
 * @returns {Node}
 */
function valueNode(key, value) {
  if (Array.isArray(value)) return listNode(key, value);
  if (value !== null && typeof value === "object") return objectNode(/** @type {Record<string, unknown>} */ (value));
  const text = plain(key, value);
  if (text.includes("\n")) return el("pre", { tabindex: "0" }, text);
  return el("span", { class: textClass(text, value) }, text);
}

/**
 * @param {string} text
 * @param {unknown} value
 * @returns {string | null}
 */
function textClass(text, value) {
  if (text === "—") return "muted";
  if (typeof value === "number") return "number";
  return text.length > 40 && text.includes(" ") ? "prose" : null;
}

/**
 * @param {Record<string, unknown>} object
 * @returns {HTMLElement}
 */
function objectNode(object) {
  const list = el("dl", { class: "details" });
  for (const [key, value] of Object.entries(object)) {
    list.append(el("dt", {}, words(key)), el("dd", {}, valueNode(key, value)));
  }
  if (!list.hasChildNodes()) list.append(el("dt", { class: "muted" }, "none"));
  return list;
}

/**
 * @param {string} key
 * @param {unknown[]} list
 * @returns {Node}
 */
function listNode(key, list) {
  if (list.length === 0) return el("span", { class: "muted" }, "none");
  if (list.every((item) => item !== null && typeof item === "object" && !Array.isArray(item))) {
    const rows = /** @type {Record<string, unknown>[]} */ (list);
    return rows.length === 1 && Object.keys(rows[0]).length > 4 ? objectNode(rows[0]) : tableNode(key, rows);
  }
  if (list.every((item) => item === null || typeof item === "number")) {
    return el("span", {}, list.map((item) => plain(key, item)).join(", "));
  }
  return el("ul", { class: "values" }, ...list.map((item) => el("li", {}, valueNode(key, item))));
}

/**
 * A list of objects as a table, which scrolls by itself where it is wider than the page.
 * @param {string} key
 * @param {Record<string, unknown>[]} rows
 * @returns {HTMLElement}
 */
function tableNode(key, rows) {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const head = el("tr", {}, ...columns.map((column) => el("th", { scope: "col" }, words(column))));
  const body = rows.map((row) => el("tr", {}, ...columns.map((column) => el("td", {}, valueNode(column, row[column])))));
  const table = el("table", {}, el("thead", {}, head), el("tbody", {}, ...body));
  return el("div", { class: "scroll", role: "region", "aria-label": words(key), tabindex: "0" }, table);
}

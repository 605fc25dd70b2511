// @ts-check
// A report as text: files, and Markdown to paste. What writes it is fetched when it is asked for: most visitors never
// need it.

import { announce } from "./dom.js";
import { lost } from "./parts.js";
import { attempt } from "./view.js";

/** @typedef {import("./export.js").Report} Report */

/**
 * Hands the report over as a file.
 * @param {string} kind JSON or HTML
 * @param {Report} report
 * @param {HTMLElement} trouble where to say that there is no file
 */
export async function save(kind, report, trouble) {
  const modules = await Promise.all([import("./export.js"), import("./download.js")]).catch((failure) =>
    unmade(failure, trouble, "The file was not made: the part of this page that writes it did not load."),
  );
  if (!modules) return;
  const [{ asHTML, asJSON }, { download, fileName }] = modules;
  const file = fileName("report", report.target);
  if (kind === "JSON") download(`${file}.json`, "application/json", asJSON(report));
  else download(`${file}.html`, "text/html;charset=utf-8", asHTML(report));
}

/**
 * @param {Report} report
 * @param {HTMLElement} trouble where to say that there is no text
 * @returns {Promise<string | null>}
 */
export async function markdown(report, trouble) {
  const module = await import("./export.js").catch((failure) =>
    unmade(failure, trouble, "Nothing was copied: the part of this page that writes the text did not load."),
  );
  return module?.asMarkdown(report, location.href) ?? null;
}

/**
 * Says that something could not be made, since a part of the page did not load.
 * @param {unknown} failure
 * @param {HTMLElement} trouble
 * @param {string} sentence
 */
export function unmade(failure, trouble, sentence) {
  console.warn(failure);
  trouble.replaceChildren(lost(sentence));
  announce(sentence);
}

/**
 * A check as files show it. @param {import("./report-checks.js").Check} check @returns {import("./export.js").Check}
 */
export function exported({ slug, title, group, input, stage, verdict, concerns, judge }) {
  const reply =
    "reply" in stage && stage.reply
      ? stage.reply
      : { ok: false, status: 0, error: "This check gave no answer before the report was saved." };
  const { ok, status, data, error, conclusion, durationMs, requestId } = /** @type {import("./api.js").Answer} */ (
    reply
  );
  const facts = ok && judge ? attempt(() => judge.facts(data), undefined) : undefined;
  return {
    slug,
    title,
    group,
    input,
    ok,
    status,
    data,
    error,
    conclusion,
    durationMs,
    requestId,
    verdict: verdict ?? undefined,
    concerns: concerns ?? [],
    facts,
  };
}

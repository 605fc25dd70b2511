// @ts-check
// A report as a file: JSON for programs, and one HTML page for people that needs nothing else; and as Markdown for
// tickets. All of it is text made here, and whatever comes from outside goes through escaped() or plain().

import { cutAnswer, dateTime, ms } from "./format.js";
import { toneWords as tones } from "./severity.js";

/** @typedef {import("./view.js").Concern} Concern */
/** @typedef {import("./view.js").Facts} Facts */
/** @typedef {import("./view.js").Verdict} Verdict */

/**
 * One check of a report. Verdict, concerns and facts are those of its view; absent where there is no answer.
 * @typedef {object} Check
 * @property {string} slug
 * @property {string} title
 * @property {string} group
 * @property {string} input
 * @property {number} status 0 where nothing came
 * @property {boolean} ok
 * @property {import("./view.js").Data} [data]
 * @property {string} [error]
 * @property {import("./view.js").Conclusion} [conclusion] of a failure
 * @property {number} [durationMs]
 * @property {string} [requestId]
 * @property {Verdict} [verdict]
 * @property {Concern[]} concerns
 * @property {Facts} [facts]
 */

/**
 * @typedef {object} Report
 * @property {string} target
 * @property {string} recognisedAs
 * @property {string} [place] the name of the place that ran the checks, where it is not this one
 * @property {string} at RFC 3339
 * @property {string[]} summary what the checks came to, in sentences
 * @property {(Pick<Concern, "tone" | "code" | "text"> & {from: {title: string}[]})[]} attention
 * @property {Check[]} checks
 */

/**
 * @param {Report} report
 * @returns {string}
 */
export function asJSON({ target, recognisedAs, place, at, checks }) {
  const tools = checks.map(({ slug, input, status, ok, data, error, conclusion, durationMs, requestId }) => ({
    slug,
    input,
    status,
    ok,
    ...(ok ? { data } : { error, conclusion }),
    durationMs,
    requestId,
  }));
  return `${JSON.stringify({ target, recognisedAs, place: place || undefined, at, tools }, null, 2)}\n`;
}

const named = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&quot;"],
  ["'", "&#39;"],
]);

/**
 * Text as it may stand between tags and in quoted attributes. What no one sees (control characters, marks that turn the
 * direction of writing, joiners, halves of characters) is shown by its number, as JSON would write it.
 * @param {string} text
 * @returns {string}
 */
export function escaped(text) {
  return visible(text.replace(/[&<>"']/g, (c) => named.get(c) ?? ""));
}

/** @param {string} text */
function visible(text) {
  return text.replace(/(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{NChar}]/gu, (c) =>
    c
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

/**
 * Markup with every value in it escaped, but for what was made by markup itself. A list is its items in a row.
 * @param {TemplateStringsArray} strings
 * @param {...(string | number | Markup | Markup[])} values
 */
function markup(strings, ...values) {
  return new Markup(strings.map((s, i) => s + (i < values.length ? inner(values[i]) : "")).join(""));
}

/** Text that is markup already. */
class Markup {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
  }
}

/** @param {string | number | Markup | Markup[]} value @returns {string} */
function inner(value) {
  if (Array.isArray(value)) return value.map((item) => item.text).join("");
  return value instanceof Markup ? value.text : escaped(String(value));
}

const policy = "default-src 'none'; style-src 'unsafe-inline'";

const styles = new Markup(`
:root { color-scheme: light dark; --soft: light-dark(#52606d, #a2aeb9); --line: light-dark(#d5dbe0, #303942);
  --good: light-dark(#146c36, #77d296); --warn: light-dark(#7a4b00, #edc169);
  --bad: light-dark(#a91f1f, #f79b95); --info: light-dark(#0b5c96, #8fc6f2); }
body {
  max-width: 60rem;
  margin: 2rem auto;
  padding: 0 1rem;
  background: light-dark(#fff, #101418);
  color: light-dark(#15202b, #e5eaee);
  font: 1rem/1.5 system-ui, sans-serif;
  overflow-wrap: anywhere;
}
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 0 0 .25rem; }
p { margin: 0 0 .5rem; }
.soft { color: var(--soft); }
.small, dt { font-size: .875rem; color: var(--soft); }
code { font: .875rem/1.5 ui-monospace, Menlo, Consolas, monospace; }
section section { margin: 0 0 1rem; padding: .75rem 1rem; border: 1px solid var(--line); border-radius: .5rem; }
bdi, dd { unicode-bidi: isolate; }
.good { color: var(--good); } .warn { color: var(--warn); } .bad { color: var(--bad); } .info { color: var(--info); }
.verdict { font-weight: 600; } li { margin-bottom: .4rem; }
dl { margin: .5rem 0; }
dl div {
  display: grid;
  grid-template-columns: minmax(7rem, 13rem) minmax(0, 1fr);
  gap: 0 1rem;
  padding: .2rem 0;
  border-top: 1px solid var(--line);
}
dd { margin: 0; }
dd ul { margin: 0; padding: 0; list-style: none; } dd li { margin: 0; }
@media (max-width: 36rem) { dl div { display: block; } }
@media print {
  :root { color-scheme: light; }
  body { margin: 0; max-width: none; }
  section section, li { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
}
`);

/**
 * @param {Report} report
 * @returns {string}
 */
export function asHTML(report) {
  const { target, recognisedAs, place, at, summary, attention, checks } = report;
  const groups = [...new Set(checks.map((check) => check.group))];
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Report on ${target}</title>
<style>${styles}</style>
</head>
<body>
<main>
<h1>Report on <bdi>${target}</bdi></h1>
<p class="soft">${recognisedAs}, checked on ${dateTime(at)}${place ? ` from ${place}` : ""}.</p>
<h2>What deserves attention</h2>
${summary.map(
  (sentence) => markup`<p>${sentence}</p>
`,
)}${
    attention.length > 0
      ? markup`<ol>
${attention.map(
  (finding) => markup`${said(finding)} <span class="small">${finding.from.map((f) => f.title).join(", ")}</span></li>
`,
)}</ol>
`
      : ""
  }${groups.map(
    (group) => markup`<section>
<h2>${group}</h2>
${checks.filter((check) => check.group === group).map(section)}</section>
`,
  )}</main>
</body>
</html>
`.text;
}

/** The open list item of a finding. @param {Pick<Concern, "tone" | "code" | "text">} finding */
const said = ({ tone, code, text }) =>
  markup`<li><strong class="${tone}">${tones[tone]}:</strong> <bdi>${text}</bdi> <code>${code}</code>`;

/** @param {Check} check */
function section({ title, input, ok, data, error, durationMs, requestId, verdict, concerns, facts }) {
  const [tone, sentence] = verdict
    ? [verdict.tone, verdict.text]
    : ok
      ? ["info", "Answered, but this page could not read the answer."]
      : ["soft", error ?? "No answer."];
  const asked = [
    durationMs === undefined ? "" : `Took ${ms(durationMs)}.`,
    requestId ? `Request ${requestId}.` : "",
  ].filter(Boolean);
  return markup`<section>
<h3>${title} <code>${input}</code></h3>
<p class="verdict ${tone}"><bdi>${sentence}</bdi></p>
${
  concerns.length > 0
    ? markup`<ul>${concerns.map((concern) => markup`${said(concern)}</li>`)}</ul>
`
    : ""
}${
    ok && data?.truncated
      ? markup`<p class="small">${cutAnswer}</p>
`
      : ""
  }${factList(facts ?? {})}${
    asked.length > 0
      ? markup`<p class="small">${asked.join(" ")}</p>
`
      : ""
  }</section>
`;
}

/** @param {Facts} facts */
function factList(facts) {
  const rows = Object.entries(facts).filter(([, fact]) => fact !== "" && fact?.length > 0);
  if (rows.length === 0) return "";
  return markup`<dl>${rows.map(
    ([name, fact]) => markup`<div><dt>${name}</dt><dd>${
      Array.isArray(fact) ? markup`<ul>${fact.map((item) => markup`<li>${item}</li>`)}</ul>` : fact
    }</dd></div>
`,
  )}</dl>
`;
}

/**
 * A report for a ticket.
 * @param {Report} report
 * @param {string} link where it can be made again
 * @returns {string}
 */
export function asMarkdown({ target, recognisedAs, place, at, summary, attention, checks }, link) {
  const [first, ...others] = summary;
  return [
    `# Report on ${plain(target)}`,
    `${plain(recognisedAs)}, checked on ${plain(dateTime(at))}${place ? ` from ${plain(place)}` : ""}. ` +
      `Run it again: ${quoted(link)}`,
    ...(first ? [`**${plain(first)}** ${others.map(plain).join(" ")}`.trim()] : []),
    ...(attention.length > 0
      ? [
          "## What deserves attention",
          attention
            .map(
              ({ tone, code, text, from }, i) =>
                `${i + 1}. **${tones[tone]}:** ${plain(text)} ${plain(code)} ` +
                `(${from.map((f) => plain(f.title)).join(", ")})`,
            )
            .join("\n"),
        ]
      : []),
    "## Checks",
    [
      "| Check | Result |",
      "| --- | --- |",
      ...checks.map((check) => `| ${plain(check.title)} | ${resultOf(check)} |`),
    ].join("\n"),
  ]
    .join("\n\n")
    .concat("\n");
}

/** What a check came to, in Markdown. @param {Check} check */
const resultOf = ({ verdict, ok, error }) =>
  verdict ? `${tones[verdict.tone]}: ${plain(verdict.text)}` : plain(ok ? "Answered." : (error ?? "No answer."));

/**
 * Text without a meaning in Markdown: no markup, no list, no link that begins by itself; and all of it on one line.
 * @param {string} text
 */
function plain(text) {
  return visible(text.replace(/\s+/g, " "))
    .trim()
    .replace(/[\\`*_[\]<>|~&@^$]/g, "\\$&")
    .replace(/:(?=\/\/)|\.(?<=www\.)|^(?:[-+#=])|(?<=^\d{1,9})[.)]|!(?=\\\[)/gi, "\\$&");
}

/** Text as code, with more backticks around it than are in it. @param {string} text */
function quoted(text) {
  const one = visible(text.replace(/\s+/g, " "));
  const fence = "`".repeat(1 + Math.max(0, ...[...one.matchAll(/`+/g)].map(([run]) => run.length)));
  return `${fence} ${one} ${fence}`;
}

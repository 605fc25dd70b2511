// @ts-check
// The robots.txt of a site line by line, a path to try against it, and the sitemaps.

import { el } from "../../lib/dom.js";
import { bytes, day, number, plural } from "../../lib/format.js";
import { toneOf } from "../../lib/findings.js";
import { notes } from "../../lib/notes.js";
import { badge, code, cut, facts, folded, mark, more, none, section, table, value } from "../../lib/parts.js";
import { crawlerTable } from "./crawler-table.js";
import { tryBox } from "./try-box.js";
import { sh } from "../../lib/shell.js";
import { expected, mostGroups, mostNames, refusal, sitemaps, spell } from "./facts.js";

/** @typedef {import("../../lib/view.js").Tone} Tone */
/** @typedef {import("./facts.js").RobotsSitemap} RobotsSitemap */
/** @typedef {import("./facts.js").Sitemap} Sitemap */
/** @typedef {import("./facts.js").Group} Group */
/** @typedef {import("./facts.js").Issue} Issue */

/** How much of the file the service reads. */
const wholeBytes = 500 * 1024;

/** How much of the file the service shows. */
const previewBytes = 4096;

/** @type {Record<RobotsSitemap["robots"]["effect"], string>} */
const effectWords = {
  allowAll: "All other crawlers may visit everything.",
  rules: "All other crawlers may visit everything except the listed paths.",
  disallowAll: "All other crawlers may visit nothing.",
};

/**
 * @param {Pick<Sitemap, "status" | "httpStatus" | "issues">} file
 * @param {boolean} expected whether it ought to be there
 * @param {Tone} [lost] of one that cannot be read
 */
function state(file, expected, lost = "warn") {
  const { status, httpStatus } = file;
  const tone =
    status === "found" ? "good" : status === "missing" ? (expected || refusal(file) ? "warn" : "info") : lost;
  return el(
    "span",
    {},
    badge(tone, refusal(file) ? "refused" : status),
    " ",
    httpStatus !== null && el("span", { class: "rs-status" }, `HTTP ${httpStatus}`),
  );
}

/** Faults of these files break nothing, but for a robots.txt that crawlers cannot read. @param {Issue} issue */
function issueLine(issue) {
  return el(
    "span",
    {},
    mark(issue.severity === "info" ? "info" : "warn"),
    " ",
    issue.line !== null && `Line ${issue.line}: `,
    issue.message,
    " ",
    el("span", { class: "mono muted" }, issue.code),
  );
}

/** @param {Issue[]} issues */
function issueList(issues) {
  return issues.length === 0
    ? []
    : [el("ul", { class: "rs-issues" }, ...issues.map((i) => el("li", {}, issueLine(i))))];
}

/**
 * The file with numbered lines, each with its issues.
 * @param {RobotsSitemap["robots"]} robots
 */
function fileBox(robots) {
  /** @type {Map<number, HTMLElement>} */
  const lines = new Map();
  const texts = robots.preview.split(/\r\n|\r|\n/);
  if (texts[texts.length - 1] === "") texts.pop();
  if (texts.length === 0)
    return {
      lines,
      node: el(
        "p",
        { class: "muted" },
        robots.status === "found"
          ? "The file is empty."
          : refusal(robots)
            ? "The server did not send the file."
            : "There is no file to show.",
      ),
    };
  const kinds = new Map(
    robots.groups.flatMap((g) =>
      g.rules.map((r) => /** @type {[number, string]} */ ([r.line, r.path === "" ? "allow" : r.type])),
    ),
  );
  texts.forEach((text, i) => {
    const kind = kinds.get(i + 1) ?? (/^\s*user-agent\s*:/i.test(text) ? "agent" : /^\s*#/.test(text) ? "comment" : "");
    const own = robots.issues.filter((issue) => issue.line === i + 1);
    lines.set(
      i + 1,
      el(
        "li",
        { class: `rs-line ${kind && `rs-${kind}`}` },
        el("code", {}, text || " "),
        ...own.map((issue) => el("div", { class: "rs-issue" }, issueLine({ ...issue, line: null }))),
      ),
    );
  });
  const list = el("ol", {}, ...lines.values());
  const box = el("div", { class: "rs-file", role: "region", "aria-label": "robots.txt", tabindex: "0" }, list);
  return {
    lines,
    box,
    node: el(
      "div",
      {},
      box,
      robots.bytes > previewBytes &&
        el(
          "p",
          { class: "hint" },
          `These are the first 4 KiB of ${bytes(robots.bytes)}. The rules below and the path test use ` +
            `${robots.truncated ? "as much of it as the answer holds" : "the whole file"}.`,
        ),
    ),
  };
}

/** @param {Group[]} groups */
function groupTable(groups) {
  const columns = [
    { title: "Crawlers" },
    { title: "Allow", numeric: true },
    { title: "Disallow", numeric: true },
    { title: "Crawl delay", numeric: true },
    { title: "Rules" },
  ];
  const rows = groups.slice(0, mostGroups).map((g) => {
    const names = g.userAgents.slice(0, mostNames).join(", ");
    const count = (/** @type {string} */ type) => number(g.rules.filter((r) => r.type === type).length);
    return [
      g.userAgents.length > mostNames
        ? `${names} and ${g.userAgents.length - mostNames} more`
        : names === "*"
          ? "* (all others)"
          : names,
      count("allow"),
      count("disallow"),
      g.crawlDelay === null ? "—" : `${g.crawlDelay} s`,
      g.rules.length === 0
        ? none()
        : more(plural(g.rules.length, "rule"), code(g.rules.map(spell).join("\n"), `rules for ${names}`), cut(g)),
    ];
  });
  const caption =
    groups.length > mostGroups
      ? `The first ${mostGroups} of ${number(groups.length)} groups; all are in the JSON`
      : "The rules of each group of crawlers";
  return table({ caption, columns, rows, hideCaption: groups.length <= mostGroups });
}

/** @param {RobotsSitemap} d */
function sitemapTable(d) {
  const kinds = /** @type {Record<string, string>} */ ({
    urlset: "list of pages",
    sitemapindex: "index of sitemaps",
    text: "plain list",
  });
  const columns = [
    { title: "Sitemap" },
    { title: "State" },
    { title: "Kind" },
    { title: "Entries", numeric: true },
    { title: "Last change" },
    { title: "Remarks" },
  ];
  const rows = sitemaps(d).map((s) => [
    el(
      "div",
      { class: "rs-where" },
      value(s.url, { what: "sitemap" }),
      el(
        "div",
        { class: "hint" },
        d.declaredSitemaps.includes(s.url) ? "declared in robots.txt" : "at the usual place",
      ),
      s.finalUrl &&
        s.finalUrl !== s.url &&
        el("div", { class: "hint" }, "redirects to ", value(s.finalUrl, { what: "URL" })),
    ),
    state(s, expected(d, s)),
    s.kind ? (kinds[s.kind] ?? s.kind) : "—",
    s.urlCount === null ? "—" : `${s.truncated ? "at least " : ""}${number(s.urlCount)}`,
    day(s.lastModified),
    s.issues.length > 0 ? el("div", {}, ...issueList(s.issues)) : none(),
  ]);
  const unread = d.declaredSitemaps.filter((url) => !d.sitemaps.some((s) => s.url === url));
  for (const url of unread)
    rows.push([
      el(
        "div",
        { class: "rs-where" },
        value(url, { what: "sitemap" }),
        el("div", { class: "hint" }, "declared in robots.txt"),
      ),
      badge("off", "not read"),
      "—",
      "—",
      "—",
      none(),
    ]);
  return table({ caption: "The sitemaps", columns, rows, hideCaption: true });
}

/** @type {import("../../lib/view.js").View<RobotsSitemap>} */
export default {
  show(d) {
    const file = fileBox(d.robots);
    return [
      ...notes(d),
      section(
        "robots.txt, line by line",
        ...issueList(d.robots.issues.filter((i) => !file.lines.has(i.line ?? 0))),
        file.node,
      ),
      section(
        "Try a path",
        tryBox(d.robots, new URL(d.url), file),
        cut(d.robots, "Part of robots.txt was cut: a path under a missing rule has the wrong result."),
      ),
      crawlerTable(d),
      d.robots.groups.length > 0 &&
        folded(
          "Rules by crawler",
          plural(d.robots.groups.length, "group"),
          groupTable(d.robots.groups),
          cut(d.robots, "Part of this was cut: the file is longer than this service reads or passes on."),
        ),
      section(
        "Sitemaps",
        sitemapTable(d),
        cut(d, "A part of the answer was cut: more sitemaps may be declared than are listed."),
      ),
      folded(
        "How robots.txt is served",
        bytes(d.robots.bytes),
        facts([
          ["URL", value(d.robots.url, { what: "URL" })],
          [
            "Final URL",
            d.robots.finalUrl && d.robots.finalUrl !== d.robots.url
              ? value(d.robots.finalUrl, { what: "final URL" })
              : null,
          ],
          ["State", state(d.robots, false, toneOf(d))],
          ["Content type", d.robots.contentType && value(d.robots.contentType, { what: "content type", quiet: true })],
          [
            "Size",
            bytes(d.robots.bytes) +
              (d.robots.truncated && d.robots.bytes >= wholeBytes ? ", where reading stopped" : ""),
          ],
          ["Effect", el("span", {}, effectWords[d.robots.effect] ?? d.robots.effect)],
          ["Site", value(d.url, { what: "URL" })],
        ]),
      ),
    ].filter((node) => node !== false && node !== null);
  },

  lessons: () => [
    "robots.txt asks crawlers to stay away from parts of a site. Well-behaved crawlers comply. It " +
      "protects nothing, because anyone can read it and the paths it names.",
    "A closed path can still appear in search results, without a description, if other sites link to it.",
  ],

  terminal(_, d) {
    const one = (sitemaps(d).find((s) => s.status === "found") ?? d.sitemap).url;
    return [
      { label: "robots.txt with its line numbers", command: `curl -sSL ${sh`${d.robots.url}`} | cat -n` },
      {
        label: "The beginning of a sitemap",
        command: `curl -sSL --compressed ${sh`${one}`}${/\.gz$/.test(one) ? " | gunzip" : ""} | head -c 2000`,
      },
    ];
  },

  sources: (d) =>
    [d.robots, ...sitemaps(d).filter((s) => s.httpStatus)].map((file) => ({
      name: "The web server itself",
      url: file.url,
    })),
};

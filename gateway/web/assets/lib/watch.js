// @ts-check
// A check that is repeated while someone looks: its state, its picture, what changed, and the files. When rounds run
// is said in watch-pace.js, what is kept in watch-record.js.

import { runTool } from "./api.js";
import { announce, el } from "./dom.js";
import { download, fileName } from "./download.js";
import { renderFailure } from "./failure.js";
import { capital, duration, ms, number, percent } from "./format.js";
import { lost, section, table, verdictLine } from "./parts.js";
import { share } from "./stats.js";
import { remember } from "./store.js";
import { final, makePace } from "./watch-pace.js";
import { makePicture } from "./watch-picture.js";
import { makeRecord } from "./watch-record.js";
import { clock, hopRows, roundRows, stageWords, tally, verdictOf } from "./watch-words.js";
import { rowsOf } from "./watch-draw.js";

/** @typedef {import("./api.js").Answer} Answer */
/** @typedef {import("./watch-pace.js").Stage<Answer>} Stage */
/** @typedef {import("./watch-record.js").Watcher} Watcher */

/** More rounds, or events, are in the files alone. */
const mostRows = 10;
const mostEvents = 50;

/**
 * @typedef {object} Watched
 * @property {string} slug
 * @property {string} title of the tool
 * @property {import("./view.js").Asked} asked
 * @property {number} gap seconds from the start of a round to the next
 * @property {HTMLElement} place where it is shown
 * @property {AbortSignal} signal ends it
 * @property {(answer: Answer) => void} refused takes a first answer that refuses the check, instead of the watch
 */

/**
 * Begins a watch.
 * @param {Watched} what
 */
export async function startWatch(what) {
  const watcher = await load(what.slug);
  if (what.signal.aborted) return;
  if (watcher) new Watch(what, watcher);
  else what.place.replaceChildren(lost("The part of this page that watches did not load."));
}

/** @param {string} slug @returns {Promise<Watcher | null>} */
const load = (slug) =>
  import(`../tools/${slug}/watch.js`).then(
    (module) => module.default,
    () => null,
  );

class Watch {
  /** @param {Watched} what @param {Watcher} watcher */
  constructor(what, watcher) {
    this.what = what;
    this.watcher = watcher;
    this.record = makeRecord(watcher);
    this.target = what.asked.input;
    this.stage = /** @type {Stage | null} */ (null);
    this.away = 0; // since when no round is done, in Unix milliseconds
    this.path = watcher.path === true;
    this.board = makeBoard(this.target, watcher, {
      stop: () => this.pace.stop(),
      goOn: () => this.goOn(),
      save: (kind) => this.save(kind),
    });
    this.picture = makePicture(what.signal, watcher);
    this.pace = makePace({
      gap: what.gap * 1000,
      run: (signal) => this.round(signal),
      hidden: () => document.visibilityState === "hidden",
      tell: (stage) => this.tell(stage),
      seen: (missed) => this.seen(missed),
    });
    what.place.replaceChildren(this.board.node);
    document.addEventListener("visibilitychange", () => this.pace.look(), { signal: what.signal });
    addEventListener("pagehide", () => this.pace.stop(), { signal: what.signal });
    const second = setInterval(() => this.count(), 1000);
    what.signal.addEventListener("abort", () => {
      clearInterval(second);
      this.pace.stop();
    });
    announce(`Watching ${this.target}, a round every ${duration(what.gap)}.`);
    this.draw();
    this.pace.start();
  }

  /** @param {AbortSignal} signal */
  async round(signal) {
    const { slug, asked } = this.what;
    const began = Date.now();
    const answer = await runTool(slug, asked.input, asked.options, signal);
    if (!signal.aborted) this.take(began, answer);
    return answer;
  }

  /** @param {number} began @param {Answer} answer */
  take(began, answer) {
    const { record } = this;
    // A rejection of the check itself is no round: it is shown where the watch ends.
    if (final.includes(answer.status)) return;
    if (!answer.data) {
      record.failed(began, Date.now(), answer.error ?? "", answer.retryAfter !== undefined);
      this.draw();
      return;
    }
    if (record.rounds === 0 && this.target) remember(this.target);
    const news = this.understood(began, answer.data);
    if (news.length > 0) announce(`Round ${record.rounds}: ${news.join("; ")}.`);
    this.draw();
  }

  /** An answer of an unknown shape is a gap. @param {number} began @param {import("./view.js").Data} data */
  understood(began, data) {
    try {
      return this.record.answered(began, Date.now(), data);
    } catch (failure) {
      console.error(failure);
      return this.record.failed(began, Date.now(), "This page cannot read the answer.", false);
    }
  }

  /** @param {Stage} stage */
  tell(stage) {
    const ended = stage.state === "ended";
    if (stage.state === "hidden" || ended) this.away ||= Date.now();
    this.stage = stage;
    if (stage.state === "ended" && stage.why === "refused") {
      if (this.record.rounds === 0) {
        this.what.refused(stage.reply);
        return;
      }
      this.board.end(renderFailure(stage.reply));
    }
    this.count();
    this.board.going(!ended, stage.state);
    // Its words differ between a watch that goes on and one that has ended.
    if (ended) this.draw();
    if (this.what.signal.aborted || !(ended || stage.state === "hidden")) return;
    announce(stageWords(stage, this.record.rounds, performance.now()));
  }

  /** @param {boolean} missed */
  seen(missed) {
    if (missed) this.record.paused(this.away, Date.now(), "This tab was in the background.");
    this.away = 0;
    this.draw();
    announce("The watch continues.");
  }

  goOn() {
    if (this.record.entries.length > 0) this.record.paused(this.away, Date.now(), "The watch had ended.");
    this.away = 0;
    this.draw();
    this.pace.start();
  }

  /** Shows the state, which includes the seconds left. */
  count() {
    if (this.stage) this.board.state(stageWords(this.stage, this.record.rounds, performance.now()));
  }

  draw() {
    const { entries, changes } = this.record;
    this.board.show(entries, changes, this.picture.node);
    this.picture.set(entries, verdictOf(this.target, this.watcher, entries, changes.length).text);
  }

  /** @param {string} kind */
  async save(kind) {
    const { entries, changes, forgotten } = this.record;
    const { asked, gap, title } = this.what;
    const name = `${fileName(asked.slug, asked.input)}-watch.${kind}`;
    const files = await import("./watch-files.js").catch(() => null);
    if (!files) return announce("The file could not be made: a part of this page did not load.");
    const { asCSV, asJSON } = files;
    if (kind === "csv") download(name, "text/csv;charset=utf-8", asCSV(entries, this.path));
    else if (kind === "json")
      download(name, "application/json", asJSON({ asked, apart: gap, forgotten }, entries, changes));
    else this.picture.file(`${title}: ${this.target}`, (blob) => download(name, "image/png", blob));
  }
}

/**
 * What a watch is shown on. All that grows has its room from the start.
 * @param {string} target
 * @param {Watcher} watcher
 * @param {{stop: () => void, goOn: () => void, save: (kind: string) => void}} on
 */
function makeBoard(target, watcher, on) {
  const { path = false, probes = false } = watcher;
  const readings = readingsOf(probes);
  const button = (
    /** @type {string} */ id,
    /** @type {string} */ label,
    /** @type {string} */ kind,
    /** @type {() => void} */ press,
  ) => {
    const node = el("button", { type: "button", id, class: kind }, label);
    node.addEventListener("click", press);
    return node;
  };
  const verdict = el("div", {}, verdictLine(verdictOf(target, watcher, [], 0)));
  const text = el("span");
  const stop = button("watch-stop", "Stop", "second", on.stop);
  const goOn = button("watch-on", "Resume", "second", on.goOn);
  goOn.hidden = true;
  const problem = el("div");
  const cells = readings.map(([name]) => ({ name, node: el("dd", {}, "—"), title: el("dt", {}, name) }));
  const list = el("dl", { class: "readings" }, ...cells.map((c) => el("div", {}, c.title, c.node)));
  const events = el("div", { class: "watch-changes", role: "group", "aria-label": "What happened", tabindex: "0" });
  const rows = el("div");
  const files = el(
    "div",
    { class: "toolbar", role: "group", "aria-label": "Files of this watch" },
    ...["csv", "png", "json"].map((kind) =>
      button(`watch-${kind}`, `Download ${kind.toUpperCase()}`, "quiet", () => on.save(kind)),
    ),
  );
  const below = el("div", { hidden: true });
  const node = el(
    "section",
    { class: "watch", "aria-label": `Watching ${target}` },
    verdict,
    el(
      "div",
      { class: "watch-line" },
      el("p", {}, el("span", { class: "watch-pulse", "aria-hidden": "true" }), text),
      stop,
      goOn,
    ),
    problem,
    list,
    below,
  );

  return {
    node,
    state: (/** @type {string} */ words) => {
      text.textContent = words;
    },
    end: (/** @type {Node} */ failure) => problem.replaceChildren(failure),
    going: (/** @type {boolean} */ on, /** @type {string} */ state) => {
      node.dataset.state = state;
      const focused = document.activeElement === (on ? goOn : stop);
      stop.hidden = !on;
      goOn.hidden = on;
      if (on) problem.replaceChildren();
      if (focused) (on ? stop : goOn).focus();
    },
    show: (
      /** @type {import("./watch-record.js").Entry[]} */ entries,
      /** @type {import("./watch-record.js").Change[]} */ changes,
      /** @type {Node} */ picture,
    ) => {
      verdict.replaceChildren(verdictLine(verdictOf(target, watcher, entries, changes.length)));
      const t = tally(entries);
      cells.forEach((c, i) => {
        c.node.textContent = readings[i][1](t, changes.length);
      });
      events.replaceChildren(eventList(entries, changes, node.dataset.state === "ended"));
      const made = numbers(entries, path, probes);
      // The frame of the table stays, with its place and the focus on it.
      if (rows.firstChild)
        for (const part of ["thead", "tbody"])
          rows.querySelector(part)?.replaceWith(/** @type {Node} */ (made.querySelector(part)));
      else rows.append(made);
      if (!below.hidden || entries.length === 0) return;
      below.append(
        section(path ? "The path over time" : "Rounds over time", picture, files),
        section("What happened", events),
        section(path ? "Each hop" : "The latest rounds", rows),
        el("p", { class: "hint" }, "Times are UTC. This record lives in this page only and is gone when you close it."),
      );
      below.hidden = false;
    },
  };
}

/** @param {boolean} probes @returns {[string, (t: ReturnType<typeof tally>, changes: number) => string][]} */
const readingsOf = (probes) => [
  ["Rounds", (t) => number(t.answered + t.missed)],
  ["Median", (t) => ms(t.median)],
  ["95th percentile", (t) => ms(t.p95)],
  probes
    ? ["Probes unanswered", (t) => (t.sent > 0 ? percent(share(t.lost, t.sent)) : "—")]
    : ["Rounds with trouble", (t) => number(t.troubled)],
  ["Rounds without result", (t) => number(t.missed)],
  ["Changes", (_, changes) => number(changes)],
];

/**
 * @param {import("./watch-record.js").Entry[]} entries @param {import("./watch-record.js").Change[]} changes @param
 *   {boolean} ended
 */
function eventList(entries, changes, ended) {
  const gaps = entries
    .filter((e) => e.kind !== "answer")
    .map((e) => ({
      at: e.at,
      text: e.kind === "pause" ? `paused until ${clock(e.until)}: ${e.why}` : `no result: ${e.why}`,
    }));
  const news = changes.map(({ at, text }) => ({ at, text: `${text}.` }));
  const list = [...news, ...gaps].sort((a, b) => b.at - a.at).slice(0, mostEvents);
  if (list.length === 0) return el("p", {}, ended ? "Nothing changed." : "Nothing so far.");
  return el("ol", {}, ...list.map(({ at, text }) => el("li", {}, `At ${clock(at)} ${text}`)));
}

/** @param {import("./watch-record.js").Entry[]} entries @param {boolean} path @param {boolean} probes */
function numbers(entries, path, probes) {
  const figures = (/** @type {string[]} */ ...titles) => titles.map((title) => ({ title, numeric: true }));
  if (path) {
    const columns = [
      { title: "Hop" },
      { title: "Address" },
      ...figures("Last", "Median", "95th percentile", "Unanswered"),
    ];
    return table({
      caption:
        "Each hop over all rounds. Routers often leave probes unanswered but still pass traffic on; only " +
        "probes that the last hop leaves unanswered are lost.",
      columns,
      rows: hopRows(entries, rowsOf(entries)).map(withAddress),
    });
  }
  const latest = roundRows(entries, mostRows);
  const remarks = latest.some((row) => row[row.length - 1]);
  const columns = [
    { title: "Began" },
    { title: "State" },
    ...(probes ? figures("Median", "95th percentile", "Unanswered") : figures("Response time")),
    ...(remarks ? [{ title: "Remark" }] : []),
  ];
  const rows = latest.map(([began, state, middle, high, lost, remark]) => [
    began,
    el("span", { class: "watch-word" }, capital(state)),
    ...(probes ? [middle, high, lost] : [middle]),
    ...(remarks ? [remark && el("p", { class: "sentence" }, remark)] : []),
  ]);
  return table({ caption: `The latest ${mostRows} rounds, newest first; the files have them all.`, columns, rows });
}

/** @param {string[]} row @returns {import("./dom.js").Child[]} */
const withAddress = ([hop, who, ...rest]) => [hop, el("span", { class: /\d/.test(who) && "mono" }, who), ...rest];

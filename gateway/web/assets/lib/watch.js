// @ts-check
// A check that is repeated while someone looks: its state, its picture, what changed, and the files. When rounds run
// is said in watch-pace.js, what is kept in watch-record.js.

import { runTool } from "./api.js";
import { announce, el } from "./dom.js";
import { renderFailure } from "./failure.js";
import { capital, duration, ms, number, percent } from "./format.js";
import { partsOf, ran } from "./heading.js";
import { lost, section, table, verdictLine } from "./parts.js";
import { share } from "./stats.js";
import { keyOf, remember } from "./store.js";
import { keepSession } from "./watch-kept.js";
import { final, makePace } from "./watch-pace.js";
import { makeRecord } from "./watch-record.js";
import { makeSign } from "./watch-sign.js";
import { drawStrip, stripOf } from "./watch-strip.js";
import { clock, hopRows, kinds, roundRows, rowsOf, stageWords, stateNow, tally, verdictOf } from "./watch-words.js";

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
 * @property {boolean} again whether the page was loaded again: what it had then is gone on with
 * @property {HTMLElement} place where it is shown
 * @property {AbortSignal} signal ends it
 * @property {(answer: Answer) => void} refused takes a first answer that refuses the check, instead of the watch
 * @property {() => void} accepted is called with each round that shows that the service accepts the target
 */

/** The longest gap that a link may ask for, in seconds. */
const mostGap = 600;

/**
 * The seconds between rounds that the link asks for, within bounds; null where it asks for no watch.
 * @param {HTMLElement} button
 */
function linkedGap({ dataset }) {
  const text = new URLSearchParams(location.search).get("watch") ?? "";
  return /^\d{1,9}$/.test(text) ? Math.min(Math.max(Number(text), Number(dataset.gap)), mostGap) : null;
}

/**
 * Begins the watch of a tool's page, at the pace of its link or of its button.
 * @param {"click" | "link" | "again"} by what starts it
 * @param {HTMLElement} button
 * @param {object} page
 * @param {string} page.slug
 * @param {string} page.title
 * @param {string} page.query what asks the same without a watch
 * @param {HTMLElement} page.place
 * @param {() => Pick<Watched, "asked" | "signal" | "refused" | "accepted">} page.begin ends what else the page does
 * @returns {Promise<boolean>} false where there is none to go on with
 */
export async function beginWatch(by, button, { slug, title, query, place, begin }) {
  const gap = linkedGap(button);
  const whole = gap === null ? query : `${query}${query ? "&" : "?"}watch=${gap}`;
  if (by === "click" && whole !== location.search) history.pushState(null, "", whole || location.pathname);
  const what = begin();
  history.replaceState({ ...history.state, watched: true }, "");
  place.classList.add("used");
  return startWatch({
    ...what,
    ...{ slug, title, place, gap: gap ?? Number(button.dataset.gap), again: by === "again" },
  });
}

/**
 * Begins a watch, or goes on with one.
 * @param {Watched} what
 * @returns {Promise<boolean>} false where there is none to go on with
 */
async function startWatch(what) {
  const before = what.again ? (await import("./watch-again.js")).keptSession(keyOf(what.asked)) : null;
  if (what.again && !before) return what.signal.aborted;
  const watcher = await load(what.slug);
  if (what.signal.aborted) return true;
  if (watcher) new Watch({ ...what, gap: before?.gap ?? what.gap }, watcher, before);
  else what.place.replaceChildren(lost("The part of this page that watches did not load."));
  return true;
}

/** @param {string} slug @returns {Promise<Watcher | null>} */
const load = (slug) =>
  import(`../tools/${slug}/watch.js`).then(
    (module) => module.default,
    () => null,
  );

class Watch {
  /** @param {Watched} what @param {Watcher} watcher @param {import("./watch-kept.js").Session | null} before */
  constructor(what, watcher, before) {
    this.what = what;
    this.watcher = watcher;
    this.record = makeRecord(watcher, before?.record);
    this.target = what.asked.input;
    this.host = partsOf(this.target).host; // in the titles of notifications
    this.stage = /** @type {Stage | null} */ (null);
    this.away = this.record.entries.at(-1)?.until ?? 0; // since when no round is done, in Unix milliseconds
    this.due = 0; // when the next round is expected, in Unix milliseconds; 0 where none is
    this.until = 0; // the same by performance.now()
    this.left = false; // whether the page is being left, with the watch going on
    this.sign = makeSign();
    this.known = stateNow(this.record.entries);
    this.notifier = /** @type {import("./watch-notify.js").Notifier | null} */ (null);
    this.board = makeBoard(this.target, watcher, {
      stop: () => this.pace.stop(),
      goOn: () => this.goOn("The watch had ended."),
      notify: () => this.notify(true),
      save: (kind) => this.save(kind),
    });
    this.picture = /** @type {ReturnType<typeof import("./watch-picture.js").makePicture> | null} */ (null);
    this.frame = el("div"); // of the picture
    this.pace = makePace({
      gap: what.gap * 1000,
      run: (signal) => this.round(signal),
      hidden: () => document.visibilityState === "hidden",
      tell: (stage) => this.tell(stage),
    });
    what.place.replaceChildren(this.board.node);
    this.listen(what.signal);
    const possible = globalThis.isSecureContext && globalThis.Notification?.permission;
    if (!possible || possible === "denied") this.notify(false);
    if (before) this.resume(before);
    else {
      announce(`Watching ${this.target} every ${duration(what.gap)}.`);
      this.draw();
      this.pace.start();
    }
  }

  /** Goes on with what there was before the page was loaded again. @param {import("./watch-kept.js").Session} before */
  async resume({ going, notify }) {
    await this.drawable();
    if (this.what.signal.aborted) return;
    if (notify && !this.notifier) this.notify(false);
    if (going) this.goOn("The page was loaded again.");
    else this.tell({ state: "ended", why: "stopped" });
  }

  /** Loads the picture: there is nothing to draw before the first round has ended. */
  async drawable() {
    if (this.picture) return;
    const { makePicture } = await import("./watch-picture.js").catch(() => ({ makePicture: null }));
    if (this.picture || this.what.signal.aborted) return;
    this.picture = makePicture?.(this.what.signal, this.watcher) ?? null;
    this.frame.replaceChildren(this.picture?.node ?? lost("The part of this page that draws the rounds did not load."));
  }

  /** @param {AbortSignal} signal */
  listen(signal) {
    document.addEventListener("visibilitychange", () => this.pace.look(), { signal });
    const leave = () => {
      this.left = this.going();
      this.pace.stop();
    };
    const comeBack = (/** @type {PageTransitionEvent} */ { persisted }) => {
      if (persisted && this.left) this.goOn("Another page was open in this tab.");
    };
    addEventListener("pagehide", leave, { signal });
    addEventListener("pageshow", comeBack, { signal });
    const second = setInterval(() => this.count(), 1000);
    signal.addEventListener("abort", () => {
      clearInterval(second);
      this.pace.stop();
      this.sign(null);
    });
  }

  /** Switches notifications on or off. @param {boolean} byClick only then the browser may ask the visitor */
  async notify(byClick) {
    const module = await import("./watch-notify.js").catch(() => null);
    if (!module) return this.board.notify(false, "The part of this page that notifies did not load.");
    this.notifier ??= module.makeNotifier((on, words) => this.board.notify(on, words));
    await this.notifier.toggle(byClick);
    if (this.record.entries.length > 0) this.keep();
  }

  going = () => this.stage !== null && this.stage.state !== "ended";

  /** Keeps the record for when the page is loaded again. */
  keep() {
    const { record, notifier, what } = this;
    const [going, notify] = [this.left || this.going(), notifier?.on === true];
    keepSession(keyOf(what.asked), { record: record.kept(), gap: what.gap, going, notify });
  }

  /** @param {AbortSignal} signal */
  async round(signal) {
    const { slug, asked } = this.what;
    const began = Date.now();
    const apart = this.stage?.state === "running" ? this.stage.apart : 0;
    // A system that sleeps and a browser that stops the timers of a tab leave out rounds.
    if (this.due > 0 && began - this.due > apart) this.record.paused(this.due, began, "This tab was asleep.");
    const [answer] = await Promise.all([runTool(slug, asked.input, asked.options, signal), this.drawable()]);
    if (!signal.aborted) this.take(began, answer);
    return answer;
  }

  /** @param {number} began @param {Answer} answer */
  take(began, answer) {
    const { record } = this;
    // A rejection of the check itself is no round: it is shown where the watch ends.
    if (final.includes(answer.status)) return;
    if (ran(answer)) this.what.accepted();
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

  /** Notifies of another state than before. @param {string} verdict */
  compare(verdict) {
    const now = stateNow(this.record.entries);
    const words = { works: "works", fails: "fails", unknown: "gives no result" };
    if (now && this.known && now !== this.known) this.notifier?.send(`${this.host} ${words[now]}`, verdict, now);
    this.known = now;
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
    this.stage = stage;
    if (ended) this.away ||= Date.now();
    // A timer that comes a little early waits once more for the same moment.
    if (stage.state === "waiting" && stage.until !== this.until) {
      this.until = stage.until;
      this.due = Date.now() + stage.until - performance.now();
    }
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
    if (!ended) return;
    this.draw();
    if (this.what.signal.aborted || this.left) return;
    const words = stageWords(stage, this.record.rounds, performance.now());
    announce(words);
    if (stage.why !== "stopped") this.notifier?.send(`The watch of ${this.host} ended`, words, null);
  }

  /** Goes on after a time in which nothing was measured. @param {string} why */
  goOn(why) {
    if (this.record.entries.length > 0) this.record.paused(this.away, Date.now(), why);
    [this.away, this.due, this.left] = [0, 0, false];
    this.draw();
    announce("The watch continues.");
    this.pace.start();
  }

  /** Shows the state, which includes the seconds left. */
  count() {
    if (this.stage) this.board.state(stageWords(this.stage, this.record.rounds, performance.now()));
  }

  draw() {
    const { record, target, watcher } = this;
    const { text } = verdictOf(target, watcher, record.entries, record.changes.length);
    this.board.show(record.kept(), this.frame);
    this.picture?.set(record.entries, text);
    this.compare(text);
    this.sign(this.going() ? this.known : null);
    if (record.entries.length > 0 && !this.what.signal.aborted) this.keep();
  }

  /** @param {string} kind */
  async save(kind) {
    const { saveWatch } = await import("./watch-files.js").catch(() => ({ saveWatch: null }));
    if (!saveWatch) return announce("The file could not be made: a part of this page did not load.");
    saveWatch(kind, this.what, this.record.kept(), this.watcher, this.picture?.ink() ?? null);
  }
}

/**
 * What a watch is shown on. All that grows has its room from the start.
 * @param {string} target
 * @param {Watcher} watcher
 * @param {{stop: () => void, goOn: () => void, notify: () => void, save: (kind: string) => void}} on
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
  const notifying = button("watch-notify", "Notify me", "quiet", on.notify);
  const notified = el("span", { class: "hint", "aria-live": "polite" });
  const notify = (/** @type {boolean} */ on, /** @type {string} */ words) => {
    notifying.setAttribute("aria-pressed", String(on));
    notified.textContent = words;
    // Where there can be no notifications there is no button, but the words why.
    const none = !on && words !== "";
    if (none && document.activeElement === notifying) (stop.hidden ? goOn : stop).focus();
    notifying.hidden = none;
  };
  notify(false, "");
  const earlier = el("p", { class: "hint" });
  const strip = el("div", { class: "watch-latest" }, drawStrip([]), earlier, el("p", {}, notifying, notified));
  const cells = readings.map(([name]) => ({ name, node: el("dd", {}, "—"), title: el("dt", {}, name) }));
  const list = el("dl", { class: "readings" }, ...cells.map((c) => el("div", {}, c.title, c.node)));
  const events = el("div", { class: "watch-changes", role: "group", "aria-label": "Changes", tabindex: "0" });
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
    strip,
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
    notify,
    end: (/** @type {Node} */ failure) => problem.replaceChildren(failure),
    going: (/** @type {boolean} */ on, /** @type {string} */ state) => {
      node.dataset.state = state;
      const focused = document.activeElement === (on ? goOn : stop);
      stop.hidden = !on;
      goOn.hidden = on;
      if (on) problem.replaceChildren();
      if (focused) (on ? stop : goOn).focus();
    },
    show: (/** @type {import("./watch-record.js").Kept} */ record, /** @type {Node} */ picture) => {
      const { entries, changes, forgotten } = record;
      const { marks, before } = stripOf(entries, forgotten);
      strip.firstElementChild?.replaceWith(drawStrip(marks));
      earlier.textContent = before;
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
        section("Changes", events),
        section(path ? "Each hop" : "The latest rounds", rows),
        el("p", { class: "hint" }, "Times are UTC. This record is in this tab only and is gone when you close it."),
      );
      below.hidden = false;
    },
  };
}

/** @param {boolean} probes @returns {[string, (t: ReturnType<typeof tally>, changes: number) => string][]} */
const readingsOf = (probes) => [
  ["Rounds", (t) => number(t.answered + t.missed + t.limited)],
  ["Median", (t) => ms(t.median)],
  ["95th percentile", (t) => ms(t.p95)],
  probes
    ? ["Probes unanswered", (t) => (t.sent > 0 ? percent(share(t.lost, t.sent)) : "—")]
    : ["Rounds with trouble", (t) => number(t.troubled)],
  ["No result", (t) => number(t.missed + t.limited)],
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
      text: `${e.kind === "pause" ? `${kinds.pause} until ${clock(e.until)}` : kinds[e.kind]}: ${e.why}`,
    }));
  const news = changes.map(({ at, text }) => ({ at, text: `${text}.` }));
  const list = [...news, ...gaps].sort((a, b) => b.at - a.at).slice(0, mostEvents);
  if (list.length === 0) return el("p", {}, ended ? "Nothing changed." : "None so far.");
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

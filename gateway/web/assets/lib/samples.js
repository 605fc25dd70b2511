// @ts-check
// A run of samples as the page shows it: the sentence, the readings, the line, and afterwards the numbers and every
// sample.

import { liveChart } from "./chart.js";
import { el } from "./dom.js";
import { strip } from "./echo.js";
import { capital, dateTime, listed, lower, ms, number, percent, plural } from "./format.js";
import { copyAction, facts, folded, more, none, notice, section, table, verdictLine } from "./parts.js";
import { felt, runs, share, summary } from "./stats.js";

/** @typedef {import("./sampling.js").Run} Run */
/** @typedef {import("./sampling.js").Sample} Sample */
/** @typedef {import("./view.js").Verdict} Verdict */

/** More cells or rows than these are no picture and no table any more. */
const mostShown = 600;

/**
 * What a run comes to so far.
 * @param {Run} run
 */
export function tally(run) {
  const counted = run.samples.filter((s) => !s.excluded && s.outcome !== "open");
  const of = (/** @type {string} */ outcome) => counted.filter((s) => s.outcome === outcome);
  const [late, failed] = [of("late"), of("failed")];
  return {
    counted,
    late,
    failed,
    times: summary(of("answered").map((s) => s.ms ?? 0)),
    missed: late.length + failed.length,
    bursts: runs(counted.map((s) => s.outcome !== "answered")),
    background: run.samples.filter((s) => s.excluded === "background").length,
  };
}

/** @typedef {ReturnType<typeof tally>} Tally */

/** @param {Tally} t */
const longestRun = (t) => Math.max(0, ...t.bursts.map((b) => b.length));

/**
 * @param {string} probe
 * @param {Tally} t
 * @returns {Verdict}
 */
export function verdictOf(probe, { counted, late, failed, missed, times }) {
  const all = plural(counted.length, "sample");
  if (counted.length === 0) return { tone: "info", text: "No samples counted yet." };
  if (times.count === 0) {
    const none = counted.length === 1 ? "The one sample was not" : `None of ${all} was`;
    return { tone: "bad", text: `${none} answered in time${cameLate(late)}.` };
  }
  const middle = `median ${ms(times.median)}`;
  if (missed === 0)
    return {
      tone: "good",
      text:
        probe === "ping"
          ? `${capital(middle)} over ${all}, none late or failed.`
          : `None lost: ${all} answered in time, ${middle}.`,
    };
  const parts = listed(
    [
      late.length > 0 ? `${number(late.length)} late` : "",
      failed.length > 0 ? `${number(failed.length)} failed` : "",
    ].filter(Boolean),
  );
  const part = share(missed, counted.length) ?? 0;
  return {
    // As findings of packet-loss are graded: what still gets through is not broken.
    tone: part >= 10 ? "warn" : "info",
    text:
      probe === "ping"
        ? `${capital(middle)}; ${parts} of ${all}.`
        : `${percent(part)} of ${all} late or failed (${parts}), ${middle}.`,
  };
}

/** What is late is not lost where its answer came after all. @param {Sample[]} late */
function cameLate(late) {
  const came = late.filter((s) => s.ms !== null).length;
  return came === 0 ? "" : `; ${plural(came, "answer")} came later`;
}

/** @type {Record<string, [string, (t: Tally) => string]>} */
const readings = {
  median: ["Median", (t) => ms(t.times.median)],
  p95: ["95th percentile", (t) => ms(t.times.p95)],
  jitter: ["Jitter", (t) => ms(t.times.jitter)],
  missed: ["Late or failed", (t) => percent(share(t.missed, t.counted.length))],
  burst: ["Longest burst", (t) => (t.missed ? plural(longestRun(t), "sample") : "none")],
  late: ["Late", (t) => number(t.late.length)],
  failed: ["Failed", (t) => number(t.failed.length)],
  samples: ["Samples", (t) => number(t.counted.length)],
};

/** @type {Record<string, string[]>} what a page puts first */
const order = {
  ping: ["median", "p95", "jitter", "late", "failed", "samples"],
  "packet-loss": ["missed", "burst", "late", "failed", "median", "samples"],
};

/** @type {ReturnType<typeof liveChart> | undefined} all runs are drawn on one chart, one after the other */
let chart;

/**
 * What a run is shown on. All that changes while it runs has its place from the start.
 * @param {string} probe
 * @param {number} planned how many samples count
 * @param {number} length in seconds, 0 until stopped
 */
export function board(probe, planned, length) {
  const began = new Date().toISOString();
  const sentence = el("div", { class: "sentence" }, verdictLine({ tone: "info", text: "Warming up." }));
  const notes = el("div");
  const cells = (order[probe] ?? order.ping).map((key) => ({ node: el("dd", {}, "—"), key }));
  const list = el(
    "dl",
    { class: "readings" },
    ...cells.map(({ node, key }) => el("div", {}, el("dt", {}, readings[key][0]), node)),
  );
  chart ??= liveChart();
  const line = chart;
  line.set({ x: [], y: [], marks: [] }, 0, length || 60);
  const row = el("div");
  const lines = section("Round trips over time", line.node);
  const pictures = probe === "ping" ? [lines] : [section("Samples in order", row), lines];
  const node = el("div", { class: "sample-board" }, sentence, notes, list, ...pictures);

  /** @param {Run} run @param {Tally} t @param {boolean} over */
  const draw = (run, t, over) => {
    for (const { node, key } of cells) node.textContent = readings[key][1](t);
    notes.replaceChildren(...held(run, t));
    const points = pointsOf(run);
    const last = points.x.at(-1) ?? 0;
    if (over) line.set(points, 0, run.ending === "completed" && length ? length : Math.max(1, last));
    else line.set(points, length ? 0 : Math.max(0, last - 300), length || Math.max(60, last));
    if (probe !== "ping") row.replaceChildren(cellsOf(run, t, over || !length ? 0 : planned));
  };

  return {
    node,
    live: (/** @type {Run} */ run) => {
      const t = tally(run);
      draw(run, t, false);
      if (t.counted.length > 0)
        sentence.replaceChildren(verdictLine({ tone: "info", text: `So far: ${lower(verdictOf(probe, t).text)}` }));
    },
    done: (/** @type {Run} */ run) => {
      const t = tally(run);
      draw(run, t, true);
      const verdict =
        t.counted.length > 0
          ? verdictOf(probe, t)
          : { tone: /** @type {const} */ ("info"), text: "No result: no sample was counted before it ended." };
      sentence.replaceChildren(verdictLine(verdict));
      line.describe(`Round trip of each sample over time. ${verdict.text} ${spread(t)}`);
      const means = meaning(t);
      if (means) list.before(means);
      node.append(folded("In numbers", "and each sample, also as CSV", numbers(run, t, began), ...every(run)));
      return verdict;
    },
  };
}

/** @param {Tally} t */
const spread = ({ times }) =>
  times.count
    ? `From ${ms(times.min)} to ${ms(times.max)}, 95th percentile ${ms(times.p95)}, jitter ${ms(times.jitter)}.`
    : "";

/**
 * @param {Run} run
 * @returns {import("./chart.js").Points}
 */
function pointsOf(run) {
  const shown = run.samples.filter((s) => s.excluded !== "warm-up");
  return {
    x: shown.map((s) => s.at / 1000),
    y: shown.map((s) => (!s.excluded && s.outcome === "answered" ? s.ms : null)),
    marks: shown.map((s) => (!s.excluded && (s.outcome === "late" || s.outcome === "failed") ? s.outcome : null)),
  };
}

/**
 * @param {Run} run
 * @param {Tally} t
 * @param {number} planned cells that are kept for samples to come
 * @returns {HTMLElement}
 */
function cellsOf(run, t, planned) {
  const known = run.samples
    .filter((s) => s.excluded !== "warm-up")
    .map(
      (s) =>
        /** @type {import("./echo.js").Cell} */ (
          s.outcome === "open" ? "waiting" : s.excluded ? "uncounted" : s.outcome
        ),
    );
  const room = Math.max(0, Math.min(planned, mostShown) - known.length);
  const cells = [...known.slice(-mostShown), ...Array(room).fill("waiting")];
  const words =
    `${plural(t.counted.length, "sample")} in the order of sending: ${t.times.count} answered, ${t.late.length} ` +
    `late, ${t.failed.length} failed.`;
  const figure = strip(cells, words, [
    "answered",
    "late",
    "failed",
    ...(known.includes("uncounted") ? [/** @type {const} */ ("uncounted")] : []),
  ]);
  if (known.length > mostShown)
    figure.append(el("figcaption", {}, `The latest ${mostShown} of ${plural(known.length, "sample")}.`));
  return figure;
}

/**
 * What the browser did to a page that no one looked at.
 * @param {Run} run
 * @param {Tally} t
 * @returns {HTMLElement[]}
 */
function held(run, { background }) {
  if (background + run.skipped === 0) return [];
  const parts = [
    background > 0 ? `${plural(background, "sample was", "samples were")} not counted` : "",
    run.skipped > 0 ? `${plural(run.skipped, "sample was", "samples were")} not sent` : "",
  ].filter(Boolean);
  return [
    notice("warn", `This tab was in the background or held back for a while: ${listed(parts)}. Keep it in front.`),
  ];
}

/**
 * @param {Run} run
 * @param {Tally} t
 * @param {string} began
 */
function numbers(run, t, began) {
  const time = (/** @type {number | null} */ value) => (value === null ? null : ms(value));
  const { times } = t;
  const warm = run.samples.filter((s) => s.excluded === "warm-up");
  const fresh = t.counted.filter((s) => s.reused === false).length;
  const known = t.counted.some((s) => s.reused !== null);
  return facts([
    ["Samples that count", number(t.counted.length)],
    ["Answered in time", number(times.count)],
    ["Late", withWords(t.late.length, answersAfter(t.late))],
    ["Failed", withWords(t.failed.length, listed([...new Set(t.failed.map((s) => s.why))]))],
    ["Late or failed", percent(share(t.missed, t.counted.length))],
    [
      "Bursts",
      t.missed
        ? t.bursts
            .slice(0, 20)
            .map((b) => `${b.length} from ${sentAt(t.counted[b.start])}`)
            .join(", ")
        : null,
    ],
    ["Fastest", time(times.min)],
    ["Median", time(times.median)],
    ["Average", time(times.mean)],
    ["95th percentile", time(times.p95)],
    ["Slowest", time(times.max)],
    ["Jitter", time(times.jitter)],
    ["Warm-up, not counted", warm.length ? warm.map((s) => (s.ms === null ? s.outcome : ms(s.ms))).join(", ") : none()],
    ["In the background, not counted", t.background || null],
    ["Not sent", run.skipped || null],
    ["Still open at the end, not counted", run.unfinished || null],
    [
      "New connections",
      known
        ? withWords(
            fresh,
            fresh ? "the times do not include opening them" : "all samples used connections that were already open",
          )
        : null,
    ],
    ["Protocol", listed([...new Set(t.counted.map((s) => protocol(s.protocol)))].filter(Boolean))],
    ["Started", dateTime(began)],
  ]);
}

/** A timer may be a hair early, which is not worth a minus sign. @param {Sample} s */
const sentAt = (s) => `${(Math.round(s.at / 10) / 100 || 0).toFixed(2)} s`;

/** @param {number} count @param {string} words */
const withWords = (count, words) => (count > 0 && words ? `${number(count)}: ${words}` : number(count));

/** @param {Sample[]} late */
function answersAfter(late) {
  const came = late.filter((s) => s.ms !== null);
  return came.length
    ? `${came.length} answered after all, the slowest after ${ms(Math.max(...came.map((s) => s.ms ?? 0)))}`
    : "no answer while we waited";
}

/** @param {string} name ALPN */
const protocol = (name) => ({ h3: "HTTP/3", h2: "HTTP/2", "http/1.1": "HTTP/1.1" })[name] ?? name;

/** @param {Tally} t */
function meaning(t) {
  const { times } = t;
  const paragraphs = [];
  if (times.count > 0)
    paragraphs.push(
      `Half of the answers took ${ms(times.median)} or less, 95 % at most ${ms(times.p95)}: the larger the gap, the ` +
        "more uneven the connection.",
    );
  if (times.jitter !== null) paragraphs.push(`Jitter: ${ms(times.jitter)} (${felt(times.jitter)}).`);
  if (t.missed > 0)
    paragraphs.push(
      longestRun(t) > 2
        ? `Up to ${longestRun(t)} samples in a row were late or failed: the connection stalled.`
        : "Single samples were late or failed. Measure again over a cable: it may be a weak wireless signal.",
    );
  return paragraphs.length === 0
    ? null
    : section("What this means", el("div", { class: "prose" }, ...paragraphs.map((p) => el("p", {}, p))));
}

/** @param {Run} run */
function every(run) {
  const rows = () =>
    run.samples
      .slice(-mostShown)
      .map((s) => [String(s.n), sentAt(s), s.outcome, s.ms === null ? "—" : ms(s.ms), remark(s)]);
  const columns = [
    { title: "Number", numeric: true },
    { title: "Sent at", numeric: true },
    { title: "Outcome" },
    { title: "Time", numeric: true },
    { title: "Remark" },
  ];
  const part = more("Each sample");
  // Hundreds of rows are made when someone wants them.
  part.addEventListener(
    "toggle",
    () =>
      part.lastElementChild?.replaceChildren(
        table({
          caption: run.samples.length > mostShown ? `The latest ${mostShown} samples; the CSV has all` : "Each sample",
          columns,
          rows: rows(),
        }),
      ),
    { once: true },
  );
  return [
    el(
      "div",
      { class: "toolbar" },
      copyAction("Copy samples as CSV", () => csv(run)),
    ),
    part,
  ];
}

/** @param {Sample} s */
const remark = (s) =>
  [s.excluded && `${s.excluded}, not counted`, s.reused === false && "new connection", s.why]
    .filter(Boolean)
    .join("; ");

/**
 * @param {Run} run
 * @returns {string}
 */
export function csv(run) {
  const quoted = (/** @type {string} */ text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const rows = run.samples.map((s) => [
    s.n,
    s.at.toFixed(1),
    s.outcome,
    s.ms?.toFixed(3) ?? "",
    s.excluded ?? "",
    s.reused === null ? "" : s.reused ? "no" : "yes",
    s.protocol,
    quoted(s.why),
  ]);
  return [["number", "sent_ms", "outcome", "time_ms", "excluded", "new_connection", "protocol", "error"], ...rows]
    .map((r) => `${r.join(",")}\n`)
    .join("");
}

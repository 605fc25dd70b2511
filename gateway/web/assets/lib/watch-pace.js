// @ts-check
// When the rounds of a watch run: one after the other, at a fixed gap from start to start, slower where the service
// asks for it and where the page is hidden. It draws nothing and requests nothing itself, so that its rules are tested
// on a test's own clock.

/** How long a watch goes on in view before it ends by itself, in milliseconds. */
export const longest = 30 * 60_000;
/** The same of a hidden page, which is watched for its title or a notification. */
export const longestHidden = 4 * 3_600_000;
/** The least gap of a hidden page, in milliseconds: browsers slow its timers to one a minute. */
export const hiddenGap = 60_000;
/** What lies at least between the end of a round and the next, in milliseconds. */
export const breath = 1000;
/** How many times the gap the service may make of it by its refusals. */
export const slowest = 8;
/** After so many rounds without a refusal the gap is halved again, down to what it was. */
export const calm = 10;

/** Answers after which the same question is not asked again: it was refused for what it is. */
export const final = [400, 413, 501];

/** @typedef {{status: number, retryAfter?: number}} Reply what the pace minds of an answer; retryAfter in seconds */

/**
 * Where a watch is. Moments are by performance.now(), which goes on where the visitor's clock is set; apart is the gap
 * that holds now and spaced the one between the starts of the latest two rounds, 0 before the second, in milliseconds.
 * @template R
 * @typedef {{state: "running", apart: number}
 *   | {state: "waiting", until: number, apart: number, spaced: number, limited: boolean, hidden: boolean}
 *   | {state: "ended", why: "stopped" | "time"} | {state: "ended", why: "refused", reply: R}} Stage
 */

/**
 * Makes a watch that stands still.
 * @template {Reply} R
 * @param {object} hooks
 * @param {number} hooks.gap milliseconds
 * @param {(signal: AbortSignal) => Promise<R>} hooks.run does a round; it rejects only when the signal aborts
 * @param {() => boolean} hooks.hidden whether the page is out of sight
 * @param {(stage: Stage<R>) => void} hooks.tell
 */
export function makePace({ gap, run, hidden, tell }) {
  let state = /** @type {Stage<R>["state"]} */ ("ended");
  let since = 0; // when it started, or the page was last hidden or shown
  let began = Number.NEGATIVE_INFINITY; // the latest round
  let spaced = 0;
  let ready = 0; // no round begins earlier, whatever the gap is
  let times = 1; // the gap is so many times what it was
  let quiet = 0; // rounds since the last refusal
  let limited = false;
  let unseen = false;
  let stopper = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  const apart = () => Math.max(gap * times, unseen ? hiddenGap : 0);

  /** @param {Stage<R>} stage */
  function enter(stage) {
    clearTimeout(timer);
    state = stage.state;
    tell(stage);
  }

  /** Begins, or goes on after an end. A watch that goes on already is left alone. */
  function start() {
    if (state !== "ended") return;
    since = performance.now();
    unseen = hidden();
    ready = Math.max(ready, since);
    stopper = new AbortController();
    next();
  }

  /** Does what is to be done now. */
  function next() {
    const now = performance.now();
    const due = Math.max(began + apart(), ready);
    if (Math.max(due, now) - since >= (unseen ? longestHidden : longest)) enter({ state: "ended", why: "time" });
    else if (due > now) {
      enter({ state: "waiting", until: due, apart: apart(), spaced, limited, hidden: unseen });
      timer = setTimeout(next, due - now);
    } else round(now);
  }

  /** @param {number} now */
  async function round(now) {
    const { signal } = stopper;
    spaced = Number.isFinite(began) ? now - began : 0;
    began = now;
    enter({ state: "running", apart: apart() });
    const reply = await run(signal).catch((failure) => {
      if (signal.aborted) return null;
      throw failure;
    });
    if (reply === null || signal.aborted) return;
    if (final.includes(reply.status)) enter({ state: "ended", why: "refused", reply });
    else settle(reply);
  }

  /** @param {R} reply */
  function settle({ status, retryAfter }) {
    const now = performance.now();
    limited = (status === 429 || status === 503) && retryAfter !== undefined;
    if (limited) slower();
    else if (times > 1 && (quiet += 1) >= calm) faster();
    ready = now + (limited ? Math.max(1, retryAfter ?? 0) * 1000 : breath);
    next();
  }

  function slower() {
    times = Math.min(times * 2, slowest);
    quiet = 0;
  }

  function faster() {
    times /= 2;
    quiet = 0;
  }

  /**
   * To be called whenever the page may have become hidden or visible. A round that runs goes on; shown again, the page
   * makes up for what its slower timers left out with one round, not with all.
   */
  function look() {
    if (unseen === hidden()) return;
    unseen = hidden();
    since = performance.now();
    if (state === "waiting") next();
  }

  function stop() {
    stopper.abort();
    if (state !== "ended") enter({ state: "ended", why: "stopped" });
  }

  return { start, look, stop };
}

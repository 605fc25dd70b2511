// @ts-check
// When the rounds of a watch run: one after the other, at a fixed gap from start to start, slower where the service
// asks for it, and not at all while no one looks. It draws nothing and asks nothing itself, so that its rules can be
// tried on a clock of a test's own.

/** How long a watch goes on before someone must say that it is still wanted, in milliseconds. */
export const longest = 30 * 60_000;
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
 * that
 * holds now, in milliseconds. Hidden has no moment: the next round comes when the page is looked at again.
 * @template R
 * @typedef {{state: "running", apart: number} | {state: "waiting", until: number, apart: number, limited: boolean}
 *   | {state: "hidden", apart: number} | {state: "ended", why: "stopped" | "time"} | {state: "ended", why: "refused",
 * reply: R}} Stage
 */

/**
 * Makes a watch that stands still.
 * @template {Reply} R
 * @param {object} hooks
 * @param {number} hooks.gap milliseconds
 * @param {(signal: AbortSignal) => Promise<R>} hooks.run does a round; it rejects only when the signal aborts
 * @param {() => boolean} hooks.hidden whether no one can see the page
 * @param {(stage: Stage<R>) => void} hooks.tell
 * @param {(missed: boolean) => void} hooks.seen called when a hidden watch is looked at again, before it goes on;
 *   missed is
 *   whether a round was due meanwhile
 */
export function makePace({ gap, run, hidden, tell, seen }) {
  let state = /** @type {Stage<R>["state"]} */ ("ended");
  let since = 0;
  let due = 0;
  let times = 1; // the gap is so many times what it was
  let quiet = 0; // rounds since the last refusal
  let limited = false;
  let stopper = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  const apart = () => gap * times;

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
    due = Math.max(due, since);
    stopper = new AbortController();
    next();
  }

  /** Does what is to be done now. */
  function next() {
    const now = performance.now();
    if (Math.max(due, now) - since >= longest) enter({ state: "ended", why: "time" });
    else if (hidden()) enter({ state: "hidden", apart: apart() });
    else if (due > now) {
      enter({ state: "waiting", until: due, apart: apart(), limited });
      timer = setTimeout(next, due - now);
    } else round(now);
  }

  /** @param {number} began */
  async function round(began) {
    const { signal } = stopper;
    // A visitor who stops this round and goes on at once is no faster for it.
    due = began + apart();
    enter({ state: "running", apart: apart() });
    const reply = await run(signal).catch((failure) => {
      if (signal.aborted) return null;
      throw failure;
    });
    if (reply === null || signal.aborted) return;
    if (final.includes(reply.status)) enter({ state: "ended", why: "refused", reply });
    else settle(reply, began);
  }

  /**
   * @param {R} reply
   * @param {number} began
   */
  function settle({ status, retryAfter }, began) {
    const now = performance.now();
    limited = (status === 429 || status === 503) && retryAfter !== undefined;
    if (limited) slower();
    else if (times > 1 && (quiet += 1) >= calm) faster();
    const asked = limited ? now + Math.max(1, retryAfter ?? 0) * 1000 : 0;
    due = Math.max(began + apart(), now + breath, asked);
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

  /** To be called whenever the page may have become hidden or visible. A round that runs goes on. */
  function look() {
    if (state === "waiting" && hidden()) enter({ state: "hidden", apart: apart() });
    if (state !== "hidden" || hidden()) return;
    seen(performance.now() > due);
    next();
  }

  function stop() {
    stopper.abort();
    if (state !== "ended") enter({ state: "ended", why: "stopped" });
  }

  return { start, look, stop };
}

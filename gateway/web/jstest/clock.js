// @ts-check
// A clock that stands still until a test moves it. Node's own mock of timers has no Date before version 20, and Debian
// 12 has 18.

const real = {
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  now: Date.now,
  since: performance.now,
};

/** @type {Map<number, {at: number, then: () => void}>} */
const timers = new Map();
let time = 0;
let step = 0; // by which the visitor's clock was set
let last = 0;

/** Puts the clock in place of the real one. @param {number} now Unix milliseconds */
export function stopClock(now) {
  time = now;
  step = 0;
  timers.clear();
  Date.now = () => time + step;
  performance.now = () => time;
  globalThis.setTimeout = /** @type {any} */ (
    (/** @type {() => void} */ then, ms = 0) => {
      timers.set((last += 1), { at: time + ms, then });
      return last;
    }
  );
  globalThis.clearTimeout = /** @type {any} */ ((/** @type {number} */ id) => timers.delete(id));
}

/** Sets the clock of the day, as visitors and their systems do: no time passes. @param {number} ms */
export function setClock(ms) {
  step += ms;
}

/** Lets time pass; what is due happens in its order. @param {number} ms */
export function tick(ms) {
  const until = time + ms;
  for (;;) {
    const [next] = [...timers].filter(([, t]) => t.at <= until).sort(([, a], [, b]) => a.at - b.at);
    if (!next) break;
    timers.delete(next[0]);
    time = Math.max(time, next[1].at);
    next[1].then();
  }
  time = until;
}

/** Brings the real clock back. */
export function releaseClock() {
  Date.now = real.now;
  performance.now = real.since;
  globalThis.setTimeout = real.setTimeout;
  globalThis.clearTimeout = real.clearTimeout;
}

// @ts-check
// A clock that stands still until a test moves it. Node's own mock of timers has no Date before version 20, and Debian 12
// has 18.

const real = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout, now: Date.now };

/** @type {Map<number, {at: number, then: () => void}>} */
const timers = new Map();
let time = 0;
let last = 0;

/** Puts the clock in place of the real one. @param {number} now Unix milliseconds */
export function stopClock(now) {
  time = now;
  timers.clear();
  Date.now = () => time;
  globalThis.setTimeout = /** @type {any} */ ((/** @type {() => void} */ then, ms = 0) => {
    timers.set(last += 1, { at: time + ms, then });
    return last;
  });
  globalThis.clearTimeout = /** @type {any} */ ((/** @type {number} */ id) => timers.delete(id));
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
  globalThis.setTimeout = real.setTimeout;
  globalThis.clearTimeout = real.clearTimeout;
}

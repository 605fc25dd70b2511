// @ts-check
// When the checks of a report run: a few at once, and later where the service asks to wait. It draws nothing and asks
// nothing itself, so that its rules can be tried on a clock of a test's own.

/** How many may run at the same time. */
export const atOnce = 4;
/** How often one check is sent before it is given up. */
export const mostTries = 3;
/** How long one check may be made to wait in all, in milliseconds. */
export const patience = 90_000;

/** @typedef {{status: number, retryAfter?: number}} Reply what the queue minds of an answer; retryAfter in seconds */

/**
 * Where a job is. A limited one was refused, or given up before it was sent where there is no reply.
 * @template R
 * @typedef {{state: "waiting", until?: number} | {state: "running"} | {state: "answered", reply: R} | {state:
 *   "cancelled"}
 *   | {state: "limited", until: number, final: boolean, reply?: R}} Stage until is by performance.now(), which goes on
 * where
 *   the visitor's clock is set
 */

/**
 * @template J, R
 * @typedef {object} Entry
 * @property {J} job
 * @property {boolean} running
 * @property {number} tries
 * @property {number} ready before this moment it may not be sent
 * @property {number} since when it was first made to wait; 0 for never
 * @property {number} told the moment that was reported last
 * @property {number} after the end of the pause that it was last sent after
 * @property {R} [reply] the last refusal
 */

/**
 * Makes a queue. Jobs start in the order in which they were added. 429 holds everything back as long as it says, and
 * then
 * jobs go one by one until as many as may run at once have passed: what a limit gives back comes in drops, and each
 * refusal
 * costs a try. 503 holds back only its own job; other answers end a job.
 * @template J
 * @template {Reply} R
 * @param {object} hooks
 * @param {(job: J, signal: AbortSignal) => Promise<R>} hooks.run sends a job; it rejects only when the signal aborts
 * @param {(job: J, stage: Stage<R>) => void} hooks.tell
 * @param {() => void} hooks.idle called whenever no job is left
 */
export function makeQueue({ run, tell, idle }) {
  /** @type {Entry<J, R>[]} those that have not ended */
  let entries = [];
  let held = 0;
  let singly = 0; // how many jobs have yet to pass one by one
  let stop = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  /** @param {J[]} jobs */
  function add(...jobs) {
    entries.push(...jobs.map((job) => ({ job, running: false, tries: 0, ready: 0, since: 0, told: 0, after: 0 })));
    for (const job of jobs) tell(job, { state: "waiting" });
    next();
  }

  /** Starts what may start, and comes back when more may. */
  function next() {
    clearTimeout(timer);
    const now = performance.now();
    for (const entry of entries.filter((e) => !e.running && start(e) > now)) delay(entry, now);
    for (const entry of entries.filter((e) => !e.running && start(e) <= now)) {
      if (room()) send(entry);
    }
    const later = entries.map(start).filter((moment) => moment > now);
    if (later.length > 0) timer = setTimeout(next, Math.min(...later) - now);
    if (entries.length === 0) idle();
  }

  function room() {
    const running = entries.filter((e) => e.running);
    return running.length < atOnce && (singly === 0 || !running.some((e) => e.after === held));
  }

  /** @param {Entry<J, R>} entry */
  const start = (entry) => Math.max(entry.ready, held);

  /**
   * Lets a job wait for its moment, or gives it up where that is too long.
   * @param {Entry<J, R>} entry
   * @param {number} now
   */
  function delay(entry, now) {
    const until = start(entry);
    if (entry.told === until) return;
    entry.told = until;
    entry.since ||= now;
    const final = entry.tries >= mostTries || until - entry.since > patience;
    if (final) drop(entry);
    if (final || entry.reply) tell(entry.job, { state: "limited", until, final, reply: entry.reply });
    else tell(entry.job, { state: "waiting", until });
  }

  /** @param {Entry<J, R>} entry */
  async function send(entry) {
    const { signal } = stop;
    entry.running = true;
    entry.tries += 1;
    entry.after = held;
    tell(entry.job, { state: "running" });
    const reply = await run(entry.job, signal).catch((failure) => {
      if (signal.aborted) return null;
      throw failure;
    });
    // What was cancelled has been reported so already.
    if (reply === null || signal.aborted) return;
    entry.running = false;
    settle(entry, reply);
    next();
  }

  /**
   * @param {Entry<J, R>} entry
   * @param {R} reply
   */
  function settle(entry, reply) {
    const until = performance.now() + Math.max(1, reply.retryAfter ?? 0) * 1000;
    if (reply.status !== 429 && entry.after === held) singly = Math.max(0, singly - 1);
    if (reply.retryAfter === undefined || (reply.status !== 429 && reply.status !== 503)) {
      drop(entry);
      tell(entry.job, { state: "answered", reply });
      return;
    }
    entry.reply = reply;
    entry.ready = until;
    if (reply.status !== 429) return;
    held = Math.max(held, until);
    singly = atOnce;
  }

  /** @param {Entry<J, R>} entry */
  function drop(entry) {
    entries = entries.filter((e) => e !== entry);
  }

  /** Ends all that has not ended. The queue takes new jobs afterwards. */
  function cancel() {
    const ended = entries;
    if (ended.length === 0) return;
    entries = [];
    clearTimeout(timer);
    stop.abort();
    stop = new AbortController();
    for (const { job } of ended) tell(job, { state: "cancelled" });
    idle();
  }

  return { add, cancel };
}

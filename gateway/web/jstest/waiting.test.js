// @ts-check
import assert from "node:assert/strict";
import test from "node:test";

import { waitingOf } from "../assets/lib/waiting.js";

/**
 * Plays a page's load.
 * @param {{waits: boolean, state?: unknown}} page
 */
function load({ waits, state = null }) {
  let notice = waits;
  const entry = { state, replaceState: (/** @type {unknown} */ next) => { entry.state = next; } };
  Object.assign(globalThis, { history: entry, document: { getElementById: () => (notice ? { remove: () => { notice = false; } } : null) } });
  const form = /** @type {HTMLFormElement} */ (/** @type {unknown} */ ({ dataset: waits ? { waits: "" } : {} }));
  return { waiting: waitingOf(form), entry, noticed: () => notice };
}

test("a page of our own runs at once", () => {
  assert.equal(load({ waits: false }).waiting.on, false);
});

test("a page that another site opened waits, until something runs", () => {
  const { waiting, entry, noticed } = load({ waits: true });
  assert.equal(waiting.on, true);
  assert.equal(noticed(), true);
  waiting.end();
  assert.equal(waiting.on, false);
  assert.equal(noticed(), false);
  assert.deepEqual(entry.state, { ran: true });
});

test("what has run in an entry of the history runs again when that is loaded again", () => {
  const { entry } = load({ waits: true });
  assert.equal(load({ waits: true, state: entry.state }).waiting.on, true);
  const first = load({ waits: true, state: { tab: 1 } });
  first.waiting.end();
  assert.deepEqual(first.entry.state, { tab: 1, ran: true });
  assert.equal(load({ waits: true, state: first.entry.state }).waiting.on, false);
});

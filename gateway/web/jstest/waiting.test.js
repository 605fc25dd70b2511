// @ts-check
import assert from "node:assert/strict";
import test from "node:test";

import { waitingOf } from "../assets/lib/waiting.js";

/**
 * Plays a page's load, and what the visitor does to its history.
 * @param {{waits: boolean, state?: unknown}} page
 */
function load({ waits, state = null }) {
  const entries = [state];
  let at = 0;
  const note = {
    isConnected: waits,
    remove: () => {
      note.isConnected = false;
    },
  };
  const history = {
    get state() {
      return entries[at];
    },
    replaceState: (/** @type {unknown} */ next) => {
      entries[at] = next;
    },
  };
  Object.assign(globalThis, { history, document: { getElementById: () => (waits ? note : null) } });
  const form = /** @type {HTMLFormElement} */ (
    /** @type {unknown} */ ({
      dataset: waits ? { waits: "" } : {},
      before: () => {
        note.isConnected = true;
      },
    })
  );
  return {
    waiting: waitingOf(form),
    history,
    noticed: () => note.isConnected,
    push: () => {
      entries.splice(++at, Infinity, null);
    },
    go: (/** @type {number} */ steps) => {
      at += steps;
    },
  };
}

test("a page of our own runs at once, in each of its entries", () => {
  const { waiting, push, noticed } = load({ waits: false });
  assert.equal(waiting.on, false);
  push();
  waiting.show();
  assert.equal(waiting.on, false);
  assert.equal(noticed(), false);
});

test("a page that another site opened waits, until something runs", () => {
  const { waiting, history, noticed } = load({ waits: true });
  assert.equal(waiting.on, true);
  assert.equal(noticed(), true);
  waiting.end();
  assert.equal(waiting.on, false);
  assert.equal(noticed(), false);
  assert.deepEqual(history.state, { ran: true });
});

test("what has run in an entry of the history runs again when that is loaded again", () => {
  const { history } = load({ waits: true });
  assert.equal(load({ waits: true, state: history.state }).waiting.on, true);
  const first = load({ waits: true, state: { tab: 1 } });
  first.waiting.end();
  assert.deepEqual(first.history.state, { tab: 1, ran: true });
  assert.equal(load({ waits: true, state: first.history.state }).waiting.on, false);
});

test("going back to another site's link waits again, where only another target has run", () => {
  const { waiting, push, go, noticed } = load({ waits: true });
  push();
  waiting.end();
  assert.equal(waiting.on, false);
  assert.equal(noticed(), false);
  go(-1);
  waiting.show();
  assert.equal(waiting.on, true);
  assert.equal(noticed(), true);
  go(1);
  waiting.show();
  assert.equal(waiting.on, false);
  assert.equal(noticed(), false);
});

test("going back to another site's link runs, where the visitor had run that too", () => {
  const { waiting, push, go } = load({ waits: true });
  waiting.end();
  push();
  waiting.end();
  go(-1);
  assert.equal(waiting.on, false);
});

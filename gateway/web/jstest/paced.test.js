// @ts-check
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { paced } from "../assets/lib/paced.js";

test("what is asked for in a row is drawn once, and at a pace", (/** @type {any} */ t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let clock = 1000;
  t.mock.method(performance, "now", () => clock);
  const draw = mock.fn();
  const drawing = paced(draw, 150);
  const pass = (/** @type {number} */ ms) => {
    clock += ms;
    t.mock.timers.tick(ms);
  };
  drawing.ask();
  drawing.ask();
  pass(0);
  assert.equal(draw.mock.callCount(), 1, "the first at once");
  drawing.ask();
  pass(149);
  assert.equal(draw.mock.callCount(), 1, "the next not before its time");
  drawing.ask();
  pass(1);
  assert.equal(draw.mock.callCount(), 2);
  drawing.ask();
  drawing.now();
  pass(1000);
  assert.equal(draw.mock.callCount(), 3, "now draws in place of what was asked for");
  drawing.ask();
  drawing.cancel();
  pass(1000);
  assert.equal(draw.mock.callCount(), 3, "and what is cancelled is not drawn");
});

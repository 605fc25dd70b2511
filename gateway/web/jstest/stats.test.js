// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { felt, jitter, mean, median, percentile, runs, share, summary } from "../assets/lib/stats.js";

test("the median is the middle value or the mean of the two in the middle", () => {
  assert.equal(median([]), null);
  assert.equal(median([7]), 7);
  assert.equal(median([9, 1]), 5);
  assert.equal(median([30, 4, 100]), 30, "sorted as numbers, not as text");
  assert.equal(median([4, 1, 3, 2]), 2.5);
});

test("statistics leave the list as it is", () => {
  const times = [3, 1, 2];
  summary(times);
  assert.deepEqual(times, [3, 1, 2]);
});

test("a percentile by nearest rank is one of the values", () => {
  assert.equal(percentile([], 95), null);
  assert.equal(percentile([7], 95), 7);
  const hundred = Array.from({ length: 100 }, (_, i) => 100 - i);
  assert.equal(percentile(hundred, 95), 95);
  assert.equal(percentile(hundred, 100), 100);
  assert.equal(percentile(hundred, 0), 1, "there is no rank below the first");
  assert.equal(percentile([1, 2, 3, 4], 95), 4);
  assert.equal(
    percentile(
      Array.from({ length: 20 }, (_, i) => i + 1),
      95,
    ),
    19,
    "rank 19 of 20 exactly",
  );
  assert.equal(
    percentile(
      Array.from({ length: 21 }, (_, i) => i + 1),
      95,
    ),
    20,
    "19.95 is rank 20",
  );
});

test("the mean", () => {
  assert.equal(mean([]), null);
  assert.equal(mean([4]), 4);
  assert.equal(mean([1, 2, 6]), 3);
});

test("jitter is the mean absolute difference of consecutive values", () => {
  assert.equal(jitter([]), null);
  assert.equal(jitter([5]), null, "one value differs from none");
  assert.equal(jitter([5, 5, 5]), 0);
  assert.equal(jitter([10, 14, 12]), 3);
  assert.equal(jitter([10, 12, 14]), 2, "the order counts");
});

test("the summary of nothing, of one value and of some", () => {
  assert.deepEqual(summary([]), { count: 0, min: null, median: null, p95: null, max: null, mean: null, jitter: null });
  assert.deepEqual(summary([2]), { count: 1, min: 2, median: 2, p95: 2, max: 2, mean: 2, jitter: null });
  assert.deepEqual(summary([2, 8, 5]), { count: 3, min: 2, median: 5, p95: 8, max: 8, mean: 5, jitter: 4.5 });
});

test("a share of nothing is none", () => {
  assert.equal(share(0, 0), null);
  assert.equal(share(0, 3), 0);
  assert.equal(share(3, 60), 5);
  assert.equal(share(2, 2), 100);
});

test("runs of what is missing", () => {
  assert.deepEqual(runs([]), []);
  assert.deepEqual(runs([false]), []);
  assert.deepEqual(runs([true]), [{ start: 0, length: 1 }]);
  assert.deepEqual(runs([true, true, false, true, false, false, true, true, true]), [
    { start: 0, length: 2 },
    { start: 3, length: 1 },
    { start: 6, length: 3 },
  ]);
});

test("what a jitter means changes at 10 and at 30 milliseconds", () => {
  for (const [value, words] of /** @type {[number, RegExp][]} */ ([
    [0, /too little/],
    [9.99, /too little/],
    [10, /in fast games/],
    [29.9, /in fast games/],
    [30, /in calls and games/],
    [400, /in calls and games/],
  ])) {
    assert.match(felt(value), words, String(value));
  }
});

// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import * as format from "../assets/lib/format.js";

/**
 * @template T
 * @param {(value: T) => string} write
 * @param {[T, string][]} rows
 */
function written(write, rows) {
  for (const [value, want] of rows) assert.equal(write(value), want, `of ${JSON.stringify(value)}`);
}

test("milliseconds have as many digits as matter", () => {
  written(format.ms, [
    [0, "0.00 ms"],
    [0.004, "0.00 ms"],
    [9.99, "9.99 ms"],
    [10, "10.0 ms"],
    [99.9, "99.9 ms"],
    [100, "100 ms"],
    [999.4, "999 ms"],
    [999.5, "1.0 s"],
    [3027, "3.0 s"],
    [9999, "10.0 s"],
    [10_000, "10.0 s"],
    [12_340, "12.3 s"],
    [null, "—"],
    [undefined, "—"],
    [Number.NaN, "—"],
    [Number.POSITIVE_INFINITY, "—"],
  ]);
});

test("counts", () => {
  assert.equal(format.plural(0, "record"), "0 records");
  assert.equal(format.plural(1, "record"), "1 record");
  assert.equal(format.plural(1234, "record"), "1,234 records");
  assert.equal(format.counted(1, false, "record"), "1 record");
  assert.equal(format.counted(1234, true, "record"), "1,234 records shown");
  assert.equal(format.plural(2, "entry", "entries"), "2 entries");
  assert.equal(format.number(1234567), "1,234,567");
});

test("percentages", () => {
  written(format.percent, [
    [0, "0 %"],
    [100, "100 %"],
    [12.5, "12.5 %"],
    [33.3333, "33.3 %"],
    [null, "—"],
    [undefined, "—"],
  ]);
});

test("sizes", () => {
  written(format.bytes, [
    [0, "0 bytes"],
    [1, "1 byte"],
    [1023, "1,023 bytes"],
    [1024, "1.0 KiB"],
    [1536, "1.5 KiB"],
    [1024 * 1024, "1.0 MiB"],
    [null, "—"],
  ]);
});

test("lengths of time by their two largest units, without odd seconds", () => {
  written(format.duration, [
    [0, "0 seconds"],
    [1, "1 second"],
    [59, "59 seconds"],
    [60, "1 minute"],
    [61, "1 minute 1 second"],
    [119, "1 minute 59 seconds"],
    [150, "2 minutes 30 seconds"],
    [298, "5 minutes"],
    [597, "10 minutes"],
    [3540, "59 minutes"],
    [3598, "1 hour"],
    [3600, "1 hour"],
    [3601, "1 hour"],
    [3660, "1 hour 1 minute"],
    [86100, "23 hours 55 minutes"],
    [86399, "1 day"],
    [86400, "1 day"],
    [93784, "1 day 2 hours"],
    [172_799, "2 days"],
    [7_775_999, "90 days"],
    [-60, "1 minute"],
    [null, "—"],
    [Number.NaN, "—"],
  ]);
});

test("moments are in UTC", () => {
  assert.equal(format.day("2026-11-21T23:59:59Z"), "21 November 2026");
  assert.equal(format.day("2026-11-21T23:59:59-02:00"), "22 November 2026");
  assert.equal(format.shortDay("2026-09-14T00:00:00Z"), "14 Sep 2026");
  assert.equal(format.shortDay("soon"), "soon");
  assert.equal(format.dateTime("2026-11-21T01:02:03+01:00"), "21 November 2026, 00:02:03 UTC");
  assert.equal(format.dateTime(0), "1 January 1970, 00:00:00 UTC");
  written(format.day, [
    [null, "—"],
    [undefined, "—"],
    ["", "—"],
    ["soon", "soon"],
  ]);
});

test("how long ago, in words", () => {
  const now = Date.parse("2026-11-21T12:00:00Z");
  /** @param {number} seconds */
  const after = (seconds) => format.relative(now + seconds * 1000, now);
  assert.equal(after(0), "just now");
  assert.equal(after(-0.9), "just now");
  assert.equal(after(-1), "1 second ago");
  assert.equal(after(1), "in 1 second");
  assert.equal(after(-59.9), "59 seconds ago");
  assert.equal(after(-60), "1 minute ago");
  assert.equal(after(-119), "1 minute ago");
  assert.equal(after(3600), "in 1 hour");
  assert.equal(after(-86_400 * 3), "3 days ago");
  const year = 365.25 * 86_400;
  assert.equal(after(-2 * year + 1), "730 days ago");
  assert.equal(after(-2 * year), "2 years ago");
  assert.equal(format.relative("2026-11-20T12:00:00Z", now), "1 day ago");
  assert.equal(format.relative("never", now), "—");
});

test("lists and sentences", () => {
  written(format.listed, [
    [[], ""],
    [["a"], "a"],
    [["a", "b"], "a and b"],
    [["a", "b", "c"], "a, b and c"],
  ]);
  written(format.capital, [
    ["", ""],
    ["no answer", "No answer"],
    ["DNS", "DNS"],
  ]);
  written(format.lower, [
    ["", ""],
    ["No answer came.", "no answer came."],
    ["port 80", "port 80"],
  ]);
});

test("the host of a URL", () => {
  written(format.host, [
    ["https://example.com/a?b", "example.com"],
    ["https://example.com:443/", "example.com"],
    ["https://example.com:8443/", "example.com:8443"],
    ["http://[2001:db8::1]:8080/", "[2001:db8::1]:8080"],
    ["http://[", "http://["],
    ["", ""],
  ]);
});

// @ts-check
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { keptSession, revived } from "../assets/lib/watch-again.js";
import { keepSession, longestSession, mostSessions } from "../assets/lib/watch-kept.js";
import { makeRecord, mostChanges, mostEntries, mostHops } from "../assets/lib/watch-record.js";
import { mostMarks, stripOf } from "../assets/lib/watch-strip.js";
import { forget, forgetTargets, keyOf } from "../assets/lib/store.js";

Object.assign(globalThis, { document: { addEventListener() {} } });
const uptime = (await import("../assets/tools/uptime/watch.js")).default;
const trace = (await import("../assets/tools/traceroute/watch.js")).default;

/** @type {Map<string, string>} */
const stored = new Map();
let room = Number.POSITIVE_INFINITY;
const storage = {
  getItem: (/** @type {string} */ key) => stored.get(key) ?? null,
  setItem: (/** @type {string} */ key, /** @type {string} */ text) => {
    if (text.length > room) throw new DOMException("full", "QuotaExceededError");
    stored.set(key, text);
  },
};
beforeEach(() => {
  stored.clear();
  room = Number.POSITIVE_INFINITY;
  Object.defineProperty(globalThis, "sessionStorage", { configurable: true, value: storage });
});

/** @param {string} verdict */
const site = (verdict) => ({
  conclusion: { code: verdict.toUpperCase(), state: "ok", message: "It." },
  verdict,
  reason: null,
  responseTimeMs: verdict === "down" ? null : 80.123456,
});

/** A record of a round a second. @param {...string} verdicts */
function watched(...verdicts) {
  const record = makeRecord(/** @type {any} */ (uptime));
  verdicts.forEach((verdict, i) => record.answered(1000 * i, 1000 * i + 100, /** @type {any} */ (site(verdict))));
  return record;
}
const session = (/** @type {ReturnType<typeof watched>} */ record, more = {}) => ({
  record: record.kept(),
  gap: 10,
  going: true,
  notify: false,
  ...more,
});
const later = 1e9;

test("a record goes on where it was", () => {
  const before = watched("up", "down");
  before.failed(3000, 3001, "The service could not be reached.", false);
  keepSession("k", session(before, { notify: true }));
  const kept = keptSession("k", later) ?? assert.fail("nothing is kept");
  assert.deepEqual([kept.gap, kept.going, kept.notify], [10, true, true]);
  const record = makeRecord(/** @type {any} */ (uptime), kept.record);
  assert.deepEqual(record.changes, before.changes);
  assert.equal(record.rounds, 3);
  record.paused(3001, 60_000, "The page was loaded again.");
  assert.deepEqual(record.answered(60_000, 60_001, /** @type {any} */ (site("up"))), ["it went from down to up"]);
  assert.deepEqual(
    record.entries.map(({ n, kind, got }) => [n, kind, got?.works]),
    [
      [1, "answer", true],
      [2, "answer", false],
      [3, "failed", undefined],
      [0, "pause", undefined],
      [4, "answer", true],
    ],
  );
  assert.deepEqual(record.entries[0].got?.times, [80.123]);
});

test("each check has its own record, and the latest are kept", () => {
  for (let i = 0; i <= mostSessions; i++) keepSession(`k${i}`, session(watched("up"), { gap: i + 10 }));
  assert.equal(keptSession("k0", later), null);
  for (let i = 1; i <= mostSessions; i++) assert.equal(keptSession(`k${i}`, later)?.gap, i + 10);
  keepSession("k1", session(watched("up", "up"), { going: false }));
  assert.deepEqual(
    [keptSession("k1", later)?.record.rounds, keptSession("k1", later)?.going, keptSession("k2", later)?.gap],
    [2, false, 12],
  );
});

test("what is kept is bounded, and the older rounds go first", () => {
  const record = makeRecord(/** @type {any} */ (trace));
  const hops = Array.from({ length: mostHops }, (_, i) => ({
    ttl: i + 1,
    addresses: [`2001:db8:ffff:ffff:ffff:ffff:ffff:${i}`],
    hidden: false,
    sent: 3,
    received: 3,
    rttsMs: [1.123, 2.123, 3.123],
  }));
  for (let n = 0; n < mostEntries; n++) {
    const d = { conclusion: { code: "C", state: "ok", message: "It." }, address: "9.9.9.9", reached: true, hops };
    record.answered(n * 1000, n * 1000 + 1, /** @type {any} */ (d));
  }
  keepSession("k", session(record));
  assert.ok((stored.get("diagnostics.watches") ?? "").length <= longestSession + 100);
  const kept = keptSession("k", later)?.record;
  assert.equal(kept?.rounds, mostEntries);
  assert.equal(kept?.entries.at(-1)?.n, mostEntries);
  assert.equal((kept?.entries.length ?? 0) + (kept?.forgotten ?? 0), mostEntries);
  assert.ok((kept?.entries.length ?? 0) > 10);
});

test("deleting the history of a target, or all, deletes its records", () => {
  const keys = ["a.com", "b.com"].map((input) => keyOf({ slug: "ping", input, options: {} }));
  for (const key of keys) keepSession(key, session(watched("up")));
  const left = () => keys.map((key) => keptSession(key, later) !== null);
  forgetTargets((input) => input === "a.com");
  assert.deepEqual(left(), [false, true]);
  stored.set("diagnostics.watches", "{");
  forget();
  assert.deepEqual(left(), [false, false]);
  keepSession(keys[0], session(watched("up")));
  forget();
  assert.deepEqual(left(), [false, false]);
});

test("storage that is refused or full costs nothing but the memory", () => {
  keepSession("k", session(watched("up")));
  room = 0;
  keepSession("k", session(watched("up", "up")));
  assert.equal(keptSession("k", later)?.record.rounds, 1);
  Object.defineProperty(globalThis, "sessionStorage", {
    configurable: true,
    get() {
      throw new DOMException("denied", "SecurityError");
    },
  });
  keepSession("k", session(watched("up")));
  assert.equal(keptSession("k", later), null);
});

for (const text of [
  "",
  "null",
  "7",
  "{}",
  '["k"]',
  '[["k"]]',
  '[["k",null]]',
  '[["k",{"record":{"entries":[{}]}}]]',
  "[[",
])
  test(`what is kept as ${text || "nothing"} is no record`, () => {
    stored.set("diagnostics.watches", text);
    assert.equal(keptSession("k", later), null);
    keepSession("k", session(watched("up")));
    assert.equal(keptSession("k", later)?.record.rounds, 1);
  });

for (const gap of [0, -1, 3601, 1.5, "10", null, undefined])
  test(`a gap of ${gap} is none`, () => {
    stored.set("diagnostics.watches", JSON.stringify([["k", { ...session(watched("up")), gap }]]));
    assert.equal(keptSession("k", later), null);
  });

const good = { n: 1, kind: "answer", at: 1, until: 2, why: "", turned: false, got: watched("up").entries[0].got };
for (const [name, entry] of /** @type {[string, any][]} */ ([
  ["no object", 7],
  ["null", null],
  ["an unknown kind", { ...good, kind: "other" }],
  ["a moment that is text", { ...good, at: "1" }],
  ["an end before its beginning", { ...good, at: 3 }],
  ["a moment to come", { ...good, until: later + 1 }],
  ["a negative moment", { ...good, at: -1 }],
  ["a fraction of a round", { ...good, n: 1.5 }],
  ["a round too many", { ...good, n: 1e6 + 1 }],
  ["an answer without its digest", { ...good, got: null }],
  ["a digest of another type", { ...good, got: [] }],
  ["an unknown tone", { ...good, got: { ...good.got, tone: "<b>" } }],
  ["a state that is no text", { ...good, got: { ...good.got, state: {} } }],
]))
  test(`an entry of ${name} is left out`, () => {
    assert.equal(revived({ entries: [entry] }, later), null);
    assert.equal(revived({ entries: [good, entry, { ...good, n: 2, at: 2 }] }, later)?.entries.length, 2);
  });

test("what is read back has its types and bounds", () => {
  const hop = { who: [1, "a".repeat(99), null], hidden: "yes", times: ["x", -1, 2, null], sent: "3" };
  const got = { ...good.got, works: "yes", times: [1, "2", null], sent: -1, lost: 1e9, note: {}, hops: [null, hop] };
  const value = {
    entries: [...Array(300).fill(good), { ...good, got, why: "y".repeat(999), turned: "yes", extra: 1 }],
    changes: [{ at: 1, n: 1, text: "z".repeat(9999) }, { at: 1, n: 1, text: 7 }, null, ...Array(99).fill({ at: "1" })],
    rounds: "9",
    forgotten: -4,
    other: true,
  };
  const kept = revived(value, later) ?? assert.fail("nothing is left");
  assert.deepEqual(Object.keys(kept), ["entries", "changes", "rounds", "forgotten"]);
  assert.deepEqual([kept.entries.length, kept.rounds, kept.forgotten], [mostEntries, 1, 0]);
  assert.ok(kept.changes.length <= mostChanges);
  const last = kept.entries.at(-1);
  assert.deepEqual(Object.keys(last ?? {}), ["n", "kind", "at", "until", "why", "got", "turned"]);
  assert.deepEqual([last?.why.length, last?.turned], [200, false]);
  assert.deepEqual(
    [last?.got?.works, last?.got?.times, last?.got?.sent, last?.got?.lost, last?.got?.note],
    [null, [1], 0, 0, ""],
  );
  assert.deepEqual(last?.got?.hops, [{ who: [`${"a".repeat(63)}…`], hidden: false, times: [2], sent: 0 }]);
});

test("the strip draws the latest rounds, and sums the others", () => {
  const record = watched(...Array(mostMarks - 1).fill("up"));
  assert.equal(stripOf(record.entries, 0).before, "");
  record.failed(50_000, 50_001, "No service.", false);
  record.failed(51_000, 51_001, "Too many requests.", true);
  record.paused(52_000, 53_000, "The page was loaded again.");
  record.answered(54_000, 54_001, /** @type {any} */ (site("down")));
  record.answered(55_000, 55_001, /** @type {any} */ (site("degraded")));
  const { marks, before } = stripOf(record.entries, 3);
  assert.equal(marks.length, mostMarks);
  assert.deepEqual(marks.slice(-6), [
    { kind: "works", text: "00:00:22: works (up)" },
    { kind: "unknown", text: "00:00:50: no result" },
    { kind: "unmeasured", text: "00:00:51: not measured" },
    { kind: "unmeasured", text: "00:00:52 to 00:00:53: not measured" },
    { kind: "fails", text: "00:00:54: fails (down)" },
    { kind: "trouble", text: "00:00:55: works (degraded)" },
  ]);
  assert.equal(before, "Before these 7: 4 works and 3 no longer kept.");
});

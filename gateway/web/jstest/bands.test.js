// @ts-check
// The path of a trace as bands of networks, with true times.

import assert from "node:assert/strict";
import { test } from "node:test";
import { spread, tagged } from "./paper.js";

spread();
const { bandsOf, pathBands, widths } = await import("../assets/lib/bands.js");
const { originWords } = await import("../assets/lib/origin.js");
const { proven } = await import("../assets/lib/proven.js");

/**
 * A path: of each hop its network (a number, private, unknown, or silent) and its time.
 * @param {...[asn: number | "private" | "unknown" | "silent", ms?: number | null]} hops
 * @returns {any[]}
 */
const path = (...hops) =>
  hops.map(([network, ms = null], i) => ({
    ttl: i + 1,
    addresses: typeof network === "number" || network === "unknown" ? ["11.0.0.1"] : [],
    hidden: network === "private",
    asn: typeof network === "number" ? { asn: network, name: `NET-${network} - Net ${network}, NL` } : null,
    received: ms === null ? 0 : 3,
    averageMs: ms,
  }));

/** @param {any[]} hops */
const brief = (hops) => bandsOf(hops).map((b) => [b.asn?.asn ?? b.kind, b.from, b.to, b.ms, b.added]);

for (const [what, hops, want] of /** @type {[string, any[], any[]][]} */ ([
  [
    "two networks",
    path([1, 1], [1, 2], [2, 10]),
    [
      [1, 1, 2, 2, 2],
      [2, 3, 3, 10, 8],
    ],
  ],
  [
    "silence within a network",
    path([1, 1], ["silent"], [1, 4], [2, 5]),
    [
      [1, 1, 3, 4, 4],
      [2, 4, 4, 5, 1],
    ],
  ],
  [
    "silence between networks",
    path([1, 1], ["silent"], ["silent"], [2, 5]),
    [
      [1, 1, 1, 1, 1],
      ["silent", 2, 3, null, null],
      [2, 4, 4, 5, 4],
    ],
  ],
  [
    "silence at the end",
    path([1, 1], ["silent"]),
    [
      [1, 1, 1, 1, 1],
      ["silent", 2, 2, null, null],
    ],
  ],
  [
    "private routers",
    path(["private", 1], ["private", 2], [1, 3]),
    [
      ["private", 1, 2, 2, 2],
      [1, 3, 3, 3, 1],
    ],
  ],
  [
    "a network that is not known",
    path([1, 1], ["unknown", 2], [1, 3]),
    [
      [1, 1, 1, 1, 1],
      ["unknown", 2, 2, 2, 1],
      [1, 3, 3, 3, 1],
    ],
  ],
  [
    "a router that is slow to answer",
    path([1, 1], [2, 800], [3, 20]),
    [
      [1, 1, 1, 1, 1],
      [2, 2, 2, 800, 19],
      [3, 3, 3, 20, 0],
    ],
  ],
  [
    "a first router that is slow",
    path([1, 90], [2, 20]),
    [
      [1, 1, 1, 90, 20],
      [2, 2, 2, 20, 0],
    ],
  ],
  [
    "the last answer of a network",
    path([1, 5], [1, 9], [1], [2, 9]),
    [
      [1, 1, 2, 9, 9],
      ["silent", 3, 3, null, null],
      [2, 4, 4, 9, 0],
    ],
  ],
  [
    "a hop with an address and no time",
    path([1], [2, 3]),
    [
      [1, 1, 1, null, null],
      [2, 2, 2, 3, 3],
    ],
  ],
  ["no hops", [], []],
])) {
  test(`bands of ${what}`, () => {
    // A hop of a network that did not answer has no network either.
    const heard = what.startsWith("the last answer")
      ? hops.map((h) => (h.received ? h : { ...h, asn: null, addresses: [] }))
      : hops;
    assert.deepEqual(brief(heard), want);
  });
}

test("what is added is never negative, and comes to the last time", () => {
  let seed = 7;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  for (let n = 0; n < 300; n++) {
    const hops = path(
      ...Array.from(
        { length: 1 + Math.floor(random() * 30) },
        () =>
          /** @type {[number, number | null]} */ ([Math.floor(random() * 4), random() < 0.2 ? null : random() * 300]),
      ),
    );
    const bands = bandsOf(hops);
    const last = hops.findLast((h) => h.received > 0)?.averageMs ?? 0;
    assert.ok(bands.every(({ added }) => added === null || added >= 0));
    assert.ok(Math.abs(bands.reduce((sum, { added }) => sum + (added ?? 0), 0) - last) < 1e-9);
    assert.equal(bands.at(-1)?.to, hops.length);
  }
});

test("odd times are no times", () => {
  for (const ms of [Number.NaN, -1, "12", undefined, {}]) {
    const [hop] = path([1, 1]);
    assert.equal(bandsOf([{ ...hop, averageMs: /** @type {any} */ (ms) }])[0].ms, null);
  }
});

test("every band can be seen, and all fill the whole", () => {
  for (const sizes of [[0, 0], [1, 0, 1e9], [5], Array.from({ length: 30 }, (_, i) => i * i)]) {
    const wide = widths(sizes);
    assert.ok(Math.abs(wide.reduce((a, b) => a + b, 0) - 100) < 1e-6, String(sizes));
    assert.ok(Math.min(...wide) >= Math.min(5, 50 / sizes.length));
  }
});

test("the words have the networks, their time, and silence as it is", () => {
  const name = `<b>x</b>\u202e${"y".repeat(300)}`;
  const hops = path(["private", 0.5], [1, 800], ["silent"], [2, 20]);
  hops[3].asn.name = name;
  const lines = (/** @type {Parameters<typeof pathBands>[1]} */ name) =>
    pathBands(hops, name).flatMap((node) => tagged(node, "li").map((li) => li.textContent));
  assert.deepEqual(lines(originWords), [
    "1Private network hop 1: adds 0.50 ms, 0.50 ms at hop 1",
    "2AS1 (NET-1 - Net 1, NL) hop 2: adds 19.5 ms, 800 ms at hop 2",
    "3No answer hop 3",
    `4AS2 (${name}) hop 4: adds 0.00 ms, 20.0 ms at hop 4`,
  ]);
  assert.match(lines(() => "Z")[1], /^2Z hop 2/);
  assert.equal(pathBands(hops, originWords).flatMap((node) => tagged(node, "b")).length, 0);
  assert.deepEqual(
    [[], path([1, 1], [1, 2]), path(["silent"], [1])].map((some) => pathBands(some, originWords)),
    [[], [], []],
  );
});

const healthy = /** @type {[string, any][]} */ ([
  [
    "ssl-checker",
    {
      conclusion: { state: "ok" },
      authorized: true,
      certificate: { validFrom: "2026-10-27T00:00:00Z", validTo: "2027-01-25T00:00:00Z", daysRemaining: 59 },
    },
  ],
  ["uptime", { timings: { dnsMs: 0.5, connectMs: 8, tlsMs: null, firstByteMs: 9, totalMs: 40 } }],
  ["traceroute", { hops: path([1, 1], [2, 9]) }],
]);
/** @param {[string, any][]} answers */
const shown = (answers) => proven(new Map(answers)).map((part) => part.textContent);

test("a report proves what its answers have", () => {
  const [certificate, request, way] = shown(healthy);
  assert.match(certificate, /^The certificate is valid.*since 27 Oct 2026.*59 days left until 25 Jan 2027$/);
  assert.match(
    request,
    /^One request took 40\.0 ms.*DNS 0\.50 ms.*Connect 8\.00 ms.*First byte 9\.00 ms.*Other 22\.5 ms$/,
  );
  assert.doesNotMatch(request, /TLS/);
  assert.match(way, /AS1 NET-1.*AS2 NET-2/);
});

test("what is not proven is not said", () => {
  const [[, tls], , [, trace]] = healthy;
  assert.deepEqual(shown([]), []);
  for (const odd of [
    { ...tls, authorized: false },
    { ...tls, certificate: { ...tls.certificate, validTo: "never" } },
    {},
  ])
    assert.deepEqual(shown([["ssl-checker", odd]]), []);
  assert.deepEqual(
    shown([
      ["uptime", { timings: null }],
      ["traceroute", { hops: trace.hops.slice(1) }],
    ]),
    [],
  );
});

// @ts-check
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

Object.assign(globalThis, { document: { addEventListener() {} } });
const { quorum, sentenceOf } = await import("../assets/lib/quorum.js");

/** The catalogue in quorum.go: the codes of each tool. @type {Map<string, Set<string>>} */
const catalogue = new Map();
const source = readFileSync(new URL("../quorum.go", import.meta.url), "utf8");
for (const [, slug, entries] of source.matchAll(/^\t"([a-z-]+)": \{\n(.*?)^\t\},/gms))
  catalogue.set(slug, new Set([...entries.matchAll(/^\t\t"([A-Z_]+)":/gm)].map(([, code]) => code)));

const ok = { conclusion: { state: "ok" }, findings: [] };
const site = (online = true, status = online ? 200 : null) => ({ ...ok, online, status });
/** @param {string[]} A */
const lookup = (...A) => ({ records: { A }, details: { A: {} }, errors: A.length > 0 ? {} : { A: "ENOTFOUND" } });
/** @param {string} status @param {...string} values */
const resolvers = (status, ...values) => ({ status, groups: [{ values }] });
const response = (status = 200, redirectsTo = null) => ({ status, redirectsTo });
const tls = (authorized = true, fingerprint256 = "AA") => ({
  ...{ authorized, authorizationError: authorized ? null : "CERT_HAS_EXPIRED", issues: [] },
  certificate: { fingerprint256 },
});
const port = (state = "open") => ({ state });
const ping = (received = 10, medianMs = 5) => ({ received, medianMs });
/** @param {boolean} reached @param {...(string | null)} routers */
const trace = (reached, ...routers) => ({
  ...{ reached, address: "192.0.2.9" },
  hops: [...routers, ...(reached ? ["192.0.2.9"] : [])].map((address) => ({ address })),
});
const loss = (received = 50) => ({
  ...{ sent: 50, received, undecided: 0, damaged: 0 },
  lossPercent: 100 - received * 2,
});

/** For each tool a good result, another good one where that may differ, and a bad one with another bad one. */
const tools = /** @type {Record<string, [good: any, otherGood: any, bad: any, otherBad: any]>} */ ({
  uptime: [site(), site(true, 403), site(false), site(false, 503)],
  "dns-lookup": [lookup("192.0.2.1"), lookup("192.0.2.2"), lookup(), { ...lookup(), errors: { A: "ESERVFAIL" } }],
  "dns-resolver-check": [resolvers("agree", "a"), resolvers("variation", "b"), resolvers("conflict"), null],
  "http-headers": [response(), response(204), response(403), response(500)],
  "ssl-checker": [tls(), tls(true, "BB"), tls(false), tls(false, "BB")],
  "port-checker": [port(), null, port("closed"), port("filtered")],
  ping: [ping(), null, ping(0), null],
  traceroute: [trace(true), { ...trace(true), address: "192.0.2.8" }, trace(false), null],
  "packet-loss": [loss(), null, loss(40), loss(30)],
});

/** @param {string} slug @param {...any} data */
const codeOf = (slug, ...data) =>
  quorum(
    slug,
    data.map((d, i) => ({ name: `P${i}`, data: d })),
    false,
  ).code;

test("the catalogue has these tools", () => assert.deepEqual([...catalogue.keys()].sort(), Object.keys(tools).sort()));

for (const [slug, [good, otherGood, bad, otherBad]] of Object.entries(tools)) {
  /** @type {[string, string, ...any[]][]} */
  const cases = [
    ["all equal", "ALL_GOOD", good, good, good],
    ["all bad", "ALL_BAD", bad, bad],
    ["one differs", "MOST_GOOD", good, bad, good],
    ["one is good alone", "MOST_BAD", bad, good, bad],
    ["as many each way", "SPLIT", bad, good],
    ["one refused is no difference", "ALL_GOOD", good, null, good],
    ["one refused of three takes no side", "SPLIT", good, null, bad],
    ["one result alone", "ONE", null, good, null],
    ["all failed", "NONE", null, null, null],
    ...(otherGood
      ? [/** @type {[string, string, ...any[]]} */ (["good ones differ", "ALL_GOOD_DIFFER", good, otherGood])]
      : []),
    ...(otherBad
      ? [/** @type {[string, string, ...any[]]} */ (["bad ones differ", "ALL_BAD_DIFFER", bad, otherBad])]
      : []),
  ];
  for (const [name, code, ...data] of cases)
    test(`${slug}: ${name}`, () => {
      assert.equal(codeOf(slug, ...data), code);
      const known = catalogue.get(slug);
      if (!["ONE", "NONE"].includes(code)) assert.ok(known?.has(code) || known?.has(code.replace("_DIFFER", "")), code);
    });
}

for (const [slug, undecided] of /** @type {[string, any][]} */ ([
  ["uptime", { ...site(false), conclusion: { state: "unknown" } }],
  ["dns-resolver-check", resolvers("inconclusive")],
  ["ssl-checker", { ...tls(false), issues: [{ code: "CERT_HAS_EXPIRED", severity: "info" }] }],
  ["http-headers", null],
]))
  test(`${slug}: a result that decides nothing is no vote`, () => {
    const [good] = tools[slug];
    assert.equal(codeOf(slug, good, undecided), "ONE");
    assert.equal(codeOf(slug, good, undecided, good), "ALL_GOOD");
  });

test("a result of an unknown shape is no vote", () => assert.equal(codeOf("uptime", site(), {}), "ONE"));

test("records that come in another order are the same answer", () =>
  assert.equal(codeOf("dns-lookup", lookup("192.0.2.1", "192.0.2.2"), lookup("192.0.2.2", "192.0.2.1")), "ALL_GOOD"));

test("the serial number of a zone is no difference, another record is one", () => {
  const zone = (/** @type {number} */ serial, /** @type {string} */ txt) => ({
    ...{ details: { SOA: {}, TXT: {} }, errors: {} },
    records: { SOA: [{ serial }], TXT: [{ text: txt }] },
  });
  assert.equal(codeOf("dns-lookup", zone(1, "a"), zone(2, "a")), "ALL_GOOD");
  assert.equal(codeOf("dns-lookup", zone(1, "a"), zone(1, "b")), "ALL_GOOD_DIFFER");
});

for (const [name, code, meet, ...paths] of /** @type {[string, string, string | undefined, ...any[]][]} */ ([
  [
    "paths that arrive join at the first common router",
    "ALL_GOOD_JOIN",
    "b",
    trace(true, "a", "b", "c"),
    trace(true, "x", "b", "c"),
  ],
  [
    "paths that end have a last common router",
    "ALL_BAD_JOIN",
    "c",
    trace(false, "a", "b", "c"),
    trace(false, "b", "c", "d", null),
  ],
  ["paths need not join", "ALL_GOOD", undefined, trace(true, "a"), trace(true, "b")],
]))
  test(name, () => {
    const found = quorum(
      "traceroute",
      paths.map((data, i) => ({ name: `P${i}`, data })),
      false,
    );
    assert.deepEqual([found.code, found.fills.meet], [code, meet]);
    assert.ok(catalogue.get("traceroute")?.has(code));
  });

test("of a tool without a reader the facts decide", () => {
  const results = [
    { name: "A", data: {} },
    { name: "B", data: {} },
    { name: "C", data: null },
  ];
  assert.equal(quorum("whois-lookup", results, false).code, "ALL_GOOD");
  assert.equal(quorum("whois-lookup", results, true).code, "ALL_GOOD_DIFFER");
});

/** @param {string} text @param {string} slug @param {...any} data */
const said = (text, slug, ...data) => {
  const found = quorum(
    slug,
    data.map((d, i) => ({ name: ["Amsterdam", "Oslo", "Lima", "Perth"][i], data: d })),
    false,
  );
  return sentenceOf({ [found.code.replace("_DIFFER", "")]: ["info", text] }, found)?.text;
};

test("sentences are filled in", () => {
  const [up, down] = [site(), site(false)];
  assert.equal(
    said("down from {few}, up from {rest}", "uptime", down, up, up),
    "Down from Amsterdam, up from the 2 other places",
  );
  assert.equal(said("{few}; {rest}", "uptime", down, down, up, up, up)?.slice(0, 18), "Amsterdam and Oslo");
  assert.equal(said("{good}; {bad}", "uptime", down, up), "Oslo; Amsterdam");
  assert.equal(said("up from {all}", "uptime", up, up, up), "Up from all 3 places");
  assert.equal(said("up from {all}", "uptime", up, null, up), "Up from both places that gave a result");
  assert.equal(
    said("{groups}; {kinds}", "uptime", up, site(true, 403), up),
    "200 from Amsterdam and Lima; 403 from Oslo; 2",
  );
  assert.equal(
    said("{fastest}, {slowest}", "ping", ping(9, 30), ping(9, 4), ping(1, 7)),
    "Oslo (4.00 ms), Amsterdam (30.0 ms)",
  );
  assert.equal(said("{one}", "uptime", null, up), "Oslo");
});

test("a name from the operator is text, whatever it looks like", () => {
  const found = quorum(
    "uptime",
    [
      { name: "{all} $&", data: site() },
      { name: "B", data: null },
    ],
    false,
  );
  assert.equal(sentenceOf({ ONE: ["info", "only {one}"] }, found)?.text, "Only {all} $&");
});

test("a code without a sentence says nothing", () => assert.equal(sentenceOf({}, quorum("uptime", [], false)), null));

/** @param {string} state @param {string} code @param {object} [more] */
const concluded = (state, code, more) => ({
  ...more,
  conclusion: { state, code, brief: `Brief ${code}`, message: `Message ${code}.` },
});

/** @param {string} slug @param {...any} results of places, without data where they failed */
const verdict = (slug, ...results) => {
  const sentences = Object.fromEntries(
    ["ALL_GOOD", "ALL_BAD", "MOST_GOOD", "SPLIT"].map((code) => [code, /** @type {any} */ (["good", `${code}.`])]),
  );
  const found = quorum(
    slug,
    results.map((result, i) => ({ name: "ABC"[i], ...result })),
    false,
  );
  const said = sentenceOf({ ...sentences, SAME: ["info", "{message}"], ONE: ["info", "{message}"] }, found);
  return [said?.tone, said?.text];
};

const up = { data: concluded("ok", "UP", site()) };
const slow = { data: concluded("warn", "UP_SLOW", site()) };
const down = { data: concluded("fail", "DOWN", site(false)) };
const refused = concluded("fail", "REFUSED", { data: null });
const unknown = concluded("unknown", "BUSY", { data: null });

for (const [name, want, ...results] of /** @type {[string, any[], ...any[]][]} */ ([
  ["all good", ["good", "ALL_GOOD."], up, up],
  ["a mark is no better than a verdict", ["warn", "ALL_GOOD. B: Brief UP_SLOW."], up, slow],
  ["one conclusion of all is quoted once", ["warn", "Message UP_SLOW."], slow, slow],
  ["and so is that of a fault", ["bad", "Message DOWN."], down, down],
  ["reasons are kept", ["bad", "ALL_BAD. A: Brief DOWN. B: Brief REFUSED."], down, refused],
  ["a failure at the target is a vote", ["warn", "MOST_GOOD. B: Brief REFUSED."], up, refused, up],
  ["one that is unknown is none", ["good", "ALL_GOOD."], up, unknown, up],
  ["the only answer is quoted", ["bad", "Message DOWN."], down, unknown],
  ["of failures only too", ["bad", "Message REFUSED."], refused, refused],
]))
  test(`quorum: ${name}`, () => assert.deepEqual(verdict("uptime", ...results), want));

test("a tool without a reader has failures too", () =>
  assert.deepEqual(verdict("whois-lookup", { data: concluded("ok", "REGISTERED") }, refused), [
    "warn",
    "SPLIT. B: Brief REFUSED.",
  ]));

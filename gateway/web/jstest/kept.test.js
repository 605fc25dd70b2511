// @ts-check
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { keep } from "../assets/lib/compare.js";
import { advance, checksFor } from "../assets/lib/report-checks.js";
import { answers, lastVerdict } from "../assets/lib/store.js";

// The parts of a page listen to it from the start.
Object.assign(globalThis, { document: { addEventListener() {} } });

/** @type {Map<string, string>} */
let disk = new Map();
Object.defineProperty(globalThis, "localStorage", {
  value: {
    getItem: (/** @type {string} */ key) => disk.get(key) ?? null,
    removeItem: (/** @type {string} */ key) => disk.delete(key),
    setItem: (/** @type {string} */ key, /** @type {string} */ value) => disk.set(key, value),
  },
  configurable: true,
});

beforeEach(() => {
  disk = new Map();
});

/** @type {import("../assets/lib/view.js").Judge} */
const judge = { facts: (d) => d.records };

/** @param {Record<string, string>} records @param {string} [code] @param {...string} findings codes @returns {any} */
const answer = (records, code = "WELL", ...findings) => ({
  conclusion: { state: "ok", code, message: `It is ${code}.` },
  findings: findings.map((found) => ({ code: found, severity: "warn", message: `There is ${found}.`, subject: null })),
  records,
});

test("a report keeps what each of its checks came to, once", () => {
  const tool = { slug: "dns-lookup", kind: "domain", title: "DNS lookup", style: "", group: "", glyph: () => null };
  const [check] = checksFor([tool], /** @type {any} */ ({ inputs: { domain: "a.example" } }));
  const answered = (/** @type {any} */ data) =>
    advance(check, { state: "answered", reply: /** @type {any} */ ({ ok: true, status: 200, data }) });
  check.judge = judge;
  advance(check, { state: "running" });
  assert.equal(answers().length, 0);
  answered(answer({ A: "192.0.2.1" }));
  assert.equal(lastVerdict("dns-lookup", "a.example")?.verdict, "It is WELL.");
  assert.deepEqual(check.past, { at: null, list: [] });
  answered(answer({ A: "192.0.2.2" }));
  assert.equal(answers().length, 1);
  assert.deepEqual(check.past?.list, [{ label: "A", gone: ["192.0.2.1"], come: ["192.0.2.2"] }]);
  answered(null);
  assert.equal(check.past, null, "there is nothing to keep of what failed");
});

test("an answer is held against the one before it", () => {
  const asked = { slug: "uptime", input: "https://a.example/", options: {} };
  assert.equal(keep(judge, answer({ Status: "200" }), asked).at, null);
  const past = keep(judge, answer({ Status: "503" }), asked);
  assert.ok(past.at);
  assert.deepEqual(
    answers()[0].changes.map(({ label, gone, come }) => [label, gone, come]),
    [["Status", ["200"], ["503"]]],
  );
});

test("a conclusion and findings are held against the ones before by their codes", () => {
  const asked = { slug: "uptime", input: "https://a.example/", options: {} };
  keep(judge, answer({}, "UP", "SLOW", "OLD"), asked);
  const reworded = answer({}, "UP", "SLOW", "OLD");
  reworded.conclusion.message = "It answers.";
  reworded.findings[0].message = "It is not fast.";
  assert.deepEqual(keep(judge, reworded, asked).list, []);
  assert.deepEqual(keep(judge, answer({}, "DOWN", "SLOW", "NEW"), asked).list, [
    { label: "Result", gone: ["It answers."], come: ["It is DOWN."] },
    { label: "Findings", gone: ["There is OLD."], come: ["There is NEW."] },
  ]);
});

/**
 * @type {[string, string, string, any, any, [string, string, string]][]} what is kept of answers of old and new, and
 *   what /history then says
 */
const known = [
  [
    "a certificate",
    "ssl-checker",
    "a.example",
    certificate("2026-12-01T00:00:00Z"),
    certificate("2027-03-01T00:00:00Z"),
    ["Valid to", "1 December 2026, 00:00:00 UTC", "1 March 2027, 00:00:00 UTC"],
  ],
  [
    "a registration",
    "whois-lookup",
    "a.example",
    registration("2027-01-01T00:00:00Z"),
    registration("2028-01-01T00:00:00Z"),
    ["Expires", "1 January 2027, 00:00:00 UTC", "1 January 2028, 00:00:00 UTC"],
  ],
  ["the latency of probes", "ping", "a.example", echoes(20), echoes(48), ["Median time", "20.0 ms", "48.0 ms"]],
  [
    "the latency of lost probes",
    "packet-loss",
    "a.example",
    echoes(48),
    echoes(20),
    ["Median time", "48.0 ms", "20.0 ms"],
  ],
  ["the time of a site", "uptime", "https://a.example/", site(90), site(400), ["Response time", "90.0 ms", "400 ms"]],
];

for (const [name, slug, input, older, newer, want] of known) {
  test(`${name} that changes is told`, async () => {
    const { default: real } = await import(`../assets/tools/${slug}/facts.js`);
    const asked = { slug, input, options: {} };
    for (const d of [older, newer]) keep(real, { ...answer({}), ...d }, asked);
    assert.deepEqual(
      answers()[0].changes.map(({ label, gone, come }) => [label, ...gone, ...come]),
      [want],
    );
  });
}

/** @param {string} validTo */
function certificate(validTo) {
  return {
    authorized: true,
    supportedProtocols: {},
    chain: [],
    issues: [],
    certificate: { fingerprint256: "AB", issuer: "CN=Lab", validTo, subjectAltNames: { dns: [], ip: [] } },
  };
}

/** @param {string} expires */
function registration(expires) {
  return {
    queryType: "domain",
    found: true,
    registrableDomain: "a.example",
    network: null,
    notices: [],
    sources: [],
    domain: {
      name: "a.example",
      status: [],
      registrar: null,
      nameservers: [],
      contacts: [],
      dnssec: { signed: false, ds: [] },
      events: { registered: null, expires, updated: null, transferred: null },
    },
  };
}

/** @param {number} medianMs */
function echoes(medianMs) {
  return { address: "192.0.2.1", sent: 10, received: 10, undecided: 0, damaged: 0, stopReason: "completed", medianMs };
}

/** @param {number} responseTimeMs */
function site(responseTimeMs) {
  const family = { state: "up", addresses: [] };
  return {
    url: "https://a.example/",
    verdict: "up",
    status: 200,
    statusText: "OK",
    certificateValid: true,
    families: { ipv4: family, ipv6: family },
    responseTimeMs,
  };
}

// @ts-check
// What the cards of the report carry of the answers that the service gave in the lab.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { cardFacts } from "../assets/lib/card-facts.js";
import { makeSteps } from "../assets/lib/steps.js";
import { all, spread } from "./paper.js";

spread();
const { calmed, missing, reportState } = await import("../assets/lib/overview.js");
const { makeCard } = await import("../assets/lib/card.js");
const { advance } = await import("../assets/lib/report-checks.js");
const { thumb } = await import("../assets/lib/thumb.js");

const recorded = new URL("../../../deploy/lab/e2e/testdata/golden/", import.meta.url);
const tools = readdirSync(new URL("../assets/tools/", import.meta.url)).filter(
  (/** @type {string} */ slug) => slug !== "my-ip",
);

/** What stands in the records for what changes at every run. @type {Record<string, any>} */
const masked = { __proto__: null, "<ms>": 1, "<time>": "2026-01-01T00:00:00Z", "<seconds>": 1, "<bool>": true };

/** The answers of a tool that hold data. @param {string} slug @returns {any[]} */
function answers(slug) {
  const text = readFileSync(new URL(`${slug}.txt`, recorded), "utf8");
  return [...text.matchAll(/^\{\n {2}"data": [\s\S]*?^\}$/gm)].map(
    (m) => JSON.parse(m[0], (_, v) => masked[v] ?? v).data,
  );
}

for (const slug of tools) {
  test(`the card of ${slug} carries two to four facts, and a picture where there is something to draw`, async () => {
    const { default: judge } = await import(`../assets/tools/${slug}/facts.js`);
    const all = answers(slug);
    assert.ok(all.length > 0, "no answer was recorded");
    const counts = all.map((d) => cardFacts(slug, judge.facts(d)).length);
    assert.ok(counts[0] >= 2, `${counts[0]} facts of a usual answer`);
    // Of what is not there, one fact may be all.
    assert.ok(
      counts.every((n) => n >= 1 && n <= 4),
      counts.join(" "),
    );
    // The records have one time for all moments, which is no validity.
    if (slug !== "ssl-checker")
      assert.ok(
        all.some((d) => thumb(slug, d)),
        "no picture",
      );
  });
}

/** The phases on a card in a stage. @param {any} stage @param {...object} steps */
function phasesOn(stage, ...steps) {
  const seen = makeSteps();
  for (const step of steps) seen.add(/** @type {any} */ ({ kind: "stage", boundMs: 8000, ...step }));
  /** @type {any} */
  const check = { slug: "uptime", title: "Up", input: "a.example", options: {}, glyph: null, seen, began: 0, stage };
  const card = makeCard(check, "a.example", () => {});
  card.show();
  const lines = all(card.node, (node) => node.attributes.get("class") === "phases");
  return lines.map((line) => line.textContent).join("|");
}

test("a card that waits has the phases of its newest connection", () => {
  const first = { stage: "waiting", address: "192.0.2.1", dnsMs: 0.4, connectMs: 8, attempt: 1 };
  const again = { stage: "connecting", address: "192.0.2.1", dnsMs: 0.4, attempt: 2 };
  assert.match(
    phasesOn({ state: "running" }, first),
    /^DNS ✓ 0.40 ms · connected ✓ 8.00 ms · waiting 0\.\d s, gives up/,
  );
  assert.match(phasesOn({ state: "running" }, first, again), /^Again: DNS ✓ 0.40 ms · connecting 0.0 s, gives up/);
  assert.equal(phasesOn({ state: "running" }, { stage: "resolving" }), "");
});

test("a card whose check failed, or was cancelled, or found a site down, says where it stopped", () => {
  const step = { stage: "waiting", address: "192.0.2.1", connectMs: 8, attempt: 1 };
  const answered = (/** @type {object} */ reply) => ({ state: "answered", reply });
  const down = { conclusion: { code: "DOWN", state: "fail", message: "Down." }, status: null };
  const up = { conclusion: { code: "UP", state: "ok", message: "Up." }, status: 200 };
  const where = "connected ✓ 8.00 ms · waiting ✗ stopped here";
  assert.equal(phasesOn(answered({ ok: false, status: 504, error: "No." }), step), where);
  assert.equal(phasesOn({ state: "cancelled" }, step), where);
  assert.equal(phasesOn(answered({ ok: true, status: 200, data: down }), step), where);
  assert.equal(phasesOn(answered({ ok: true, status: 200, data: up }), step), "");
  assert.equal(phasesOn(answered({ ok: false, status: 504, error: "No." })), "");
});

test("the card of a check that failed has its conclusion, or the error without one", () => {
  const conclusion = { state: "unknown", code: "NO_IPV6_HERE", message: "No IPv6 here.", meaning: null };
  const said = (/** @type {object} */ reply) => {
    /** @type {any} */
    const check = {
      slug: "ping",
      title: "Ping",
      input: "a.example",
      options: {},
      glyph: null,
      seen: makeSteps(),
      began: 0,
    };
    advance(check, /** @type {any} */ ({ state: "answered", reply: { ok: false, status: 502, ...reply } }));
    const card = makeCard(check, "a.example", () => {});
    card.show();
    return [
      check.verdict?.tone,
      ...all(card.node, (node) => /verdict|remark/.test(node.attributes.get("class") ?? "")).map((node) =>
        node.attributes.get("class"),
      ),
    ];
  };
  assert.deepEqual(said({ error: "No IPv6 here.", conclusion }), ["off", "verdict off"]);
  assert.deepEqual(said({ error: "Failed." }), [undefined, "remark"]);
});

test("the card of a name that is there for mail only is red no longer, once", () => {
  const concluded = (/** @type {string} */ state, /** @type {string} */ code) => ({ conclusion: { state, code } });
  const check = (/** @type {string} */ slug, /** @type {string} */ state, /** @type {string} */ code) =>
    /** @type {any} */ ({
      ...{ slug, verdict: { tone: state === "fail" ? "bad" : "good", text: code, code } },
      stage: { state: "answered", reply: { ok: true, status: 200, data: { ...concluded(state, code), findings: [] } } },
    });
  const checks = [check("uptime", "fail", "NO_ADDRESS"), check("dns-lookup", "ok", "HAS_RECORDS")];
  const target = /** @type {any} */ ({ kind: "domain", text: "a.example", host: "a.example" });
  assert.deepEqual(calmed(checks, target), []);
  checks.push(check("email-dns-health", "ok", "MAIL_SET_UP_WELL"));
  assert.deepEqual(calmed(checks, { ...target, kind: "url" }), []);
  assert.deepEqual(calmed(checks, target), [checks[0]]);
  assert.deepEqual(checks[0].verdict, { tone: "info", text: "NO_ADDRESS", code: "NO_ADDRESS" });
  assert.deepEqual(calmed(checks, target), []);
});

/** @param {string} slug @param {string} state @param {string} code @param {string} [group] of its finding */
function answered(slug, state, code, group) {
  const finding = { code, severity: "fail", group, weight: 90, message: `${code}.`, remedy: null, subject: null };
  const data = { conclusion: { state, code, message: `It is ${code}.` }, findings: group ? [finding] : [] };
  const check = /** @type {any} */ ({ slug, title: slug, input: "", options: {}, seen: makeSteps() });
  advance(check, /** @type {any} */ ({ state: "answered", reply: { ok: true, status: 200, data } }));
  return check;
}

/** @param {string} slug @param {number} status @param {any} [conclusion] */
function failed(slug, status, conclusion) {
  const check = /** @type {any} */ ({ slug, title: slug, input: "", options: {}, seen: makeSteps() });
  advance(check, /** @type {any} */ ({ state: "answered", reply: { ok: false, status, error: "No.", conclusion } }));
  return check;
}

const target = (/** @type {string} */ kind) => /** @type {any} */ ({ kind, text: "a.example", host: "a.example" });

test("an address without a web server is no problem", () => {
  const checks = [
    answered("uptime", "fail", "DOWN", "broken"),
    answered("ping", "ok", "ANSWERED"),
    answered("port-checker", "fail", "CLOSED", "broken"),
    failed("ssl-checker", 502, { state: "fail", code: "CONNECTION_REFUSED", message: "Refused." }),
  ];
  assert.deepEqual(reportState(checks, target("address")), {
    tone: "good",
    text: "It is ANSWERED.",
    aside: "Nothing needs attention",
  });
  assert.deepEqual(missing(checks, target("address")), []);
  assert.equal(calmed(checks, target("address")).length, 3);
  assert.ok(checks.every(({ verdict }) => ["good", "info"].includes(verdict.tone)));
  assert.equal(reportState(checks, target("domain"))?.tone, "bad");
});

test("a name that fails DNSSEC validation is what the first line says, with the resolver's reason", () => {
  const bogus = answered("dns-lookup", "fail", "DNSSEC_FAILS", "broken");
  const [up, down, chain] = [
    answered("uptime", "ok", "UP"),
    answered("uptime", "fail", "DOWN", "broken"),
    answered("dns-delegation", "fail", "DNSSEC_DS_KEY_MISSING", "broken"),
  ];
  for (const site of [up, down])
    assert.equal(reportState([site, chain, bogus], target("domain"))?.text, "It is DNSSEC_FAILS.");
  assert.equal(reportState([down, chain], target("domain"))?.text, "It is DNSSEC_DS_KEY_MISSING.");
});

test("checks that do not apply to a missing name are counted in one sentence", () => {
  const absent = answered("dns-lookup", "fail", "NAME_NOT_FOUND", "broken");
  const checks = [absent, ...["ping", "traceroute"].map((slug) => failed(slug, 400)), failed("asn-lookup", 503)];
  assert.deepEqual(missing(checks, target("domain")), [
    "2 checks do not apply: the name has no address.",
    "1 check could not answer: asn-lookup.",
  ]);
});

test("checks that failed for one reason are named with it, once", () => {
  const conclusion = { state: "fail", code: "A", message: "It is busy." };
  const checks = [
    answered("uptime", "ok", "UP"),
    ...["ping", "traceroute"].map((slug) => failed(slug, 502, conclusion)),
  ];
  assert.deepEqual(missing(checks, target("domain")), ["ping and traceroute: It is busy."]);
});

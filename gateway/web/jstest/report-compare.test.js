// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { spread, tagged } from "./paper.js";

spread();
const { answerOf, differences, drawn, question, readSaved } = await import("../assets/lib/report-compare.js");
const { thumb } = await import("../assets/lib/thumb.js");

/** @param {string} slug @param {import("../assets/lib/view.js").Facts | null} facts */
const side = (slug, facts) => ({ slug, title: slug.toUpperCase(), answer: facts && { facts, outcome: outcome() } });

/** @param {string} [code] @param {...string} findings codes */
const outcome = (code = "WELL", ...findings) => ({
  code,
  text: `It is ${code}.`,
  findings: findings.map((found) => ({ code: found, subject: null, text: `There is ${found}.` })),
});

test("two reports differ fact by fact, and what one of them lacks is no difference", () => {
  const found = differences(
    [side("a", { X: "1", Y: ["p", "q"] }), side("b", { Z: "1" }), side("c", { Z: "1" }), side("d", null)],
    [
      side("a", { X: "2", Y: ["q", "p"] }),
      side("b", { Z: "1" }),
      side("c", null),
      side("d", null),
      side("e", { Z: "1" }),
    ],
    ["a.example", "b.example"],
  );
  assert.deepEqual(found, {
    only: [],
    differing: [{ title: "A", changes: [{ label: "X", gone: ["1"], come: ["2"] }] }],
    same: [
      { title: "A", facts: [["Y", ["p", "q"]]] },
      { title: "B", facts: [["Z", ["1"]]] },
    ],
    alike: ["B"],
    single: [
      ["C", true],
      ["E", false],
    ],
  });
});

test("that each report is about its own target is no difference", () => {
  const found = differences(
    [
      side("port-checker", { "11.0.0.1": "open" }),
      side("ping", { Address: "11.0.0.1" }),
      side("traceroute", { "Hop 3": ["11.0.0.1", "11.0.0.9"] }),
    ],
    [
      side("port-checker", { "11.0.0.2": "closed" }),
      side("ping", { Address: "11.0.0.2" }),
      side("traceroute", { "Hop 3": ["11.0.0.2"] }),
    ],
    ["11.0.0.1", "11.0.0.2"],
  );
  assert.deepEqual(found, {
    only: [{ title: "TRACEROUTE", changes: [{ label: "Hop 3", gone: ["11.0.0.9"], come: [] }] }],
    differing: [{ title: "PORT-CHECKER", changes: [{ label: "Its address", gone: ["open"], come: ["closed"] }] }],
    same: [{ title: "PING", facts: [["Address", ["11.0.0.1, 11.0.0.2"]]] }],
    alike: ["PING"],
    single: [],
  });
});

test("conclusions and findings of two targets differ by their codes, whatever their sentences are", () => {
  const of = (/** @type {ReturnType<typeof outcome>} */ one) => [
    { slug: "uptime", title: "Uptime", answer: { facts: {}, outcome: one } },
  ];
  const reworded = outcome("UP", "SLOW");
  reworded.text = "It answers.";
  reworded.findings[0] = { code: "SLOW", subject: /** @type {any} */ ("b.example"), text: "It is not fast." };
  const names = /** @type {[string, string]} */ (["a.example", "b.example"]);
  assert.deepEqual(differences(of(outcome("UP", "SLOW")), of(reworded), names).alike, ["Uptime"]);
  const found = differences(of(outcome("UP", "SLOW")), of(outcome("DOWN", "LOST")), names);
  assert.deepEqual(found.only[0].changes, [{ label: "Findings", gone: ["There is SLOW."], come: ["There is LOST."] }]);
  assert.deepEqual(found.differing[0].changes, [{ label: "Result", gone: ["It is UP."], come: ["It is DOWN."] }]);
});

const judge = /** @type {any} */ ({ facts: (/** @type {any} */ d) => ({ A: d.records }) });
const known = new Map([["dns-lookup", { title: "DNS lookup", judge: async () => judge }]]);

test("a saved report is read by the tools that are here, and by no other name", async () => {
  const saved = {
    target: "a.example",
    at: "2026-11-21T12:00:00Z",
    tools: [
      {
        slug: "dns-lookup",
        ok: true,
        data: {
          conclusion: { state: "ok", code: "WELL", message: "It is WELL." },
          findings: [],
          records: ["11.0.0.1"],
        },
      },
      { slug: "../../evil", ok: true, data: {} },
      null,
      { slug: "dns-lookup", ok: false, error: "no" },
    ],
  };
  assert.deepEqual(await readSaved(new Blob([JSON.stringify(saved)]), known), {
    name: "a.example",
    verdict: null,
    when: "2026-11-21T12:00:00Z",
    checks: [
      { slug: "dns-lookup", title: "DNS lookup", answer: { facts: { A: ["11.0.0.1"] }, outcome: outcome() } },
      { slug: "dns-lookup", title: "DNS lookup", answer: null },
    ],
  });
});

for (const text of [
  "",
  "{",
  "[]",
  "null",
  "3",
  '{"target":"a"}',
  '{"target":3,"tools":[]}',
  '{"target":"a","tools":{}}',
]) {
  test(`no saved report: ${text || "an empty file"}`, async () =>
    assert.equal(await readSaved(new Blob([text]), known), null));
}

test("facts of an answer that no one foresaw are none", () => {
  assert.equal(
    answerOf(
      /** @type {any} */ ({
        facts() {
          throw new Error("odd");
        },
      }),
      /** @type {any} */ ({}),
    ),
    null,
  );
  assert.equal(answerOf(judge, null), null);
});

test("the comparison shows both names, what differs and a long list in part", () => {
  const many = Array.from({ length: 20 }, (_, i) => `11.0.0.${i}`);
  const report = (/** @type {string} */ name, /** @type {string[]} */ list) => ({
    name,
    verdict: null,
    when: "now",
    checks: [side("dns-lookup", { A: list })],
  });
  const box = /** @type {any} */ (document.createElement("div"));
  box.append(...drawn(report("a.example", many), report("b.example", ["11.9.9.9"]), () => {}));
  assert.match(box.textContent, /a\.example and b\.example/);
  assert.match(box.textContent, /1 difference\./);
  assert.match(box.textContent, /and 12 more/);
  assert.equal(tagged(box, "tr").length, 2);
});

test("first what only one has, then what differs, then what is the same, which is folded", () => {
  const hostile = `<b>x</b>\u202e${"y".repeat(400)}`;
  const report = (/** @type {string} */ name, /** @type {any[]} */ checks) => ({
    name,
    verdict: null,
    when: "now",
    checks,
  });
  const box = /** @type {any} */ (document.createElement("div"));
  const [a, b] = [
    [side("dns-lookup", { A: ["1"], MX: [hostile], NS: ["n"] }), side("ping", { Address: "x" })],
    [side("dns-lookup", { A: ["2"], MX: [], NS: ["n"] })],
  ];
  box.append(...drawn(report("a.example", a), report("b.example", b), () => {}));
  const parts = tagged(box, "details").map((node) => [
    tagged(node, "h2")[0].textContent,
    node.attributes.has("open"),
    ...tagged(node, "tr")
      .slice(1)
      .map((row) => row.textContent),
  ]);
  assert.deepEqual(parts, [
    ["Only one of the two has", true, `DNS-LOOKUP: MX${hostile}—`, "PINGanswered—"],
    ["DNS-LOOKUP", true, "A12"],
    ["The same", false, "DNS-LOOKUP: NSn"],
  ]);
  assert.equal(tagged(box, "b").length, 0);
});

test("what to compare with is a target or a file, each with its label", () => {
  const form = /** @type {any} */ (question({ target: () => "", file: async () => "" }));
  assert.deepEqual(
    tagged(form, "label").map((node) => node.attributes.get("for")),
    tagged(form, "input").map((node) => node.attributes.get("id")),
  );
});

test("a small picture says what it shows, and nothing is drawn of nothing", () => {
  const ping = thumb("ping", {
    sent: 3,
    replies: [
      { seq: 1, rttMs: 5 },
      { seq: 3, rttMs: 10 },
    ],
  });
  assert.equal(
    /** @type {any} */ (ping).attributes.get("aria-label"),
    "Times of the probes: 5.00 ms to 10.0 ms, 1 without an answer.",
  );
  const ends = thumb("ssl-checker", {
    certificate: { validFrom: "2000-01-01T00:00:00Z", validTo: "2001-01-01T00:00:00Z" },
  });
  assert.match(/** @type {any} */ (ends).attributes.get("aria-label"), /100 % has passed/);
  assert.equal(thumb("ssl-checker", { certificate: {} }), null);
  assert.equal(thumb("port-checker", { addresses: [{ state: "open" }] }), null);
  assert.equal(thumb("no-such-tool", {}), null);
});

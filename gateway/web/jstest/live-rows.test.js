// @ts-check
// The list of what a run has found, for hostile and odd steps too.

import assert from "node:assert/strict";
import { test } from "node:test";
import { spread, tagged } from "./paper.js";

spread();
const { rowOf, stepRows } = await import("../assets/lib/live-rows.js");
const { makeSteps } = await import("../assets/lib/steps.js");

const cases = /** @type {[string, any, string, RegExp][]} */ ([
  [
    "hop",
    { index: 0, url: "http://a.example/", status: 301, statusText: "Moved Permanently" },
    "http://a.example/",
    /^301 Moved/,
  ],
  ["hop", { index: 1, url: "http://b.example/", status: null }, "http://b.example/", /^no answer$/],
  ["address", { address: "192.0.2.1", state: "open", responseTimeMs: 12 }, "192.0.2.1", /^open after 12/],
  ["address", { address: "192.0.2.2", state: "filtered", responseTimeMs: null }, "192.0.2.2", /^no answer$/],
  [
    "resolver",
    { id: "quad9", name: "Quad9", outcome: "answer", values: ["192.0.2.1", "192.0.2.2"] },
    "Quad9",
    /^192.0.2.1, 192.0.2.2$/,
  ],
  ["resolver", { id: "quad9", name: "Quad9", outcome: "nxdomain" }, "Quad9", /does not exist/],
  ["resolver", { id: "quad9", name: "Quad9", outcome: "error", errorCode: "ETIMEOUT" }, "Quad9", /in time/],
  [
    "type",
    { type: "MX", records: { MX: [{ priority: 10, exchange: "mx.example" }] }, error: null },
    "MX",
    /mx\.example/,
  ],
  ["type", { type: "AAAA", records: {}, error: "ENODATA" }, "AAAA", /^no such record$/],
  ["check", { name: "mtaSts", status: "fail", summary: "No policy." }, "MTA-STS", /^No policy/],
  [
    "file",
    { url: "https://a.example/robots.txt", status: "missing", httpStatus: 404 },
    "https://a.example/robots.txt",
    /^not found \(404\)$/,
  ],
  ["endpoint", { address: "192.0.2.1", protocol: "TLSv1.3", authorized: true }, "192.0.2.1", /^TLSv1.3$/],
  ["protocol", { protocol: "TLS 1.0", accepted: false }, "TLS 1.0", /^not accepted$/],
  ["source", { name: "RDAP", url: "https://rdap.example/domain/a", cached: false }, "RDAP", /rdap\.example/],
]);

for (const [kind, thing, name, text] of cases) {
  test(`${kind}: ${name}, ${thing.status ?? thing.state ?? thing.outcome ?? ""}`, () => {
    const row = rowOf(kind, thing);
    assert.equal(row.name, name);
    assert.match(row.text, text);
  });
}

test("what has another shape has a line all the same, and long texts are cut", () => {
  for (const kind of ["hop", "type", "resolver", "check", "file", "source"]) assert.ok(rowOf(kind, {}).name);
  assert.equal(rowOf("hop", null).name, "hop");
  assert.ok(rowOf("check", { name: "x".repeat(9999), status: "pass", summary: "y".repeat(9999) }).text.length <= 160);
});

test("the list has a line for each thing and no markup of theirs", () => {
  const seen = makeSteps();
  seen.add({ kind: "check", check: { name: "spf", status: "pass", summary: "<img src=x onerror=alert(1)>" } });
  seen.add({ kind: "check", check: { name: "dkim", status: "warn", summary: "two" } });
  const list = stepRows(seen);
  assert.equal(tagged(list, "li").length, 2);
  assert.equal(tagged(list, "img").length, 0);
  assert.match(list.textContent ?? "", /<img src=x/);
});

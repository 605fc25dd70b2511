// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldOf, runTool } from "../assets/lib/api.js";

/**
 * What the pages make of one answer of the service.
 * @param {number} status
 * @param {string} body
 * @param {Record<string, string>} [headers]
 */
function answered(status, body, headers) {
  globalThis.fetch = async () => new Response(body, { status, headers });
  return runTool("ping", "family.local", { family: "auto" }, new AbortController().signal);
}

const refusal = JSON.stringify({ error: "family.local is not a public name.", durationMs: 0.1, requestId: "r" });
const names = ["input", "family"];

test("a refusal is about the field that the service names, whatever its sentence repeats", async () => {
  for (const [header, want] of [
    ["input", "input"],
    ["options.family", "family"],
    ["options.another", null],
    ["options", null],
  ]) {
    const answer = await answered(400, refusal, { "X-Invalid-Field": header ?? "" });
    assert.equal(answer.field, header);
    assert.equal(fieldOf(answer, names), want, String(header));
  }
});

test("a refusal that names no field is about the input", async () => {
  assert.equal(fieldOf(await answered(400, refusal), names), "input");
  assert.equal(fieldOf(await answered(413, refusal), names), "input");
  assert.equal(fieldOf(await answered(400, refusal), []), null);
});

test("other failures are about no field", async () => {
  for (const status of [403, 415, 429, 500, 502, 504])
    assert.equal(fieldOf(await answered(status, refusal), names), null, String(status));
});

test("an answer that is no envelope is a failure in words", async () => {
  for (const body of ["", "<html>", "null", "7"]) {
    const answer = await answered(502, body);
    assert.equal(answer.ok, false);
    assert.match(answer.error ?? "", /status 502/);
  }
  assert.equal((await answered(429, refusal, { "Retry-After": "7" })).retryAfter, 7);
});

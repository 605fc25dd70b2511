// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

// The parts of a page listen to it from the start.
Object.assign(globalThis, { document: { addEventListener() {} } });

const { answered } = await import("../assets/lib/statuses.js");

test("a status with the server's own words", () => {
  for (const [status, statusText, want] of /** @type {[number | null, string | null, string][]} */ ([
    [200, "OK", "200 OK"],
    [299, "", "299"],
    [299, null, "299"],
    [null, "example.com refused the connection.", "no answer"],
    [null, null, "no answer"],
  ]))
    assert.equal(answered({ status, statusText }), want);
});

// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { fit } from "../assets/lib/fitting.js";
import { recognise } from "../assets/lib/recognise.js";

test("a report takes every kind of target but an AS number, which has one tool", () => {
  const offered = (/** @type {string} */ text, /** @type {string} */ kind) =>
    fit(/** @type {import("../assets/lib/recognise.js").Found} */ (recognise(text)), { kind, suits: new Map() })?.input;
  for (const text of ["example.com", "http://example.com/", "192.0.2.1", "example.com:25", "a@example.com"])
    assert.notEqual(offered(text, "report"), undefined, text);
  assert.equal(offered("AS64500", "report"), undefined);
  assert.equal(offered("AS64500", "network"), "AS64500");
});

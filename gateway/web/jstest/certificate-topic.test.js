// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { attention } from "../assets/lib/attention.js";
import { concernsIn } from "../assets/lib/view.js";

/**
 * What an answer with one finding gives cause for. @param {string} group @param {string} message @param {string | null}
 * subject
 */
const concerns = (group, message, subject) =>
  concernsIn(
    /** @type {any} */ ({ findings: [{ code: "CODE", severity: "fail", weight: 1, group, message, subject }] }),
  ) ?? [];

test("an invalid certificate is told by the certificate check, where that saw it too", () => {
  const headers = {
    title: "Headers",
    concerns: concerns("safer", "The certificate is not valid.", "certificate of a.example"),
  };
  const tls = { title: "TLS", concerns: concerns("broken", "It expired.", "certificate of a.example") };
  assert.deepEqual(
    attention([headers, tls]).map((c) => [c.text, c.from.map((f) => f.title)]),
    [["It expired.", ["TLS", "Headers"]]],
  );
  assert.deepEqual(
    attention([headers]).map((c) => c.text),
    ["The certificate is not valid."],
  );
});

test("a header that is missing over a valid certificate stands for itself", () => {
  const headers = { title: "Headers", concerns: concerns("safer", "The header is missing.", null) };
  const tls = { title: "TLS", concerns: concerns("broken", "It expired.", "certificate of a.example") };
  assert.equal(attention([headers, tls]).length, 2);
});

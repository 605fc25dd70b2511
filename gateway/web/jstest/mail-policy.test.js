// @ts-check
// What the page of email-dns-health says of DMARC.

import assert from "node:assert/strict";
import { test } from "node:test";

import { applied, policyWords, takers } from "../assets/tools/email-dns-health/policy.js";

test("a policy that is tested is applied one step milder", () => {
  /** @type {[string | null, boolean, string | null, string | null][]} */
  const cases = [
    ["reject", true, "quarantine", "reject, in test mode: receivers apply quarantine"],
    ["quarantine", true, "none", "quarantine, in test mode: receivers apply none"],
    ["none", true, "none", "none"],
    ["reject", false, "reject", "reject"],
    [null, false, null, null],
  ];
  for (const [policy, testMode, want, words] of cases) {
    assert.equal(applied({ policy, testMode }), want);
    assert.equal(policyWords({ policy, testMode }), words);
  }
});

test("every other domain that reports go to is told", () => {
  assert.deepEqual(takers({}), []);
  assert.deepEqual(
    takers({
      reportDestinations: [
        { domain: "a.example", authorized: true },
        { domain: "b.example", authorized: false },
        { domain: "c.example", authorized: null },
      ],
    }),
    [
      "a.example accepts the reports",
      "b.example does not accept the reports",
      "not known whether c.example accepts the reports",
    ],
  );
});

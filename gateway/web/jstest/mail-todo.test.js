// @ts-check
// What the page of email-dns-health says first about a domain that is not in order.
import assert from "node:assert/strict";
import { test } from "node:test";

import { spread } from "./paper.js";

spread();

const { default: view } = await import("../assets/tools/email-dns-health/view.js");

/** @param {string} overall @param {any} [parts] */
const answer = (overall, parts) => ({
  domain: "a.example",
  overall,
  checks: {
    mx: {
      status: "pass",
      hosts: [{ exchange: "mail.a.example", priority: 10, addresses: [] }],
      nullMx: false,
      issues: [],
    },
    spf: {
      status: "pass",
      record: "v=spf1 mx -all",
      all: "-all",
      lookups: 1,
      voidLookups: 0,
      tree: { children: [{}] },
      issues: [],
    },
    dmarc: { status: "pass", record: "v=DMARC1; p=reject", policy: "reject", foundAt: "a.example", issues: [] },
    dkim: { status: "info", selector: null, issues: [] },
    mtaSts: { status: "pass", mode: "enforce", issues: [] },
    tlsRpt: { status: "pass", issues: [] },
    ...parts,
  },
});

/** @type {[string, any, RegExp][]} */
const rows = [
  [
    "without SPF and DMARC",
    answer("fail", {
      spf: { status: "missing", record: null, issues: [], tree: { children: [] } },
      dmarc: { status: "missing", record: null, issues: [] },
    }),
    /^What to do: publish the records for SPF and DMARC that are listed below\.$/,
  ],
  [
    "that does not exist",
    answer("fail", { mx: { status: "fail", hosts: [], issues: [{ code: "DOMAIN_NOT_FOUND" }] } }),
    /^What to do: check the spelling/,
  ],
  [
    "with a weak key",
    answer("warn", { dkim: { status: "warn", selector: "s1", issues: [] } }),
    /^What to do: correct what the panels/,
  ],
  ["that could not be looked up", answer("error"), /^What to do: run the check again/],
  ["in good order", answer("pass"), /^(Receivers are asked|No policy makes)/],
];

for (const [name, d, first] of rows) {
  test(`what it means begins with what to do about a domain ${name}`, () => {
    const [said] = view.meaning(d, { slug: "email-dns-health", input: "a.example", options: {} });
    assert.match(typeof said === "string" ? said : (said.textContent ?? ""), first);
  });
}

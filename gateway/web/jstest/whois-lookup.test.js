// @ts-check
// What the page says of a name that its registry does not tell of.

import assert from "node:assert/strict";
import { test } from "node:test";
import judge from "../assets/tools/whois-lookup/verdict.js";

/** @type {import("../assets/lib/view.js").Asked} */
const asked = { slug: "whois-lookup", input: "x", options: {} };

const domain = { query: "www.free-site.com", queryType: "domain", registrableDomain: "free-site.com", found: false, domain: null, network: null };
const address = { query: "11.91.0.1", queryType: "ip", registrableDomain: null, found: false, domain: null, network: null };

test("a registry's 404 does not call a name free", () => {
  const text = "The registry has no registration for free-site.com; reserved and blocked names look the same.";
  const d = { ...domain, reason: "notFound" };
  assert.deepEqual(judge.verdict(d, asked), { tone: "info", text });
  assert.deepEqual(judge.concerns(d, asked), [{ tone: "info", text }]);
  assert.equal(judge.facts(d).Registered, "the registry has no such registration");
  assert.equal(judge.verdict({ ...address, reason: "notFound" }, asked).text, "The registry has no registration for the network of 11.91.0.1; reserved blocks look the same.");
});

test("where no registry is known nothing is known", () => {
  for (const d of [domain, address]) assert.equal(judge.facts({ ...d, reason: "noRdapService" }).Registered, "not known");
});

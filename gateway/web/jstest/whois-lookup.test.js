// @ts-check
// What the page compares of a name without a registration.

import assert from "node:assert/strict";
import { test } from "node:test";
import judge from "../assets/tools/whois-lookup/facts.js";

/** @type {any} */
const domain = {
  query: "www.free-site.com",
  queryType: "domain",
  registrableDomain: "free-site.com",
  found: false,
  domain: null,
  network: null,
};
/** @type {any} */
const address = {
  query: "11.91.0.1",
  queryType: "ip",
  registrableDomain: null,
  found: false,
  domain: null,
  network: null,
};

test("a registry's 404 does not call a name free", () => {
  assert.equal(judge.facts({ ...domain, reason: "notFound" }).Registered, "the registry has no such registration");
});

test("where no registry is known nothing is known", () => {
  for (const d of [domain, address])
    assert.equal(judge.facts({ ...d, reason: "noRdapService" }).Registered, "not known");
});

// @ts-check
// What the page compares of an address whose registration was not found.

import assert from "node:assert/strict";
import { test } from "node:test";

// The parts of a page listen to it from the start.
Object.assign(globalThis, { document: { addEventListener() {} } });

const { default: judge } = await import("../assets/tools/ip-geolocation/facts.js");

const asn = { asn: 13335, name: null, prefix: "1.1.1.0/24", country: "AU", registry: "apnic", allocated: "2011-08-11" };
/** @type {any} */
const bare = {
  ip: "1.1.1.1",
  version: 4,
  network: null,
  organization: null,
  abuseContact: null,
  country: null,
  countryName: null,
  countrySource: null,
  asn: null,
  hostname: null,
  sources: [],
};

test("what is compared of an address", () => {
  const d = {
    ...bare,
    asn,
    hostname: "one.example.net",
    country: "AU",
    countryName: "Australia",
    countrySource: "asn",
  };
  assert.deepEqual(judge.facts(d), {
    Network: [],
    "Network name": "",
    Holder: "",
    "AS number": "AS13335",
    Prefix: "1.1.1.0/24",
    Country: "AU",
    Hostname: "one.example.net",
    "Abuse contact": "",
  });
});

// @ts-check
// What the page says of an address whose network no registry told of.

import assert from "node:assert/strict";
import { test } from "node:test";

// The parts of a page listen to it from the start.
Object.assign(globalThis, { document: { addEventListener() {} } });

const judge = (await import("../assets/tools/ip-geolocation/verdict.js")).default;

/** @type {import("../assets/lib/view.js").Asked} */
const asked = { slug: "ip-geolocation", input: "1.1.1.1", options: {} };

const asn = { asn: 13335, name: null, prefix: "1.1.1.0/24", country: "AU", registry: "apnic", allocated: "2011-08-11" };
const bare = { ip: "1.1.1.1", version: 4, network: null, organization: null, abuseContact: null, country: null, countryName: null, countrySource: null, asn: null, hostname: null, sources: [{ name: "Team Cymru", zone: "asn.cymru.com" }] };

test("it names who announces the address", () => {
  const d = { ...bare, asn, hostname: "one.example.net", country: "AU", countryName: "Australia", countrySource: "asn" };
  assert.equal(judge.verdict(d, asked).text, "1.1.1.1 is announced by AS13335; no registration of its network was found; country of registration: Australia (AU).");
  assert.deepEqual(judge.facts(d), { Network: [], "Network name": "", Holder: "", "AS number": "AS13335", Prefix: "1.1.1.0/24", Country: "AU", Hostname: "one.example.net", "Abuse contact": "" });
});

test("it says that nothing is known where nobody announces it either", () => {
  assert.equal(judge.verdict(bare, asked).text, "No registration was found for the network of 1.1.1.1.");
  assert.equal(judge.concerns(bare, asked).length, 1);
});

// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

// The parts of a page listen to it from the start.
Object.assign(globalThis, { document: { addEventListener() {} } });

const { default: judge } = await import("../assets/tools/uptime/facts.js");

/** @param {"up" | "down"} state @param {...("up" | "down")} addresses */
const family = (state, ...addresses) => ({
  state,
  addresses: addresses.map((each, i) => ({ address: `192.0.2.${i + 1}`, state: each })),
});

/** @param {boolean} online @param {object} ipv4 @param {object} ipv6 @returns {any} */
const site = (online, ipv4, ipv6) => ({
  online,
  verdict: "degraded",
  status: 200,
  statusText: "OK",
  certificateValid: null,
  families: { ipv4, ipv6 },
});

test("the facts of a site have each family and address", () => {
  const facts = judge.facts(site(true, family("up", "up", "down"), family("down")));
  assert.equal(facts.IPv4, "answers");
  assert.equal(facts["192.0.2.2"], "down");
});

// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

// The parts of a page listen to it from the start.
Object.assign(globalThis, { document: { addEventListener() {} } });

const { default: judge, dead, lame } = await import("../assets/tools/uptime/facts.js");

/** @param {"up" | "down"} state @param {...("up" | "down")} addresses */
const family = (state, ...addresses) => ({
  state,
  addresses: addresses.map((each, i) => ({ address: `192.0.2.${i + 1}`, state: each })),
});

/** @param {boolean} online @param {any} ipv4 @param {any} ipv6 */
const site = (online, ipv4, ipv6) => ({
  online,
  verdict: "degraded",
  status: 200,
  statusText: "OK",
  certificateValid: null,
  families: { ipv4, ipv6 },
});

test("the family that does not answer while the other does", () => {
  assert.equal(lame(site(true, family("up"), family("down"))), "IPv6");
  assert.equal(lame(site(true, family("up"), family("up"))), undefined);
  assert.equal(lame(site(false, family("down"), family("down"))), undefined);
});

test("dead addresses are those of a family that answers", () => {
  assert.deepEqual(dead(site(true, family("up", "down", "up", "down"), family("up"))), ["192.0.2.1", "192.0.2.3"]);
  assert.deepEqual(dead(site(false, family("down", "down"), family("down"))), []);
});

test("the facts of a site have each family and address", () => {
  const facts = judge.facts(site(true, family("up", "up", "down"), family("down")));
  assert.equal(facts.IPv4, "answers");
  assert.equal(facts["192.0.2.2"], "down");
});

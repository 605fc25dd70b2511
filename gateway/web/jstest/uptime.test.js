// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { spread, tagged } from "./paper.js";

spread();

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

test("the largest figure of an address family is a time only where it is up", async () => {
  const { default: view } = await import("../assets/tools/uptime/view.js");
  const large = (/** @type {"up" | "down"} */ state) => {
    const shown = view.live?.(
      /** @type {any} */ ({
        list: (/** @type {string} */ kind) =>
          kind === "family" ? [{ ...family(state), family: 4, status: 503, responseTimeMs: 26.9 }] : [],
      }),
      { slug: "uptime", input: "https://example.com/", options: {} },
    );
    const all = (shown ?? []).flatMap((part) => (part ? tagged(part, "p") : []));
    return all.filter((/** @type {any} */ p) => p.attributes.get("class") === "uptime-time").map((p) => p.textContent);
  };
  assert.deepEqual(large("up"), ["26.9 ms"]);
  assert.deepEqual(large("down"), []);
});

// @ts-check
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
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

const recorded = new URL("../../../deploy/lab/e2e/testdata/golden/uptime.txt", import.meta.url);

test("what is said of a server that answers 503 is that it answers, and nothing of the way to it", async () => {
  const { default: view } = await import("../assets/tools/uptime/view.js");
  const all = [...readFileSync(recorded, "utf8").matchAll(/^\{\n {2}"data": [\s\S]*?^\}$/gm)];
  const failing = all.map((m) => JSON.parse(m[0]).data).filter((d) => d.status === 503 && d.verdict === "down");
  assert.notEqual(failing.length, 0);
  for (const d of failing) {
    assert.deepEqual([d.conclusion.code, d.findings[0].code], ["DOWN", "SERVER_ERROR"]);
    const asked = { slug: "uptime", input: d.url, options: {} };
    const drawn = view.show(d, asked).flatMap((part) => (part ? [part.textContent] : []));
    const told = [d.conclusion.message, d.findings[0].message, ...drawn].join(" ");
    assert.match(told, /503/);
    assert.doesNotMatch(told, /no (?:usable )?answer|the way to it|did not answer/i);
  }
});

// @ts-check
// What the page of a trace says of its probes.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { privateHop } from "../assets/lib/format.js";
import { spread } from "./paper.js";

spread();

const view = (await import("../assets/tools/traceroute/view.js")).default;
const { narrowing, pathMtu } = await import("../assets/tools/traceroute/mtu.js");

const asked = { slug: "traceroute", input: "example.com", options: {} };
/** @type {any} */
const answer = {
  target: "example.com",
  family: 6,
  protocol: "icmp",
  port: null,
  reached: false,
  findings: [{ code: "NOT_REACHED", remedy: "Mend it." }],
  explanation: ["Hop 2 is slow."],
};

test("the commands send the probes that were sent", () => {
  for (const [protocol, port, want] of /** @type {[string, number | null, string[]][]} */ ([
    ["icmp", null, ["traceroute -6 -n -I example.com", "mtr -6 -n -r -c 3 example.com"]],
    ["tcp", 8443, ["traceroute -6 -n -T -p 8443 example.com", "mtr -6 -n -T -P 8443 -r -c 3 example.com"]],
    ["udp", 53, ["traceroute -6 -n -U -p 53 example.com", "mtr -6 -n -u -P 53 -r -c 3 example.com"]],
  ])) {
    assert.deepEqual(
      view.terminal?.(asked, { ...answer, protocol, port }).map((c) => c.command),
      want,
    );
  }
});

/** @type {any} */
const limited = { path: 1400, limitedAt: 3, reported: false, hopMtus: [{ ttl: 3, mtu: 1400 }], note: null };

test("the path narrows behind the hops that say so", () => {
  const words = (/** @type {any} */ mtu, first = 3, last = 3) =>
    narrowing(mtu, first, last)
      .map((row) => row.textContent)
      .join("|");
  assert.equal(words(undefined), "");
  assert.equal(words(limited), "The path narrows here to 1,400 octets: larger packets vanish");
  assert.equal(words({ ...limited, reported: true }), "The path narrows here to 1,400 octets");
  assert.equal(words(limited, 2, 2), "");
  assert.equal(words(limited, 4, 9), "");
  assert.equal(words(limited, 2, 4), "Behind hop 3 the path narrows to 1,400 octets: larger packets vanish");
  assert.equal(words({ ...limited, hopMtus: [], reported: true }), "The path narrows here to 1,400 octets");
  assert.equal(words({ ...limited, hopMtus: [], path: null }), "The path narrows here: larger packets vanish");
  assert.equal(words({ ...limited, limitedAt: null, hopMtus: [] }), "");
});

test("the facts of the path MTU", () => {
  const words = (/** @type {any} */ mtu, family = 4) => pathMtu(mtu, /** @type {4 | 6} */ (family)).textContent;
  assert.match(words(limited), /1,400 octets.*1,360 octets.*vanish without a message.*behind hop 3/s);
  assert.match(
    words({ ...limited, reported: true, note: "A note." }, 6),
    /1,340 octets.*reported by an ICMP.*A note\./,
  );
  assert.match(words({ ...limited, path: 1500, reported: null, limitedAt: null, hopMtus: [] }), /were not tried/);
  assert.match(words({ ...limited, path: null, reported: null, limitedAt: null, hopMtus: [] }), /not known.*not known/);
});

test("the path MTU has its command", () => {
  assert.equal(view.terminal?.(asked, { ...answer, mtu: limited }).at(-1)?.command, "tracepath -6 -n example.com");
});

test("a router at a private address has one name on the page, among the facts and in a watch", async () => {
  const recorded = new URL("../../../deploy/lab/e2e/testdata/golden/traceroute.txt", import.meta.url);
  const all = [...readFileSync(recorded, "utf8").matchAll(/^\{\n {2}"data": [\s\S]*?^\}$/gm)].map((m) =>
    JSON.parse(m[0], (_, v) => (v === "<ms>" ? 1 : v)),
  );
  const [d] = all.map(({ data }) => data).filter(({ hops }) => hops?.some((/** @type {any} */ h) => h.hidden));
  const { ttl } = d.hops.find((/** @type {any} */ h) => h.hidden);
  const { default: judge } = await import("../assets/tools/traceroute/facts.js");
  assert.equal(judge.facts(d)[`Hop ${ttl}`], privateHop);
  const drawn = view.show(d, asked).map((part) => part?.textContent ?? "");
  const shown = [...drawn, d.conclusion.message, ...d.explanation].join(" ");
  assert.ok(shown.includes(privateHop));
  assert.doesNotMatch(shown, /not public/i);
});

test("the scale ends at the last hop that matters", async () => {
  const { scaleEnd } = await import("../assets/tools/traceroute/facts.js");
  /** @param {number} ttl @param {number} best @param {number} worst */
  const hop = (ttl, best, worst) =>
    /** @type {any} */ ({ ttl, addresses: [`11.0.0.${ttl}`], bestMs: best, worstMs: worst });
  /** @param {any[]} hops @param {boolean} [reached] */
  const end = (hops, reached = true) => scaleEnd({ hops, address: "11.0.0.3", reached });
  assert.equal(end([hop(1, 1, 2), hop(2, 200, 300), hop(3, 10, 12)]), 12, "a router that is slow to answer");
  assert.equal(end([hop(1, 1, 90), hop(2, 5, 8), hop(3, 10, 12)]), 24, "one slow answer of a fast router");
  assert.equal(end([hop(1, 1, 2), hop(2, 9, 14), hop(3, 10, 12)]), 14, "a router a little slower");
  assert.equal(end([hop(1, 1, 2), hop(2, 200, 300)], false), 300, "no destination to compare with");
});

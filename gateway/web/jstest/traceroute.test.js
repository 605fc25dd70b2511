// @ts-check
// What the page of a trace says of its probes.

import assert from "node:assert/strict";
import { test } from "node:test";

// The parts of a page listen to it from the start.
Object.assign(globalThis, { document: { addEventListener() {} } });

const view = (await import("../assets/tools/traceroute/view.js")).default;

const asked = { slug: "traceroute", input: "example.com", options: {} };
/** @type {any} */
const answer = {
  target: "example.com",
  family: 6,
  protocol: "icmp",
  port: null,
  reached: false,
  findings: [{ code: "NOT_REACHED", remedy: "Mend it." }],
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

test("silence of a destination says what else may be tried", () => {
  const words = (/** @type {object} */ d) => view.meaning?.({ ...answer, ...d }, asked).join(" ") ?? "";
  assert.match(words({}), /need not mean that the destination is down\. Mend it\./);
  assert.match(words({ protocol: "udp", port: 53 }), /take the probes without answering\. Mend it\./);
  assert.doesNotMatch(words({ reached: true }), /down/);
});

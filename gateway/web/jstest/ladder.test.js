// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { phasesOf } from "../assets/lib/ladder.js";
import { makeSteps } from "../assets/lib/steps.js";

const known = { address: "192.0.2.1", dnsMs: 0.4, connectMs: 8, tlsMs: 10, boundMs: 8000, atMs: 20, since: 1000 };

/** @param {any} stage @param {boolean} [over] */
const told = (stage, over = false) => phasesOf(stage, 3900, over).map(({ name, text, state }) => [name, text, state]);

test("each phase has what it took, and the last one its clock and its limit", () => {
  const before = [
    ["DNS", "0.40 ms", "done"],
    ["connected", "8.00 ms", "done"],
    ["TLS", "10.0 ms", "done"],
  ];
  assert.deepEqual(told({ ...known, stage: "waiting" }), [...before, ["waiting", "2.9 s, gives up at 8 s", "now"]]);
  assert.deepEqual(told({ ...known, stage: "waiting" }, true), [...before, ["waiting", "stopped here", "stopped"]]);
});

test("what is not known is left out, and hostile values are no numbers", () => {
  assert.deepEqual(told({ stage: "connecting", boundMs: 7000.2, since: 3400 }), [
    ["connecting", "0.5 s, gives up at 8 s", "now"],
  ]);
  assert.deepEqual(told({ stage: "made up", dnsMs: "<b>", connectMs: null, boundMs: {} }), []);
});

test("every connection keeps its newest stage", () => {
  const seen = makeSteps();
  const add = (/** @type {object} */ step) => seen.add(/** @type {any} */ ({ kind: "stage", ...step }));
  add({ stage: "resolving" });
  add({ stage: "connecting", address: "192.0.2.1", attempt: 1 });
  add({ stage: "connecting", address: "192.0.2.1", attempt: 2 });
  add({ stage: "waiting", address: "192.0.2.1", attempt: 1 });
  assert.deepEqual(
    [...seen.stages.values()].map(({ stage, attempt }) => [stage, attempt]),
    [
      ["waiting", 1],
      ["connecting", 2],
    ],
  );
  assert.equal(seen.stage?.stage, "waiting");
});

test("an address that has answered is waited for no longer", () => {
  const seen = makeSteps();
  const add = (/** @type {any} */ step) => seen.add(step);
  for (const address of ["192.0.2.1", "192.0.2.10", "2001:db8::1"])
    add({ kind: "stage", stage: "waiting", boundMs: 8000, atMs: 1, address, attempt: 1 });
  add({ kind: "address", atMs: 2, address: { address: "192.0.2.1", status: 200 } });
  add({ kind: "address", atMs: 3, address: { address: "2001:db8::1", status: null, reason: "refused" } });
  assert.deepEqual([...seen.stages.keys()], ["192.0.2.10 1", "2001:db8::1 1"]);
});

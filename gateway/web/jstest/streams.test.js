// @ts-check
// What the pages make of a stream, however its bytes are cut and wherever it ends.

import assert from "node:assert/strict";
import { test } from "node:test";
import { runTool } from "../assets/lib/api.js";
import { boundOf, counted, doing, makeSteps } from "../assets/lib/steps.js";

const encoder = new TextEncoder();
const stage = { kind: "stage", stage: "asking", whom: "Quad9", atMs: 1, boundMs: 4500 };
const hop = (/** @type {number} */ ttl, rest = {}) => ({
  kind: "hop",
  hop: { ttl, addresses: [`192.0.2.${ttl}`], ...rest },
  atMs: ttl,
});
const last = { data: { reached: true, words: "naïve – 日本" }, durationMs: 12, requestId: "r", status: 200 };

/** @param {unknown[]} values */
const lines = (values) => encoder.encode(values.map((value) => `${JSON.stringify(value)}\n`).join(""));

/**
 * Runs a tool whose answer is a stream of those parts.
 * @param {Uint8Array[]} parts
 * @param {{fails?: boolean, type?: string, signal?: AbortSignal}} [how]
 */
async function streamed(
  parts,
  { fails = false, type = "application/x-ndjson", signal = new AbortController().signal } = {},
) {
  /** @type {any[]} */
  const steps = [];
  /** @type {RequestInit | undefined} */
  let sent;
  globalThis.fetch = async (_, init) => {
    sent = init;
    let next = 0;
    const body = new ReadableStream({
      pull(controller) {
        if (next < parts.length) controller.enqueue(parts[next++]);
        else if (fails) controller.error(new TypeError("network error"));
        else controller.close();
      },
    });
    return new Response(body, { status: 200, headers: { "Content-Type": type } });
  };
  const answer = await runTool("ping", "example.com", {}, signal, (step) => steps.push(step));
  return { answer, steps, accept: new Headers(sent?.headers).get("Accept") };
}

test("steps come one by one, and the last line is the answer, wherever the bytes are cut", async () => {
  const all = lines([{ step: stage }, { step: hop(1) }, last]);
  for (const size of [1, 2, 7, 64, all.length]) {
    const parts = Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size));
    const { answer, steps, accept } = await streamed(parts);
    assert.equal(accept, "application/x-ndjson");
    assert.deepEqual(steps, [stage, hop(1)], `cut by ${size}`);
    assert.deepEqual(answer, {
      ok: true,
      status: 200,
      retryAfter: undefined,
      data: last.data,
      durationMs: 12,
      requestId: "r",
    });
  }
});

test("a failure on the last line is one, with its status and its pause", async () => {
  const { answer } = await streamed([
    lines([
      { step: stage },
      { error: "The worker failed.", durationMs: 3, requestId: "r", status: 503, retryAfter: 4 },
    ]),
  ]);
  assert.deepEqual(answer, {
    ok: false,
    status: 503,
    retryAfter: 4,
    error: "The worker failed.",
    durationMs: 3,
    requestId: "r",
  });
});

test("the conclusion right before the line of a failure is its own, whatever receipt follows", async () => {
  const conclusion = {
    state: "fail",
    code: "CONNECTION_REFUSED",
    brief: "Refused",
    message: "It refused.",
    meaning: null,
  };
  const concluded = { step: { kind: "conclusion", conclusion } };
  const failure = { error: "Failed.", durationMs: 3, requestId: "r", status: 502 };
  const said = async (/** @type {unknown[]} */ ...values) => {
    const { answer } = await streamed([lines(values)]);
    return [answer.error, answer.conclusion?.code];
  };
  assert.deepEqual(await said(concluded, failure), ["It refused.", "CONNECTION_REFUSED"]);
  const receipt = { step: { kind: "receipt", receipt: {} } };
  assert.deepEqual(await said(concluded, receipt, failure), ["It refused.", "CONNECTION_REFUSED"]);
  assert.deepEqual(await said(concluded, { step: stage }, failure), ["Failed.", undefined]);
  assert.deepEqual(await said(failure), ["Failed.", undefined]);
  assert.deepEqual(await said({ step: { kind: "conclusion" } }, failure), ["Failed.", undefined]);
  assert.deepEqual(await said(concluded, last), [undefined, undefined]);
});

test("a stream that ends before its last line has no answer", async () => {
  const whole = lines([{ step: hop(1) }, last]);
  for (const [parts, how] of /** @type {[Uint8Array[], object][]} */ ([
    [[], {}],
    [[lines([{ step: hop(1) }])], {}],
    [[whole.slice(0, -1)], {}],
    [[whole.slice(0, -9)], { fails: true }],
    [[encoder.encode("nonsense\nnull\n[]\n7\n")], {}],
  ])) {
    const { answer } = await streamed(parts, how);
    assert.equal(answer.ok, false);
    assert.match(answer.error ?? "", /was lost/);
  }
});

test("what has come stays where the rest breaks off", async () => {
  const { steps } = await streamed([lines([{ step: hop(1) }, { step: hop(2) }])], { fails: true });
  assert.equal(steps.length, 2);
});

test("an answer without steps is read as ever", async () => {
  const { answer, steps } = await streamed([lines([{ data: { a: 1 }, durationMs: 1, requestId: "r" }])], {
    type: "application/json",
  });
  assert.deepEqual(answer.data, { a: 1 });
  assert.deepEqual(steps, []);
});

test("the newest state of each thing is kept, in the order in which things were first told", () => {
  const seen = makeSteps();
  for (const step of [hop(2), hop(1), hop(2, { received: 3 }), stage]) seen.add(step);
  assert.deepEqual(
    seen.list("hop").map((h) => [h.ttl, h.received]),
    [
      [2, 3],
      [1, undefined],
    ],
  );
  assert.equal(seen.count, 2);
  assert.equal(counted(seen), "2 hops");
  assert.equal(doing(seen.stage), "Asking Quad9");
  assert.equal(boundOf(seen.stage), 5);
});

test("steps of an unknown kind or without their thing are left out", () => {
  const seen = makeSteps();
  for (const step of [
    { kind: "mood", mood: {} },
    { kind: "hop" },
    { kind: "hop", hop: null },
    { kind: "hop", hop: 7 },
    { kind: "constructor", constructor: {} },
    { kind: "__proto__" },
  ])
    seen.add(/** @type {any} */ (step));
  assert.equal(seen.count, 0);
  assert.equal(counted(seen), "");
});

test("before a stage is told there are words and a bound", () => {
  assert.equal(doing(null), "Starting");
  assert.equal(boundOf(null), 30);
  assert.equal(doing(/** @type {any} */ ({ stage: "dancing" })), "Working");
  assert.equal(boundOf(/** @type {any} */ ({ stage: "waiting", boundMs: "soon" })), 30);
});

test("a conclusion is no thing among the others, and the newest counts", () => {
  const seen = makeSteps();
  const conclusion = (/** @type {unknown} */ value) =>
    seen.add(/** @type {any} */ ({ kind: "conclusion", conclusion: value, atMs: 1 }));
  for (const odd of [null, "x", {}, { message: 1 }]) conclusion(odd);
  assert.equal(seen.conclusion, null);
  conclusion({ state: "warn", code: "SERVER_SILENT", message: "One is silent." });
  conclusion({ state: "fail", code: "NO_SERVER_ANSWERS", message: "All are silent." });
  assert.equal(seen.conclusion?.message, "All are silent.");
  assert.deepEqual([seen.count, seen.kinds(), counted(seen)], [0, [], ""]);
});

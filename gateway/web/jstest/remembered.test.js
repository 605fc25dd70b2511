// @ts-check
import assert from "node:assert/strict";
import test from "node:test";
import { remembered, targetOf } from "../assets/lib/remembered.js";

test("an input is about its host, whatever tool it was for", () => {
  for (const [input, want] of [
    ["example.com", "example.com"],
    ["https://Example.com/path?q=1", "example.com"],
    ["example.com:443", "example.com"],
    ["192.0.2.1", "192.0.2.1"],
    ["[2001:db8::1]:80", "2001:db8::1"],
    ["AS13335", "as13335"],
    ["no target", "no target"],
  ])
    assert.equal(targetOf(input), want, input);
});

/** @param {string} slug @param {string} input @param {number} at @returns {import("../assets/lib/store.js").Known} */
const kept = (slug, input, at) => ({
  key: [slug, input, {}],
  at,
  facts: {},
  tone: "good",
  verdict: "Well.",
  changes: [],
});

test("checks of one target stand together, the newest first", () => {
  const answers = [
    kept("ssl-checker", "example.com:443", 9),
    kept("dns-lookup", "example.org", 8),
    kept("uptime", "https://example.com/", 7),
    kept("my-ip", "", 6),
  ];
  const got = remembered(answers, [
    { target: "example.org", at: 12 },
    { target: "example.net", at: 3 },
  ]);
  assert.deepEqual(
    got.map(({ target, at, checks }) => [target, at, checks.map(({ key }) => key[0])]),
    [
      ["example.org", 12, ["dns-lookup"]],
      ["example.com", 9, ["ssl-checker", "uptime"]],
      ["example.net", 3, []],
    ],
  );
});

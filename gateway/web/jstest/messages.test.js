// @ts-check
// Sentences of the API may be reworded: no module of a tool compares or cuts one.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

const folders = new URL("../assets/tools/", import.meta.url);

const sentence = String.raw`\b(?:message|remedy|summary|reason|finding|recommendation|explanation)\b`;
const uses = [
  new RegExp(String.raw`${sentence}\)?\??\.(?:replace|slice|split|match|search|includes|startsWith|endsWith|indexOf)`),
  new RegExp(String.raw`\.(?:test|exec)\([^()]*${sentence}\)`),
  // The reason of whois-lookup is a code.
  new RegExp(String.raw`\.(?:message|remedy|summary|finding|recommendation) ?[!=]== ?["'\x60]`),
];

/** @param {string} source */
const found = (source) => source.split("\n").filter((line) => uses.some((use) => use.test(line)));

for (const slug of readdirSync(folders))
  for (const file of readdirSync(new URL(`${slug}/`, folders)).filter((/** @type {string} */ name) =>
    name.endsWith(".js"),
  ))
    test(`${slug}/${file} takes sentences as they are`, () =>
      assert.deepEqual(found(readFileSync(new URL(`${slug}/${file}`, folders), "utf8")), []));

test("what counts as cutting or comparing a sentence", () => {
  for (const line of [
    'f.message.replace(/x/, "")',
    "(d.reason ?? d.summary).slice(1)",
    "/certificate/.test(issue.message)",
    'd.summary === "Done."',
    'c.recommendation?.startsWith("Do not send")',
  ])
    assert.equal(found(line).length, 1, line);
  for (const line of [
    'd.reason === "notFound"',
    "el('p', {}, f.message)",
    'd.reason ? "a" : "b"',
    "f.message, f.remedy",
  ])
    assert.equal(found(line).length, 0, line);
});

// @ts-check
// What a hostile server or registry can put into an answer of the right shape breaks no verdict: every text of a
// stranger's in the recorded answers is replaced in turn.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

Object.assign(globalThis, { document: { addEventListener() {} } });

import { concernsIn, verdictOf } from "../assets/lib/view.js";

const folders = new URL("../assets/tools/", import.meta.url);
const recorded = new URL("../../../deploy/lab/e2e/testdata/golden/", import.meta.url);
const tones = ["good", "warn", "bad", "info", "off"];

/** Where strangers' own texts are, as they sent them. The others are the service's, or in a form that it has judged. */
const theirs = new Set([
  "name",
  "value",
  "values",
  "statusText",
  "location",
  "title",
  "description",
  "hostname",
  "handle",
  "unicodeName",
  "organization",
  "abuseContact",
  "record",
  "preview",
  "userAgents",
  "path",
  "TXT",
  "CNAME",
  "NS",
  "exchange",
  "nameservers",
  "registrar",
  "subject",
  "issuer",
]);

/** Texts as bad as they come. */
const texts = [
  "",
  " ",
  "<img src=x onerror=alert(1)>",
  "\u202e\u0000\u001b[31m",
  "__proto__",
  "constructor",
  "x".repeat(5000),
  "%s%n${x}",
  "\ud800",
  "-1",
];

/** What stands in the records for what changes at every run. @type {Record<string, any>} */
const masked = { __proto__: null, "<ms>": 1, "<time>": "2026-01-01T00:00:00Z", "<seconds>": 1, "<bool>": true };

/** The answers of a tool that hold data. @param {string} slug @returns {any[]} */
function answers(slug) {
  const text = readFileSync(new URL(`${slug}.txt`, recorded), "utf8");
  return [...text.matchAll(/^\{\n {2}"data": [\s\S]*?^\}$/gm)].map(
    (m) => JSON.parse(m[0], (_, v) => masked[v] ?? v).data,
  );
}

/**
 * Every place of a stranger's text. @param {any} value @param {(string | number)[]} at @returns {(string | number)[][]}
 */
function places(value, at = []) {
  if (typeof value === "string") return theirs.has(String(at.findLast((key) => typeof key === "string"))) ? [at] : [];
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([key, child]) =>
    places(child, [...at, Array.isArray(value) ? Number(key) : key]),
  );
}

/** A copy with another value at a place. @param {any} data @param {(string | number)[]} at @param {any} value */
function changed(data, at, value) {
  const copy = structuredClone(data);
  let node = copy;
  for (const key of at.slice(0, -1)) node = node[key];
  node[/** @type {string | number} */ (at.at(-1))] = value;
  return copy;
}

for (const slug of readdirSync(folders)) {
  test(`${slug}: no text of a stranger breaks the verdict`, async () => {
    const judge = (await import(new URL(`${slug}/facts.js`, folders).href)).default;
    const kept = answers(slug);
    assert.ok(kept.length > 0, "no recorded answers");
    for (const data of kept) {
      for (const at of places(data).slice(0, 60)) {
        for (const text of texts) {
          const odd = changed(data, at, text);
          const told = [verdictOf(odd), ...(concernsIn(odd) ?? [])];
          assert.ok(
            told.every((c) => tones.includes(c.tone) && typeof c.text === "string" && c.text !== ""),
            `${at.join(".")} ${text.slice(0, 40)}`,
          );
          assert.equal(typeof judge.facts(odd), "object");
        }
      }
    }
  });
}

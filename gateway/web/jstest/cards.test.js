// @ts-check
// What the cards of the report carry of the answers that the service gave in the lab.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { cardFacts } from "../assets/lib/card-facts.js";
import { spread } from "./paper.js";

spread();
const { thumb } = await import("../assets/lib/thumb.js");

const recorded = new URL("../../../deploy/lab/e2e/testdata/golden/", import.meta.url);
const tools = readdirSync(new URL("../assets/tools/", import.meta.url)).filter(
  (/** @type {string} */ slug) => slug !== "my-ip",
);

/** What stands in the records for what changes at every run. @type {Record<string, any>} */
const masked = { __proto__: null, "<ms>": 1, "<time>": "2026-01-01T00:00:00Z", "<seconds>": 1, "<bool>": true };

/** The answers of a tool that hold data. @param {string} slug @returns {any[]} */
function answers(slug) {
  const text = readFileSync(new URL(`${slug}.txt`, recorded), "utf8");
  return [...text.matchAll(/^\{\n {2}"data": [\s\S]*?^\}$/gm)].map(
    (m) => JSON.parse(m[0], (_, v) => masked[v] ?? v).data,
  );
}

for (const slug of tools) {
  test(`the card of ${slug} carries two to four facts, and a picture where there is something to draw`, async () => {
    const { default: judge } = await import(`../assets/tools/${slug}/facts.js`);
    const all = answers(slug);
    assert.ok(all.length > 0, "no answer was recorded");
    const counts = all.map((d) => cardFacts(slug, judge.facts(d)).length);
    assert.ok(counts[0] >= 2, `${counts[0]} facts of a usual answer`);
    // Of what is not there, one fact may be all.
    assert.ok(
      counts.every((n) => n >= 1 && n <= 4),
      counts.join(" "),
    );
    // The records have one time for all moments, which is no validity.
    if (slug !== "ssl-checker")
      assert.ok(
        all.some((d) => thumb(slug, d)),
        "no picture",
      );
  });
}

// @ts-check
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { loadJudge, loadView } from "../assets/lib/view.js";

// The parts of a page listen to it from the start.
Object.assign(globalThis, { document: { addEventListener() {} } });

test("a tool's modules are found by its slug", async () => {
  const slugs = readdirSync(new URL("../assets/tools/", import.meta.url));
  for (const slug of slugs) {
    const { default: judge } = await import(`../assets/tools/${slug}/facts.js`);
    assert.equal(await loadJudge(slug), judge, slug);
  }
  assert.equal(typeof (await loadView("ping"))?.show, "function");
});

test("a module that does not load is null, and the console says why", async (/** @type {any} */ t) => {
  const warned = t.mock.method(console, "warn", () => {});
  assert.equal(await loadView("no-such-tool"), null);
  assert.equal(warned.mock.callCount(), 1);
  assert.equal(await loadJudge("no-such-tool"), null);
});

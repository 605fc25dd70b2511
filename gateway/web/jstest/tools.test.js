// @ts-check
// The folder of every tool has the two modules that the pages load, in the shape that they have in lib/view.js.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";

// The parts of a page listen to it from the start.
Object.assign(globalThis, { document: { addEventListener() {} } });

const folders = new URL("../assets/tools/", import.meta.url);
const shapes = { "facts.js": ["facts"], "view.js": ["show", "terminal", "sources"] };
/** What a module may have besides. */
const optional = ["blindTo", "lessons", "live", "second", "times", "yours"];

for (const slug of readdirSync(folders)) {
  for (const [file, members] of Object.entries(shapes)) {
    test(`${slug}/${file} exports what its page calls`, async () => {
      const made = (await import(new URL(`${slug}/${file}`, folders).href)).default;
      assert.deepEqual(
        Object.keys(made)
          .filter((name) => !optional.includes(name))
          .sort(),
        [...members].sort(),
      );
      for (const member of Object.keys(made)) assert.equal(typeof made[member], "function", member);
    });
  }
}

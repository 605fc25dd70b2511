// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

const line = { textContent: "" };
Object.assign(globalThis, { document: { addEventListener() {}, getElementById: () => line } });
const { noteUnfit } = await import("../assets/lib/typed.js");

test("a note tells of a private address as long as it is in the field, and keeps what others say", () => {
  const [field, note] = /** @type {any[]} */ ([{ value: "" }, { textContent: "" }]);
  const typed = (/** @type {string} */ value) => {
    field.value = value;
    noteUnfit(field, note);
    return note.textContent;
  };
  assert.equal(typed("a.example.com"), "");
  assert.match(typed("192.168.1.1"), /^192\.168\.1\.1 is a private address/);
  assert.equal(typed("192.168.1.1.example.com"), "");
  // Someone pressed the button before this was loaded.
  note.textContent = "Took a.example.com from the text that you entered.";
  assert.equal(typed("a.example.com"), "Took a.example.com from the text that you entered.");
});

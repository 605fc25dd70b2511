// @ts-check
import assert from "node:assert/strict";
import test from "node:test";

import { quote, sh } from "../assets/lib/shell.js";

test("plain words stay plain", () => {
  assert.equal(sh`dig ${"example.com"} ${"MX"} +short`, "dig example.com MX +short");
});

test("whatever a shell would read is quoted", () => {
  for (const word of ["", "a b", "$(id)", "`id`", "a;b", "a\nb", "*", "~", "-rf", "a|b", '"', "!", "é"]) {
    assert.equal(quote(word), `'${word}'`);
  }
  assert.equal(quote("it's"), `'it'\\''s'`);
});

// @ts-check
// A failure on the page: its conclusion, what that means, and what else there is to check.
import assert from "node:assert/strict";
import { test } from "node:test";
import { all, spread } from "./paper.js";

spread();
const { renderFailure } = await import("../assets/lib/failure.js");

const run = { kind: "url", asked: { slug: "uptime", input: "https://a.example/", options: {} }, again: () => {} };

/** @param {object} answer */
function drawn(answer) {
  const node = renderFailure(/** @type {any} */ ({ ok: false, error: "It failed.", ...answer }), run);
  const paragraphs = all(node, (one) => one.tagName === "P").map(({ textContent }) => textContent);
  return { tone: node.getAttribute("class"), paragraphs, links: all(node, (one) => one.tagName === "A").length };
}

/** @param {string} state @param {string | null} meaning */
const concluded = (state, meaning) => ({
  status: 502,
  conclusion: { state, code: "A", message: "It failed.", meaning },
});

test("a failure of the target is red, and its meaning is the conclusion's", () => {
  const { tone, paragraphs, links } = drawn(concluded("fail", "Look at it."));
  assert.equal(tone, "notice bad");
  assert.deepEqual(paragraphs.slice(0, 2), ["It failed.", "Look at it."]);
  assert.equal(links, 1);
  assert.deepEqual(drawn(concluded("fail", null)).paragraphs, ["It failed.", "Try again"]);
});

test("a failure of this service is grey and offers no other check of the target", () => {
  const { tone, links } = drawn(concluded("unknown", null));
  assert.deepEqual([tone, links], ["notice off", 0]);
});

test("a failure without a conclusion is the error", () => {
  assert.deepEqual(drawn({ status: 502 }).paragraphs, ["It failed.", "Try again"]);
  assert.deepEqual(drawn({ status: 501 }).paragraphs.length, 2);
});

// @ts-check
// An answer on the page of a tool: below its conclusion is what that means, and each finding is there once.
import assert from "node:assert/strict";
import { test } from "node:test";
import { spread, tagged } from "./paper.js";

spread();
const { renderAnswer } = await import("../assets/lib/answer.js");
const { remarks } = await import("../assets/lib/notes.js");

/** @param {string | null} [meaning] */
function headings(meaning) {
  const d = /** @type {any} */ ({
    conclusion: { state: "ok", code: "UP", message: "It is up.", meaning },
    findings: [],
  });
  const view = { show: () => [], terminal: () => [], sources: () => [], lessons: () => ["A term."] };
  const asked = { slug: "uptime", input: "example.com", options: {} };
  const judge = { facts: () => ({}) };
  const nodes = renderAnswer(judge, view, { ok: true, status: 200, data: d }, asked, { at: null, list: [] });
  return nodes.flatMap((node) => tagged(node, "h2")).map(({ textContent }) => textContent);
}

test("what it means is the conclusion's meaning, and nothing without one", () => {
  assert.deepEqual(headings("Nothing is wrong."), ["What this means", "Background"]);
  for (const none of [null, undefined, ""]) assert.deepEqual(headings(none), ["Background"]);
});

/** @param {string} code @param {object} [more] */
const finding = (code, more) => ({
  code,
  severity: "warn",
  group: "safer",
  message: `${code}.`,
  remedy: null,
  ...more,
});

test("a finding that the conclusion states is not said again", () => {
  const shown = (/** @type {object} */ conclusion, /** @type {RegExp} */ elsewhere = /^$/) =>
    remarks(
      /** @type {any} */ ({ conclusion, findings: [finding("A"), finding("B", { remedy: "Mend it." })] }),
      elsewhere,
    ).map((node) => node.textContent.replace("!Warning: ", ""));
  assert.deepEqual(shown({ code: "UP", message: "Up." }), ["A.", "B. Mend it."]);
  assert.deepEqual(shown({ code: "A", message: "Up." }), ["B. Mend it."]);
  assert.deepEqual(shown({ code: "DOWN", message: "Down.", args: { reason: "B" } }), ["A."]);
  assert.deepEqual(shown({ code: "UP", message: "Up." }, /^B$/), ["A."]);
  assert.deepEqual(remarks(/** @type {any} */ ({})), []);
});

test("a mark has the colour of its finding's group", () => {
  const marks = ["broken", "safer", "note"].map(
    (group) => remarks(/** @type {any} */ ({ findings: [finding("A", { group, severity: "fail" })] }))[0],
  );
  assert.deepEqual(
    marks.map((node) => node.getAttribute("class")),
    ["notice bad", "notice warn", "notice info"],
  );
});

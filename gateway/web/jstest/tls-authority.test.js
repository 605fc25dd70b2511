// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, issue, older, revocation } from "./tls-answers.js";
import { spread, tagged } from "./paper.js";
import judge from "../assets/tools/ssl-checker/facts.js";

spread();
const { authority } = await import("../assets/tools/ssl-checker/authority.js");

/** @param {any} d */
const said = (d) => authority(d)?.textContent ?? "";

/** @param {number} n @param {object} [change] */
const records = (n, change) =>
  Array.from({ length: n }, () => ({
    usage: 3,
    selector: 1,
    matching: 1,
    data: "ab".repeat(32),
    matches: true,
    authenticated: true,
    ...change,
  }));

test("a good certificate says by what, and how current that is", () => {
  assert.match(said(answer()), /not revoked, CAA records.*not revoked.*\(CRL\).*c\.example\/e1\.crl.*Next update/);
  assert.match(said(answer()), /the present authority is permitted.*a\.example.*0 issue "authority\.example"/);
  assert.doesNotMatch(said(answer()), /TLSA record/);
});

test("a revoked one has its day and reason", () => {
  const d = answer({
    revocation: revocation({ status: "revoked", revokedAt: "2026-06-01T10:00:00Z", reason: "keyCompromise" }),
  });
  assert.match(said(d), /revoked.*Revoked on.*1 June 2026.*keyCompromise/);
  assert.equal(judge.facts(d).Revocation, "revoked");
});

for (const status of /** @type {const} */ (["unknown", "notChecked"])) {
  test(`why it is ${status} is said`, () => {
    const d = answer({ revocation: revocation({ status, source: null, url: null, reason: "It was out of date." }) });
    assert.match(said(d), /Why.*It was out of date\./);
    assert.doesNotMatch(said(d), /Revoked on|Checked with/);
  });
}

test("CAA that is not known is never anyone", () => {
  const unknown = { found: null, permitted: null, records: [] };
  const d = answer({ caa: unknown, issues: [issue("CAA_NOT_KNOWN", "info", "It is not known.")] });
  assert.match(said(d), /It is not known\./);
  assert.doesNotMatch(said(d), /any authority/);
  assert.doesNotMatch(said(answer({ caa: unknown })), /any authority/);
  assert.match(said(answer({ caa: { ...unknown, permitted: true } })), /any authority/);
  assert.match(
    said(answer({ caa: { found: "a.example", permitted: null, records: [] } })),
    /whether they permit the present authority is not known/,
  );
});

test("TLSA records say whether they match and whether they count", () => {
  const d = answer({ tlsa: [...records(1), ...records(1, { matches: false, authenticated: false })] });
  assert.match(said(d), /matches.*authenticated.*does not match.*not authenticated/);
  assert.equal(tagged(authority(d), "tr").length, 3);
});

test("many records are folded away", () => {
  const many = answer({
    tlsa: records(16, { data: "ab".repeat(1000) }),
    caa: { found: "a.example", permitted: true, records: Array(40).fill('0 issue "x.example"') },
  });
  const folds = tagged(authority(many), "details").filter((d) => d.attributes.get("class") === "more");
  assert.equal(folds.length, 2);
  assert.ok(said(many).length < 20000);
});

test("an answer of an earlier version has no such part", () => {
  const d = older();
  delete d.revocation;
  assert.equal(authority(d), null);
  assert.equal(judge.facts(d).Revocation, undefined);
});

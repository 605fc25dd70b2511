// @ts-check
// Where the chain of trust to a domain breaks, by the picture.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parts } from "../assets/tools/dns-delegation/links.js";

/** @typedef {import("../assets/tools/dns-delegation/links.js").Zone} Zone */

const key = (/** @type {number} */ keyTag) => ({ keyTag });
const ds = (/** @type {number} */ keyTag, matches = true) => ({ keyTag, matches });

/** @param {string} name @param {Partial<Record<keyof Zone, unknown>>} more */
const zone = (name, more = {}) =>
  /** @type {Zone} */ (
    /** @type {unknown} */ ({
      zone: name,
      parent: name === "." ? null : ".",
      ds: name === "." ? [] : [ds(1)],
      keys: [key(1), key(2)],
      dnssec: "secure",
      ...more,
    })
  );

/** @param {Zone} last @param {string} [code] of a finding about it that is a fault */
const states = (last, code) =>
  parts({
    zones: [zone("."), zone("com"), last],
    findings: code ? [{ code, severity: "fail", zone: last.zone }] : [],
  })
    .flatMap(({ ds: vouched, keys, signatures }) => [vouched, keys, signatures])
    .map((link) => link?.state ?? "none")
    .slice(3)
    .join(" ");

const above = "good good good ";

test("the line is green down to a domain that is signed", () => {
  assert.equal(states(zone("a.com")), `${above}good good good`);
});

test("it breaks at the very record that does not fit, and what is below is not judged", () => {
  for (const [last, code, want, text] of /** @type {[Zone, string, string, RegExp][]} */ ([
    [zone("a.com", { dnssec: "bogus", ds: [ds(7, false)] }), "DNSSEC_DS_KEY_MISSING", "bad off off", /key 7 not found/],
    [zone("a.com", { dnssec: "bogus" }), "DNSSEC_SIGNATURE_EXPIRED", "good good bad", /expired/],
    [zone("a.com"), "DNSSEC_SIGNATURE_MISSING", "good good bad", /missing/],
    [zone("a.com"), "DNSSEC_DENIAL_MISSING", "good good bad", /proof of absence/],
    [zone("a.com", { dnssec: "bogus", ds: [ds(7, false)], keys: [] }), "DNSSEC_KEYS_MISSING", "bad off none", /key 7/],
  ])) {
    assert.equal(states(last, code), above + want, code);
    const links = parts({ zones: [last], findings: [{ code, severity: "fail", zone: last.zone }] })[0];
    const bad = [links.ds, links.keys, links.signatures].find((link) => link?.state === "bad");
    assert.match(bad?.text ?? "", text);
  }
});

test("it ends where nothing is signed", () => {
  assert.equal(states(zone("a.com", { dnssec: "insecure", ds: [], keys: [] })), `${above}open off none`);
  assert.equal(states(zone("a.com", { dnssec: "insecure", ds: [] })), `${above}open off off`);
  assert.equal(states(zone("a.com", { dnssec: "insecure", ds: [ds(1)] })), `${above}open off off`);
});

test("nothing is called good before it was judged", () => {
  const all = parts({ zones: [zone("com", { dnssec: "indeterminate" })], findings: [] })[0];
  assert.deepEqual([all.ds?.state, all.keys.state, all.signatures?.state], ["off", "off", "off"]);
});

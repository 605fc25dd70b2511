// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import judge from "../assets/tools/ssl-checker/facts.js";

// The parts of a page listen to it from the start.
Object.assign(globalThis, { document: { addEventListener() {} } });
const { default: view } = await import("../assets/tools/ssl-checker/view.js");

const locally = "UNABLE_TO_GET_ISSUER_CERT_LOCALLY";

/** @type {import("../assets/lib/view.js").Asked} */
const asked = { slug: "ssl-checker", input: "a.example", options: {} };

/** @param {string} code @param {...{code: string, severity: string}} issues @returns {any} */
const refused = (code, ...issues) => ({
  host: "a.example",
  port: 443,
  authorized: false,
  authorizationError: code,
  chainComplete: false,
  supportedProtocols: {},
  chain: [],
  certificate: {
    daysRemaining: 90,
    validFrom: "2026-01-01T00:00:00Z",
    validTo: "2027-01-01T00:00:00Z",
    issuer: "",
    subjectAltNames: { dns: [], ip: [] },
  },
  issues: issues.map((i) => ({ message: i.code, ...i })),
  findings: issues.map((i) => ({ ...i, message: i.code, remedy: `Mend ${i.code}.` })),
});

for (const code of ["KEY_TOO_LONG", "CHAIN_NOT_READ", "CHAIN_TOO_COSTLY"]) {
  test(`a chain that was not verified for ${code} is not called refused, and has its own remedy`, () => {
    const d = refused(locally, { code: locally, severity: "info" }, { code, severity: "info" });
    const words = [view.meaning(d, asked)].flat().join(" ");
    assert.match(words, new RegExp(`was not verified here\\. Mend ${code}\\.`));
    assert.doesNotMatch(words, /refused/);
    assert.equal(judge.facts(d).Trusted, "not verified");
  });
}

for (const code of [locally, "CA_MD_TOO_WEAK", "INVALID_PURPOSE"]) {
  test(`one that is refused for ${code} says so, with the remedy of the finding`, () => {
    const d = refused(code, { code, severity: "fail" });
    assert.match([view.meaning(d, asked)].flat().join(" "), new RegExp(`is refused\\. Mend ${code}\\.`));
    assert.match(String(judge.facts(d).Trusted), /^no$/);
  });
}

test("an expired certificate of a chain that was not verified is refused", () => {
  const d = refused(
    "CERT_HAS_EXPIRED",
    { code: "CERT_HAS_EXPIRED", severity: "fail" },
    { code: "CHAIN_NOT_READ", severity: "info" },
  );
  assert.match([view.meaning(d, asked)].flat().join(" "), /is refused\. Mend CERT_HAS_EXPIRED\./);
});

// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import judge from "../assets/tools/ssl-checker/facts.js";

const locally = "UNABLE_TO_GET_ISSUER_CERT_LOCALLY";

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
  test(`a chain that was not verified for ${code} is not called refused`, () => {
    const d = refused(locally, { code: locally, severity: "info" }, { code, severity: "info" });
    assert.equal(judge.facts(d).Trusted, "not verified");
  });
}

for (const code of [locally, "CA_MD_TOO_WEAK", "INVALID_PURPOSE"]) {
  test(`one that is refused for ${code} is not trusted`, () => {
    const d = refused(code, { code, severity: "fail" });
    assert.match(String(judge.facts(d).Trusted), /^no$/);
  });
}

test("an expired certificate of a chain that was not verified is refused", () => {
  const d = refused(
    "CERT_HAS_EXPIRED",
    { code: "CERT_HAS_EXPIRED", severity: "fail" },
    { code: "CHAIN_NOT_READ", severity: "info" },
  );
  assert.equal(judge.facts(d).Trusted, "no");
});

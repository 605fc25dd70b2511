// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import judge, { worstFirst } from "../assets/tools/ssl-checker/verdict.js";

// The parts of a page listen to it from the start.
Object.assign(globalThis, { document: { addEventListener() {} } });
const { default: view } = await import("../assets/tools/ssl-checker/view.js");

const locally = "UNABLE_TO_GET_ISSUER_CERT_LOCALLY";

/** @type {import("../assets/lib/view.js").Asked} */
const asked = { slug: "ssl-checker", input: "a.example", options: {} };

/** @param {boolean} chainComplete @param {...{code: string, message: string}} issues */
const refused = (chainComplete, ...issues) => ({
  host: "a.example", port: 443, authorized: false, authorizationError: locally, chainComplete, supportedProtocols: {}, chain: [],
  certificate: { daysRemaining: 90, validFrom: "2026-01-01T00:00:00Z", validTo: "2027-01-01T00:00:00Z" },
  issues: issues.map((i) => ({ severity: "fail", ...i })),
});

for (const [code, message, remedy] of [
  ["KEY_TOO_LONG", "The chain has an RSA key of more than 8192 bits.", /2,048 to 4,096 bits/],
  ["CHAIN_NOT_READ", "The handshake was ended because of the certificates.", /usual sizes/],
]) {
  test(`a chain that was not verified for ${code} is told by its cause, with its own remedy`, () => {
    const d = refused(false, { code: locally, message: "The chain was not verified." }, { code: String(code), message: String(message) });
    const concerns = judge.concerns(d, asked);
    assert.equal(concerns.length, 1);
    assert.match(concerns[0].text, /^a\.example: the (chain has|handshake was)/);
    const words = [view.meaning(d, asked)].flat().join(" ");
    assert.match(words, /** @type {RegExp} */ (remedy));
    assert.doesNotMatch(words, /Install the whole chain|refused/);
  });
}

for (const [code, message, remedy] of [
  ["CA_MD_TOO_WEAK", "The chain is signed with SHA-1 or MD5, which clients refuse.", /refused\. .*SHA-256/],
  ["INVALID_PURPOSE", "The certificate is not for servers: its extendedKeyUsage lacks serverAuth.", /refused\. .*serverAuth/],
]) {
  test(`a chain that leads to a root and is refused for ${code} is not to be made whole`, () => {
    const d = { ...refused(true, { code: String(code), message: String(message) }), authorizationError: code };
    assert.equal(judge.concerns(d, asked).length, 1);
    const words = [view.meaning(d, asked)].flat().join(" ");
    assert.match(words, /** @type {RegExp} */ (remedy));
    assert.doesNotMatch(words, /whole chain/);
  });
}

test("a certificate for other hosts is told with its names", () => {
  const d = { ...refused(true, { code: "ERR_TLS_CERT_ALTNAME_INVALID", message: "The certificate is for b.example and 12 more, not for this host." }), authorizationError: "ERR_TLS_CERT_ALTNAME_INVALID" };
  assert.equal(judge.concerns(d, asked)[0].text, "The certificate of a.example is for b.example and 12 more, not for this host; browsers refuse the site.");
});

test("one whose issuer is unknown is", () => {
  const d = refused(false, { code: locally, message: "The chain ends in a certificate whose issuer is not known." });
  assert.match([view.meaning(d, asked)].flat().join(" "), /Install the whole chain/);
});

test("problems are told before warnings, and these before notes", () => {
  const issues = ["info", "fail", "warn", "fail"].map((severity, i) => ({ severity, code: String(i) }));
  assert.deepEqual(worstFirst(issues).map((i) => i.code), ["1", "3", "2", "0"]);
});

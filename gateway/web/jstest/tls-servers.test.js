// @ts-check
import assert from "node:assert/strict";
import test from "node:test";
import { answer, issue, modernSuites, neglected, versions } from "./tls-answers.js";
import { changesFor, configurations, pressing } from "../assets/tools/ssl-checker/servers.js";

const chainMissing = issue("UNABLE_TO_VERIFY_LEAF_SIGNATURE", "fail", "An intermediate certificate is missing.");
const old = [issue("DEPRECATED_PROTOCOL", "warn", "It accepts TLS 1.0.")];
const without13 = [issue("NO_TLS13", "info", "It lacks TLS 1.3.")];
const cbc = { protocol: "TLSv1.2", name: "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", strength: "weak", keyExchange: "ECDHE" };

for (const [name, change, want] of /** @type {[string, Record<string, any>, string[]][]} */ ([
  ["what is in order needs nothing", {}, []],
  ["every fault", { ...neglected(), issues: [...old, chainMissing] }, ["versions", "suites", "chain"]],
  ["an old version", { issues: old }, ["versions"]],
  ["no TLS 1.3", { issues: without13 }, ["versions"]],
  ["versions that could not be told", { supportedProtocols: versions(null, null, null, true, null) }, []],
  ["a weak suite of TLS 1.2", { cipherSuites: [...modernSuites, cbc] }, ["suites"]],
  [
    "a weak suite of TLS 1.0 alone goes with it",
    {
      supportedProtocols: versions(false, true, false, true, true),
      cipherSuites: [...modernSuites, { ...cbc, protocol: "TLSv1.0" }],
      issues: old,
    },
    ["versions"],
  ],
  [
    "but stays where TLS 1.2 is yet to be switched on",
    {
      supportedProtocols: versions(false, true, false, false, false),
      cipherSuites: [{ ...cbc, protocol: "TLSv1.0" }],
      issues: old,
    },
    ["versions", "suites"],
  ],
  [
    "an older service's word on the suite that was chosen",
    { cipherSuites: undefined, issues: [issue("NO_FORWARD_SECRECY", "warn", "It has none.")] },
    ["suites"],
  ],
  ["a short group", { issues: [issue("WEAK_DH", "warn", "It has 1,024 bits.")] }, ["suites"]],
  ["a missing intermediate", { issues: [chainMissing] }, ["chain"]],
  ["a needless root does no harm", { issues: [issue("CHAIN_HAS_ROOT", "info", "The root was sent.")] }, []],
  ["no web server: STARTTLS", { ...neglected(), starttls: "smtp", port: 25 }, []],
  ["no web server: mail over TLS", { ...neglected(), port: 993 }, []],
])) {
  test(`what to change: ${name}`, () => assert.deepEqual(changesFor(answer(change)), want));
}

for (const [name, change, want] of /** @type {[string, Record<string, any>, boolean][]} */ ([
  ["what is in order", {}, false],
  ["a weak suite beside strong ones", { cipherSuites: [...modernSuites, cbc] }, false],
  [
    "no TLS 1.3",
    { supportedProtocols: versions(false, false, false, true, false), issues: [issue("NO_TLS13", "info", "No.")] },
    false,
  ],
  ["certificates out of order", { issues: [issue("CHAIN_NOT_IN_ORDER", "info", "They are not.")] }, false],
  ["an insecure suite", { issues: [issue("RC4_CIPHER", "fail", "It accepts RC4.")] }, true],
  ["an old version", { issues: old }, true],
  ["no forward secrecy in what was chosen", { issues: [issue("NO_FORWARD_SECRECY", "warn", "None.")] }, true],
  ["a short group", { issues: [issue("WEAK_DH", "warn", "It has 1,024 bits.")] }, true],
  ["a missing intermediate", { issues: [chainMissing] }, true],
])) {
  test(`whether a change presses: ${name}`, () => assert.equal(pressing(answer(change)), want));
}

test("the lines for one change are those alone", () => {
  assert.deepEqual(configurations(["versions"]), [
    ["nginx", "ssl_protocols TLSv1.2 TLSv1.3;"],
    ["Apache", "SSLProtocol -all +TLSv1.2 +TLSv1.3"],
    ["Caddy", "tls {\n\tprotocols tls1.2 tls1.3\n}"],
  ]);
  assert.deepEqual(configurations(["chain"]), [
    ["nginx", "ssl_certificate /etc/ssl/site/fullchain.pem;"],
    ["Apache", "SSLCertificateFile /etc/ssl/site/fullchain.pem"],
    ["Caddy", "tls /etc/ssl/site/fullchain.pem /etc/ssl/site/key.pem"],
  ]);
});

test("Caddy's are one directive", () => {
  assert.match(
    new Map(configurations(["versions", "suites", "chain"])).get("Caddy") ?? "",
    /^tls \S+fullchain\.pem \S+key\.pem \{\n\tprotocols tls1\.2 tls1\.3\n\tciphers (?:TLS_ECDHE_\w+ ?){6}\n\}$/,
  );
});

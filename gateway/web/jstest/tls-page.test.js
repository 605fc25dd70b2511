// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, certificate, endpoint, issue, modernSuites, neglected, older, versions } from "./tls-answers.js";
import { spread, tagged } from "./paper.js";
import judge from "../assets/tools/ssl-checker/facts.js";

spread();
const { default: view } = await import("../assets/tools/ssl-checker/view.js");
const { matrix } = await import("../assets/tools/ssl-checker/matrix.js");
const { endpoints } = await import("../assets/tools/ssl-checker/endpoints.js");
const { others } = await import("../assets/tools/ssl-checker/others.js");
const { advice } = await import("../assets/tools/ssl-checker/advice.js");

/** @type {import("../assets/lib/view.js").Asked} */
const asked = { slug: "ssl-checker", input: "a.example", options: {} };

/** The rows of the matrix, its places in words. @param {any} d */
const rows = (d) =>
  tagged(matrix(d), "tr").map((row) =>
    row.children.map((/** @type {any} */ cell) => cell.children.map(words).join("")),
  );

/** What is said without the sign. @param {any} node @returns {string} */
function words(node) {
  if (!node.children) return node.textContent;
  return node.attributes.has("aria-hidden") ? "" : node.children.map(words).join("");
}

/** @param {any} d */
const said = (d) => [matrix(d), endpoints(d), advice(d)].map((part) => part?.textContent ?? "").join(" ");

const headings = ["Cipher suite", "SSL 3.0", "TLS 1.0", "TLS 1.1", "TLS 1.2", "TLS 1.3"];

for (const [name, make] of Object.entries({ answer, neglected, older })) {
  test(`${name}: every part is drawn, and every cell of a matrix has its headers`, () => {
    const d = make();
    const parts = view.show(d, asked).filter((part) => part !== null);
    assert.ok(parts.length >= 5);
    for (const table of parts.flatMap((part) => tagged(part, "table"))) {
      const heads = tagged(table, "th");
      assert.ok(heads.every((/** @type {any} */ th) => ["col", "row"].includes(th.attributes.get("scope"))));
      const widths = new Set(tagged(table, "tr").map((/** @type {any} */ row) => row.children.length));
      assert.equal(widths.size, 1, "rows of several widths");
    }
    assert.equal(view.terminal(asked, d).length, 3);
  });
}

test("the matrix has a row for each suite in the server's order, and one for the versions", () => {
  assert.deepEqual(rows(neglected()), [
    headings,
    ["The version itself", "accepted", "accepted", "accepted", "accepted", "refused"],
    ["TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", "refused", "weak", "weak", "weak", "refused"],
    ["TLS_DHE_RSA_WITH_AES_128_CBC_SHA", "refused", "weak", "weak", "weak", "refused"],
    ["TLS_RSA_WITH_AES_128_CBC_SHAno forward secrecy", "refused", "weak", "weak", "weak", "refused"],
    ["TLS_RSA_WITH_3DES_EDE_CBC_SHAno forward secrecy", "insecure", "insecure", "insecure", "insecure", "refused"],
    ["TLS_RSA_EXPORT_WITH_RC4_40_MD5no forward secrecy", "insecure", "refused", "refused", "refused", "refused"],
  ]);
});

test("what a check that was cut short did not see is not called refused", () => {
  const d = answer({
    complete: false,
    supportedProtocols: versions(null, false, true, true, true),
    cipherSuites: modernSuites.slice(0, 4),
  });
  assert.deepEqual(rows(d).slice(1, 3), [
    ["The version itself", "unknown", "refused", "accepted", "accepted", "accepted"],
    ["TLS_AES_256_GCM_SHA384", "unknown", "refused", "unknown", "unknown", "strong"],
  ]);
  assert.match(said(d), /cut short/);
  assert.doesNotMatch(said(answer()), /cut short/);
});

test("a version that is taken without a suite that was told is not known, in a whole answer either", () => {
  const d = answer({ supportedProtocols: versions(false, false, true, true, true) });
  assert.deepEqual(rows(d)[2].slice(1), ["refused", "refused", "unknown", "refused", "strong"]);
});

test("forward secrecy and post-quantum key exchange are told in words", () => {
  assert.match(said(answer()), /Forward secrecywith all of them.*Post-quantum key exchangeready X25519MLKEM768/);
  assert.match(said(neglected()), /Forward secrecynot with 3 of them.*Post-quantum key exchangenot yet/);
  assert.match(
    said(answer({ groups: ["x25519"], complete: false })),
    /Post-quantum key exchangecould not be determined/,
  );
});

test("versions alone say why", () => {
  const mail = answer({ port: 25, starttls: "smtp", cipherSuites: [], groups: [], complete: true });
  assert.match(said(mail), /TLS 1\.3 offered.*STARTTLS port \(SMTP\) only the protocol versions/);
  assert.match(
    said(answer({ cipherSuites: [], groups: [], complete: false })),
    /Which cipher suites the server accepts could not be determined/,
  );
  assert.doesNotMatch(said(older()), /STARTTLS|could not be determined|SSL 3/);
});

test("addresses that agree say so, and those that do not are marked", () => {
  assert.match(said(answer()), /Both that answered give the same certificate, version and verdict/);
  const text = endpoints(neglected())?.textContent ?? "";
  assert.match(text, /They differ in verdict, certificate and version\. The rest of this page is about 2001:db8::10\./);
  assert.equal(text.match(/differs/g)?.length, 3, "the one of three that is not like the others");
  assert.equal(endpoints(answer({ endpoints: [endpoint()] })), null);
  assert.equal(endpoints(older()), null);
});

test("an address whose certificate was not verified is not called refused", () => {
  const locally = "UNABLE_TO_GET_ISSUER_CERT_LOCALLY";
  const dark = {
    authorized: false,
    authorizationError: locally,
    issues: [issue(locally, "info", "It was not verified."), issue("CHAIN_TOO_COSTLY", "info", "It is too costly.")],
  };
  const text =
    endpoints(answer({ endpoints: [endpoint(), endpoint({ address: "192.0.2.11", ...dark })] }))?.textContent ?? "";
  assert.match(text, /not verified/);
  assert.doesNotMatch(text, /refused/);
});

test("of two that differ both are marked", () => {
  const d = answer({ endpoints: [endpoint(), endpoint({ address: "2001:db8::10", family: 6, protocol: "TLSv1.2" })] });
  assert.match(endpoints(d)?.textContent ?? "", /differ in version\./);
  assert.equal(endpoints(d)?.textContent?.match(/differs/g)?.length, 2);
});

for (const [code, severity, want] of /** @type {[string, "fail" | "warn" | "info", RegExp][]} */ ([
  ["ENDPOINT_SKIPPED", "info", /not tried.*note Not today/],
  ["ENDPOINT_UNREACHABLE", "warn", /not reached.*warning Not today/],
  ["ENDPOINT_WITHOUT_TLS", "fail", /no TLS.*problem Not today/],
])) {
  test(`an address without a certificate says why, and is not compared: ${code}`, () => {
    const dark = {
      authorized: false,
      fingerprint256: null,
      protocol: null,
      issues: [issue(code, severity, "Not today.")],
    };
    const text =
      endpoints(answer({ endpoints: [endpoint(), endpoint({ address: "192.0.2.11", ...dark })] }))?.textContent ?? "";
    assert.match(text, want);
    assert.doesNotMatch(text, /differ|Both/);
  });
}

test("other certificates are drawn, and one for clients that name no host may be for another", () => {
  const other = (/** @type {string} */ kind, /** @type {string | null} */ code) => ({
    kind,
    authorized: code === null,
    authorizationError: code,
    certificate: certificate({ subject: `CN=${kind}.example` }),
  });
  const list = [
    other("rsa", "CERT_HAS_EXPIRED"),
    other("noSni", "ERR_TLS_CERT_ALTNAME_INVALID"),
    other("new-kind", null),
  ];
  const text = others(answer({ otherCertificates: list }))?.textContent ?? "";
  assert.match(
    text,
    /support only RSAVerdictrefused CERT_HAS_EXPIRED.*CN=rsa\.example.*send no host name \(SNI\)Verdictfor another/,
  );
  assert.match(text, /new-kindVerdicttrusted/);
  assert.equal(others(answer()), null);
});

/** A certificate of a chain. @param {string} name @param {string} issuer */
const link = (name, issuer) =>
  certificate({
    subject: `CN=${name}`,
    issuer: `CN=${issuer}`,
    fingerprint256: `${name}:${issuer}`,
    selfSigned: name === issuer,
    isCA: true,
  });

for (const [name, chain, chainComplete, want] of /** @type {[string, any[], boolean, string[]][]} */ ([
  ["whole", [link("I", "R")], true, ["a", "I", "+A trusted root"]],
  ["with its root", [link("I", "R"), link("R", "R")], true, ["a", "I", "R", "+A trusted root"]],
  [
    "with a foreign one",
    [link("I", "R"), link("F", "G")],
    true,
    ["a", "I", "+A trusted root", "F not part of the chain"],
  ],
  [
    "with a foreign one between",
    [link("F", "G"), link("I", "R")],
    true,
    ["a", "F not part of the chain", "I", "+A trusted root"],
  ],
  ["repeated", [link("I", "R"), link("I", "R")], true, ["a", "I", "+A trusted root", "I sent before"]],
  ["out of order", [link("R", "R"), link("I", "R")], true, ["a", "R", "I", "+Out of order: R"]],
  [
    "with two ways",
    [link("I", "R"), link("I", "S"), link("S", "T")],
    true,
    ["a", "I", "+A trusted root", "I", "S", "+A trusted root"],
  ],
  ["with the wrong intermediate", [link("J", "S")], false, ["a", "+Missing: I", "J"]],
  ["missing", [], false, ["a", "+Missing: I"]],
])) {
  test(`the chain: ${name}`, () => {
    const d = answer({ certificate: certificate({ subject: "CN=a", issuer: "CN=I" }), chain, chainComplete });
    const [list] = view.show(d, asked).flatMap((part) => (part ? tagged(part, "ol") : []));
    const told = list.children.map((/** @type {any} */ station) => {
      const note = tagged(station, "p")[0].children.map((/** @type {any} */ part) => part.textContent);
      const needless = note.includes("sent before") || note.includes("not part of the chain");
      const name = `${station.attributes.has("class") ? "+" : ""}${tagged(station, "h3")[0].textContent}`;
      return needless ? `${name} ${note[1]}` : name;
    });
    assert.deepEqual(told, want);
  });
}

test("what is compared with an earlier answer has the suites of a whole check alone", () => {
  assert.deepEqual(
    judge.facts(neglected())["Cipher suites"]?.[3],
    "TLS_RSA_WITH_3DES_EDE_CBC_SHA: insecure in TLS 1.2, insecure in TLS 1.1, insecure in TLS 1.0, insecure in SSL 3.0",
  );
  assert.equal(judge.facts(answer({ complete: false }))["Cipher suites"], undefined);
  assert.equal(judge.facts(older())["Groups"], undefined);
});

test("there is advice where the findings call for it", () => {
  assert.equal(advice(answer()), null);
  const weak = {
    protocol: "TLSv1.2",
    name: "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
    strength: "weak",
    keyExchange: "ECDHE",
  };
  assert.match(
    advice(answer({ cipherSuites: [...modernSuites, weak] }))?.textContent ?? "",
    /^Suggestions.*the one weak cipher suite of 7\./,
  );
  assert.match(
    advice(neglected())?.textContent ?? "",
    /^What to change.*Mend SSL3\..*Mend DEPRECATED_PROTOCOL\..*Mend NO_TLS13\..*the 5 weak cipher suites of 5\./,
  );
});

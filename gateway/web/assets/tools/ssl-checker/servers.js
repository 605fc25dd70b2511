// @ts-check
// The lines that make web servers refuse weak versions and suites, and send the whole chain.
// jstest/tls-servers.run.test.js runs them on real servers.

import { suitesOf } from "./suites.js";

/** @typedef {import("./suites.js").SslChecker} SslChecker */

/** @typedef {"versions" | "suites" | "chain"} Change */

/**
 * ECDHE with AES-GCM or ChaCha20: what every client since about 2014 has. Finite-field DH is not among them, so a short
 * group ends too.
 */
const strong = ["AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305"].flatMap((cipher) => [
  `ECDHE-ECDSA-${cipher}`,
  `ECDHE-RSA-${cipher}`,
]);

/** The same by their names in Caddy. */
const caddySuites = ["AES_128_GCM_SHA256", "AES_256_GCM_SHA384", "CHACHA20_POLY1305_SHA256"].flatMap((cipher) => [
  `TLS_ECDHE_ECDSA_WITH_${cipher}`,
  `TLS_ECDHE_RSA_WITH_${cipher}`,
]);

/** An example: the folder of the certificates on the visitor's server is not known. */
const folder = "/etc/ssl/site";

/** The issues that the lines for versions repair. */
const versionFaults = ["SSL3", "DEPRECATED_PROTOCOL", "NO_TLS13"];

/** The issues that a file with the right certificates repairs. A needless root does no harm. */
const chainFaults = [
  "INCOMPLETE_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "CHAIN_NOT_IN_ORDER",
  "CHAIN_REPEATED",
  "CHAIN_FOREIGN",
];

/** The issues that the lines for suites repair. */
const suiteFaults = [
  "NULL_CIPHER",
  "ANONYMOUS_CIPHER",
  "EXPORT_CIPHER",
  "DES_CIPHER",
  "RC4_CIPHER",
  "3DES_CIPHER",
  "NO_FORWARD_SECRECY",
  "WEAK_DH",
];

/** The ports of mail servers, which none of the three is. */
const mailPorts = [25, 110, 143, 465, 587, 993, 995];

/**
 * The changes to a web server; none where the answer is not of one.
 * @param {SslChecker} d
 * @returns {Change[]}
 */
export function changesFor(d) {
  if (d.starttls || mailPorts.includes(d.port)) return [];
  const found = (/** @type {string[]} */ codes) => d.issues.some((i) => codes.includes(i.code));
  const changes = /** @type {[Change, boolean][]} */ ([
    ["versions", found(versionFaults)],
    ["suites", found(suiteFaults) || remaining(d).some((suite) => suite.strength !== "strong")],
    ["chain", found(chainFaults)],
  ]);
  return changes.filter(([, wanted]) => wanted).map(([change]) => change);
}

/** Whether the lines repair more than notes. @param {SslChecker} d */
export const pressing = ({ issues }) =>
  issues.some((i) => i.severity !== "info" && [...versionFaults, ...suiteFaults, ...chainFaults].includes(i.code));

/**
 * The suites that remain without the retired versions: TLS 1.2's, or all where it is not accepted.
 * @param {SslChecker} d
 */
const remaining = (d) =>
  d.supportedProtocols["TLSv1.2"] ? suitesOf(d).filter((suite) => suite.protocol === "TLSv1.2") : suitesOf(d);

/** @type {Record<Change, {nginx: string, Apache: string, Caddy: string}>} */
const lines = {
  versions: {
    nginx: "ssl_protocols TLSv1.2 TLSv1.3;",
    Apache: "SSLProtocol -all +TLSv1.2 +TLSv1.3",
    Caddy: "protocols tls1.2 tls1.3",
  },
  suites: {
    nginx: `ssl_ciphers ${strong.join(":")};`,
    Apache: `SSLCipherSuite ${strong.join(":")}`,
    Caddy: `ciphers ${caddySuites.join(" ")}`,
  },
  chain: {
    nginx: `ssl_certificate ${folder}/fullchain.pem;`,
    Apache: `SSLCertificateFile ${folder}/fullchain.pem`,
    Caddy: `tls ${folder}/fullchain.pem ${folder}/key.pem`,
  },
};

/**
 * Lines as they stand in a configuration; Caddy's are one directive of the site.
 * @param {Change[]} changes
 * @returns {[string, string][]} the server, and its text
 */
export function configurations(changes) {
  const of = (/** @type {"nginx" | "Apache"} */ server) => changes.map((change) => lines[change][server]).join("\n");
  const inside = changes.filter((change) => change !== "chain").map((change) => `\t${lines[change].Caddy}`);
  const directive = changes.includes("chain") ? lines.chain.Caddy : "tls";
  return [
    ["nginx", of("nginx")],
    ["Apache", of("Apache")],
    ["Caddy", inside.length > 0 ? [`${directive} {`, ...inside, "}"].join("\n") : directive],
  ];
}

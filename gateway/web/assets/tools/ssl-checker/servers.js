// @ts-check
// The lines that make web servers refuse what an answer found them to take, and send the chain whole.
// jstest/tls-servers.run.test.js holds them against real servers.

import { oldOnes, suitesOf } from "./suites.js";

/** @typedef {"versions" | "suites" | "chain"} Change */

/**
 * ECDHE with AES-GCM or ChaCha20: what every client since about 2014 has. Finite-field DH is not among them, so a short
 * group ends too.
 */
const strong = ["AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305"].flatMap((cipher) => [
  `ECDHE-ECDSA-${cipher}`,
  `ECDHE-RSA-${cipher}`,
]);

/** The same by the names that Caddy knows them by. */
const caddySuites = ["AES_128_GCM_SHA256", "AES_256_GCM_SHA384", "CHACHA20_POLY1305_SHA256"].flatMap((cipher) => [
  `TLS_ECDHE_ECDSA_WITH_${cipher}`,
  `TLS_ECDHE_RSA_WITH_${cipher}`,
]);

/** Where an answer's certificates are on the visitor's own server is not known. */
const folder = "/etc/ssl/site";

/** The findings that a file with the right certificates ends. A needless root does no harm. */
const chainFaults = [
  "INCOMPLETE_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "CHAIN_NOT_IN_ORDER",
  "CHAIN_REPEATED",
  "CHAIN_FOREIGN",
];

/** What is said of the suite and the group that were chosen; an older service lists no others. */
const suiteFaults = ["WEAK_CIPHER", "NO_FORWARD_SECRECY", "WEAK_DH"];

/** Ports of servers for mail, which none of the three is. */
const mailPorts = [25, 110, 143, 465, 587, 993, 995];

/**
 * What is to be changed in a web server; nothing where the answer is not of one.
 * @param {any} d
 * @returns {Change[]}
 */
export function changesFor(d) {
  if (d.starttls || mailPorts.includes(d.port)) return [];
  const found = (/** @type {string[]} */ codes) => d.issues.some((/** @type {any} */ i) => codes.includes(i.code));
  const changes = /** @type {[Change, boolean][]} */ ([
    ["versions", oldOnes(d).length > 0 || d.supportedProtocols["TLSv1.3"] === false],
    ["suites", found(suiteFaults) || remaining(d).some((suite) => suite.strength !== "strong")],
    ["chain", found(chainFaults)],
  ]);
  return changes.filter(([, wanted]) => wanted).map(([change]) => change);
}

/**
 * Whether something is wrong, and not merely less strict than it could be.
 * @param {any} d
 */
export const pressing = (d) =>
  oldOnes(d).length > 0 ||
  suitesOf(d).some((suite) => suite.strength === "insecure") ||
  d.issues.some((/** @type {any} */ i) => i.severity !== "info" && [...suiteFaults, ...chainFaults].includes(i.code));

/**
 * The suites that stay when the retired versions go: TLS 1.2's, or all where it is yet to be switched on. @param {any}
 * d
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

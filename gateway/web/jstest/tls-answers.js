// @ts-check
// Answers of ssl-checker in the contract's shape: one that is well, and what a case changes of it.

/** @typedef {import("../assets/tools/ssl-checker/suites.js").Suite} Suite */

/** @type {Suite[]} */
export const modernSuites = [
  ...["TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_128_GCM_SHA256"].map((name) =>
    suite("TLSv1.3", name, "strong", "(EC)DHE"),
  ),
  ...[
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
  ].map((name) => suite("TLSv1.2", name, "strong", "ECDHE")),
];

/** What an old server takes besides, in each version that it has. @type {Suite[]} */
const oldSuites = [
  ...["TLSv1.2", "TLSv1.1", "TLSv1.0"].flatMap((version) => [
    suite(version, "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", "weak", "ECDHE"),
    suite(version, "TLS_DHE_RSA_WITH_AES_128_CBC_SHA", "weak", "DHE"),
    suite(version, "TLS_RSA_WITH_AES_128_CBC_SHA", "weak", "RSA"),
    suite(version, "TLS_RSA_WITH_3DES_EDE_CBC_SHA", "insecure", "RSA"),
  ]),
  suite("SSLv3", "TLS_RSA_WITH_3DES_EDE_CBC_SHA", "insecure", "RSA"),
  suite("SSLv3", "TLS_RSA_EXPORT_WITH_RC4_40_MD5", "insecure", "RSA"),
];

/**
 * @param {string} protocol
 * @param {string} name
 * @param {Suite["strength"]} strength
 * @param {string} keyExchange
 * @returns {Suite}
 */
function suite(protocol, name, strength, keyExchange) {
  return { protocol: /** @type {Suite["protocol"]} */ (protocol), name, strength, keyExchange };
}

/** @param {boolean | null} ssl3 @param {...(boolean | null)} tls 1.0 to 1.3 */
export const versions = (ssl3, ...tls) => ({
  SSLv3: ssl3,
  "TLSv1.0": tls[0],
  "TLSv1.1": tls[1],
  "TLSv1.2": tls[2],
  "TLSv1.3": tls[3],
});

/** @param {string} first two digits */
const fingerprint = (first) =>
  [first, ...("8C2E91A04F77D3B65E10C9F2483A6D5B07E1CC94A83F256071DB9E4CF018A3".match(/../g) ?? [])].join(":");

/** @param {number} days from now */
const moment = (days) => new Date(Date.now() + days * 86400e3).toISOString().replace(/\.\d+/, "");

const intermediate = {
  subject: "CN=Example Issuing CA E1,O=Example Trust,C=ZZ",
  issuer: "CN=Example Root R1,O=Example Trust,C=ZZ",
  serialNumber: "4E:01",
  fingerprint256: fingerprint("9D"),
  validFrom: moment(-900),
  validTo: moment(900),
  daysRemaining: 900,
  keyType: "ECDSA",
  keyBits: 256,
  signatureAlgorithm: "ecdsa-with-SHA256",
  selfSigned: false,
  isCA: true,
};

/** @param {object} [change] */
export const certificate = (change) => ({
  subject: "CN=a.example",
  issuer: intermediate.subject,
  serialNumber: "03:A1:7F:22",
  fingerprint256: fingerprint("5B"),
  validFrom: moment(-31),
  validTo: moment(59.5),
  daysRemaining: 59,
  subjectAltNames: { dns: ["a.example", "www.a.example"], ip: [] },
  keyType: "ECDSA",
  keyBits: 256,
  signatureAlgorithm: "ecdsa-with-SHA256",
  selfSigned: false,
  isCA: false,
  validationLevel: "DV",
  ocspUrls: [],
  crlUrls: ["http://c.example/e1.crl"],
  mustStaple: false,
  ...change,
});

/** @param {object} [change] */
export const endpoint = (change) => ({
  address: "192.0.2.10",
  family: 4,
  authorized: true,
  authorizationError: null,
  fingerprint256: certificate().fingerprint256,
  protocol: "TLSv1.3",
  issues: [],
  ...change,
});

/** @param {object} [change] */
export const revocation = (change) => ({
  status: "good",
  source: "crl",
  url: "http://c.example/e1.crl",
  producedAt: moment(-1),
  nextUpdate: moment(6),
  revokedAt: null,
  reason: null,
  ...change,
});

/**
 * An answer in which all is well, with what a case changes of it.
 * @param {Record<string, any>} [change]
 * @returns {any}
 */
export const answer = (change) =>
  withFindings({
    host: "a.example",
    port: 443,
    address: "192.0.2.10",
    authorized: true,
    authorizationError: null,
    issues: [],
    protocol: "TLSv1.3",
    cipher: { name: "TLS_AES_256_GCM_SHA384", standardName: "TLS_AES_256_GCM_SHA384", bits: 256 },
    keyExchange: "X25519MLKEM768",
    alpn: "h2",
    supportedProtocols: versions(false, false, false, true, true),
    starttls: null,
    certificate: certificate(),
    chain: [intermediate],
    endpoints: [endpoint(), endpoint({ address: "2001:db8::10", family: 6 })],
    cipherSuites: modernSuites,
    groups: ["X25519MLKEM768", "x25519", "secp256r1"],
    complete: true,
    trustStore: { source: "Mozilla's roots", date: "2026-05-01", roots: 142 },
    hostnameMatches: true,
    chainComplete: true,
    ocspStapling: { present: false, status: null },
    revocation: revocation(),
    caa: { found: "a.example", permitted: true, records: ['0 issue "authority.example"'] },
    tlsa: [],
    scts: { count: 2, sources: ["certificate"] },
    handshakeMs: 41.2,
    ...change,
  });

/** @param {any} d an answer without findings: it gets one for each issue */
const withFindings = (d) => ({
  ...d,
  findings: d.issues.map((/** @type {any} */ i) => ({ ...i, remedy: `Mend ${i.code}.`, subject: null })),
});

/** @param {string} code @param {"fail" | "warn" | "info"} severity @param {string} message */
export const issue = (code, severity, message) => ({ code, severity, message });

const expired = issue("CERT_HAS_EXPIRED", "fail", "The certificate, or one of its chain, has expired.");

/**
 * A server of long ago at one of three addresses: an expired certificate for another name, every old version, and
 * suites of every strength.
 */
export const neglected = () =>
  answer({
    address: "2001:db8::10",
    authorized: false,
    authorizationError: "CERT_HAS_EXPIRED",
    hostnameMatches: true,
    chainComplete: true,
    certificate: certificate({
      fingerprint256: fingerprint("E1"),
      validFrom: moment(-400),
      validTo: moment(-10.5),
      daysRemaining: -11,
      keyType: "RSA",
      keyBits: 2048,
    }),
    issues: [
      expired,
      issue("SSL3", "fail", "The server still accepts SSL 3.0."),
      issue("DEPRECATED_PROTOCOL", "warn", "The server still accepts TLS 1.0 and TLS 1.1."),
      issue("NO_TLS13", "info", "The server does not support TLS 1.3."),
      issue("3DES_CIPHER", "fail", "The server accepts cipher suites with 3DES."),
    ],
    protocol: "TLSv1.2",
    cipher: { name: "ECDHE-RSA-AES256-SHA", standardName: "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", bits: 256 },
    keyExchange: "secp256r1",
    alpn: null,
    supportedProtocols: versions(true, true, true, true, false),
    cipherSuites: oldSuites,
    groups: ["secp256r1", "ffdhe2048"],
    scts: { count: 0, sources: [] },
    endpoints: [
      endpoint({
        address: "2001:db8::10",
        family: 6,
        authorized: false,
        authorizationError: "CERT_HAS_EXPIRED",
        fingerprint256: fingerprint("E1"),
        protocol: "TLSv1.2",
        issues: [expired],
      }),
      endpoint(),
      endpoint({ address: "192.0.2.11" }),
    ],
  });

/** As an older service reported it. */
export function older() {
  const {
    endpoints: _e,
    cipherSuites: _c,
    groups: _g,
    complete: _d,
    trustStore: _t,
    supportedProtocols: { SSLv3: _s, ...supportedProtocols },
    ...rest
  } = answer();
  return { ...rest, supportedProtocols };
}

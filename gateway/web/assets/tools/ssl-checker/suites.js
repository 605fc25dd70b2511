// @ts-check
// What a server accepts: versions, cipher suites and groups.

/** @typedef {import("api").components["schemas"]["SslChecker"]} SslChecker */
/** @typedef {import("api").components["schemas"]["SslProtocol"]} Version */
/** @typedef {SslChecker["cipherSuites"][number]} Suite one of a version that accepts it */
/** @typedef {Suite["strength"]} Strength */
/**
 * @typedef {{name: string, keyExchange: string, at: Map<Version, Strength>}} Row a suite with the versions that accept
 *   it
 */

/** @type {Version[]} */
const oldestFirst = ["SSLv3", "TLSv1.0", "TLSv1.1", "TLSv1.2", "TLSv1.3"];

/** The versions that were tested, oldest first. @param {SslChecker} d */
export const versionsOf = (d) => oldestFirst.filter((version) => version in d.supportedProtocols);

/** @param {Version} version */
export const versionName = (version) => (version === "SSLv3" ? "SSL 3.0" : version.replace("v", " "));

/** Whether a version was retired (RFC 7568, RFC 8996). @param {Version} version */
export const retired = (version) => version < "TLSv1.2";

/** @param {SslChecker} d */
export const suitesOf = (d) => d.cipherSuites ?? [];

/** @param {{keyExchange: string}} suite an ephemeral key exchange, whatever it is signed with */
export const forwardSecret = ({ keyExchange }) => /DHE/.test(keyExchange);

/**
 * A row for each suite, in the order in which they came.
 * @param {Suite[]} suites
 * @returns {Row[]}
 */
export function rowsOf(suites) {
  const rows = /** @type {Map<string, Row>} */ (new Map());
  for (const { protocol, name, strength, keyExchange } of suites) {
    const row = rows.get(name) ?? { name, keyExchange, at: new Map() };
    rows.set(name, row);
    row.at.set(protocol, strength);
  }
  return [...rows.values()];
}

/** The groups that resist quantum computers (ML-KEM, FIPS 203). @param {string[]} groups */
export const postQuantum = (groups) => groups.filter((group) => /MLKEM/i.test(group));

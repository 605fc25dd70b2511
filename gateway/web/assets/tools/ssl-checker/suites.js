// @ts-check
// What a server takes, as an answer tells it: versions, cipher suites and groups. An answer of an older service has
// versions alone.

/** @typedef {"strong" | "weak" | "insecure"} Strength */
/**
 * @typedef {{protocol: string, name: string, strength: Strength, keyExchange: string}} Suite one of a version that
 *   takes it
 */
/**
 * @typedef {{name: string, keyExchange: string, at: Map<string, Strength>}} Row a suite with the versions that take it
 */

const oldestFirst = ["SSLv3", "TLSv1.0", "TLSv1.1", "TLSv1.2", "TLSv1.3"];

/** Those that were asked for, oldest first. @param {any} d @returns {string[]} */
export const versionsOf = (d) => oldestFirst.filter((version) => version in d.supportedProtocols);

/** @param {string} version */
export const versionName = (version) => (version === "SSLv3" ? "SSL 3.0" : version.replace("v", " "));

/** Whether a version was retired (RFC 7568, RFC 8996). @param {string} version */
export const retired = (version) => version < "TLSv1.2";

/** The retired versions that a server takes. @param {any} d */
export const oldOnes = (d) => versionsOf(d).filter((version) => retired(version) && d.supportedProtocols[version]);

/** @param {any} d @returns {Suite[]} */
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

/** The groups whose keys a quantum computer could not find (ML-KEM, FIPS 203). @param {string[]} groups */
export const postQuantum = (groups) => groups.filter((group) => /MLKEM/i.test(group));

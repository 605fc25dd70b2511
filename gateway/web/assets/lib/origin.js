// @ts-check
// Who announces an address, in words. Verdicts need no more of a network than this.

/** @type {Record<string, string>} */
const registries = {
  ripencc: "RIPE NCC (Europe, Middle East, Central Asia)",
  arin: "ARIN (North America)",
  apnic: "APNIC (Asia-Pacific)",
  lacnic: "LACNIC (Latin America, Caribbean)",
  afrinic: "AFRINIC (Africa)",
};

/**
 * @param {string | null} code as the ASN service writes it
 * @returns {string | null}
 */
export function registryName(code) {
  return code && (registries[code] ?? code);
}

/**
 * @param {{asn: number, name: string | null}} o
 * @returns {string} "AS15169 (GOOGLE - Google LLC, US)"
 */
export function originWords(o) {
  return o.name ? `AS${o.asn} (${o.name})` : `AS${o.asn}`;
}

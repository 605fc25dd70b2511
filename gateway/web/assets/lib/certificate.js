// @ts-check
// How long clients accept a certificate.

/** @typedef {{validTo: string, daysRemaining: number, effectiveEnd?: string | null}} Certificate */

/**
 * The earliest end on the path that is used, and the whole days until then.
 * @param {Certificate} certificate
 */
export function endOf({ validTo, daysRemaining, effectiveEnd }) {
  if (!effectiveEnd || Date.parse(effectiveEnd) === Date.parse(validTo)) return { end: validTo, days: daysRemaining };
  return { end: effectiveEnd, days: Math.floor((Date.parse(effectiveEnd) - Date.now()) / 86_400_000) };
}

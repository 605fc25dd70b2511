// @ts-check
// What the chain of trust to a domain consists of, from the root down, and where it breaks: the parent's DS record
// names a key of the zone, and the keys (DNSKEY) sign what the zone has (RRSIG).

import { plural } from "../../lib/format.js";

/** @typedef {import("./facts.js").DnsDelegation} DnsDelegation */
/** @typedef {DnsDelegation["zones"][number]} Zone */
/** @typedef {{code: string, severity: string, zone?: string | null}} Found a finding, as far as the chain shows it */
/** @typedef {{zones: Zone[], findings: Found[]}} Chain */
/**
 * @typedef {"good" | "bad" | "open" | "off"} State open: nothing is signed from here on; off: below that, below a
 *   break, or not judged yet
 */
/** @typedef {{state: State, text: string}} Link */
/** @typedef {{zone: Zone, ds: Link | null, keys: Link, signatures: Link | null}} Part ds is null for the root */

/** What is wrong with signatures, by the code of the finding. @type {Record<string, string>} */
const faults = {
  DNSSEC_SIGNATURE_EXPIRED: "expired",
  DNSSEC_SIGNATURE_NOT_YET_VALID: "not valid yet",
  DNSSEC_SIGNATURE_MISSING: "missing",
  DNSSEC_DENIAL_MISSING: "lack a proof of absence",
  DNSSEC_DENIAL_INCOMPLETE: "lack a proof of absence",
  DNSSEC_WILDCARD_UNPROVEN: "lack a proof of absence",
};

/** The parts of a chain. @param {Chain} d @returns {Part[]} */
export function parts(d) {
  let holds = true;
  /** A link below a break is not judged. @param {Link} link @returns {Link} */
  const next = (link) => {
    const shown = holds ? link : /** @type {Link} */ ({ ...link, state: "off" });
    holds = shown.state === "good";
    return shown;
  };
  return d.zones.map((zone) => {
    const [ds, keys] = [zone.parent === null ? null : next(dsOf(zone)), next(keysOf(zone))];
    const signatures = signaturesOf(zone, d);
    return { zone, ds, keys, signatures: signatures && next(signatures) };
  });
}

/** How far a zone's own links can be taken for good. @param {Zone} z @returns {State} */
const judged = ({ dnssec }) => (dnssec === "secure" || dnssec === "bogus" ? "good" : "off");

/** What the zone above says of a zone's keys. @param {Zone} z @returns {Link} */
function dsOf(z) {
  const list = (/** @type {Zone["ds"]} */ some) => [...new Set(some.map((ds) => ds.keyTag))].join(", ");
  const matching = z.ds.filter((ds) => ds.matches);
  if (z.ds.length === 0) {
    if (z.dnssec === "bogus") return { state: "bad", text: "No DS record, and no proof of that" };
    return { state: z.dnssec === "insecure" ? "open" : "off", text: "No DS record: signing ends here" };
  }
  if (z.dnssec === "insecure") return { state: "open", text: "DS record of no usable algorithm" };
  if (matching.length > 0) return { state: judged(z), text: `DS record vouches for key ${list(matching)}` };
  if (z.dnssec === "bogus") return { state: "bad", text: `DS record: key ${list(z.ds)} not found` };
  return { state: "off", text: `DS record of key ${list(z.ds)}` };
}

/** @param {Zone} z @returns {Link} */
function keysOf(z) {
  return z.keys.length > 0
    ? { state: judged(z), text: `${plural(z.keys.length, "key")} (DNSKEY)` }
    : { state: "off", text: "No keys: not signed" };
}

/** @param {Zone} z @param {Chain} d @returns {Link | null} */
function signaturesOf(z, { findings }) {
  if (z.keys.length === 0) return null;
  const fault = findings.find((f) => f.zone === z.zone && f.severity === "fail" && f.code.startsWith("DNSSEC_"));
  if (fault) return { state: "bad", text: `Signatures (RRSIG) ${faults[fault.code] ?? "do not validate"}` };
  const state = judged(z);
  return { state, text: `Signatures (RRSIG) ${state === "good" ? "valid" : "not checked"}` };
}

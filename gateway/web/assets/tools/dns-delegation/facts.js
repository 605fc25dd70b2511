// @ts-check
// The way to a domain: what is compared with an earlier run.

import { delegationWords, dnssecWords, zoneName } from "./words.js";

/** @typedef {import("api").components["schemas"]["DnsDelegation"]} DnsDelegation */

/** @type {import("../../lib/view.js").Judge<DnsDelegation>} */
export default {
  facts: (d) => ({
    Delegation: delegationWords[d.delegation],
    DNSSEC: dnssecWords[d.dnssec],
    ...Object.fromEntries(
      d.zones.filter((z) => !z.shared).map((z) => [`Name servers of ${zoneName(z.zone)}`, z.childNs]),
    ),
  }),
};

// @ts-check
// A DMARC record in words: the policy that receivers apply, and which other domains accept its reports.

/**
 * The policy that receivers apply: one step milder in test mode.
 * @param {{policy: string | null, testMode: boolean}} dmarc
 */
export function applied({ policy, testMode }) {
  if (!testMode || policy === null) return policy;
  return policy === "reject" ? "quarantine" : "none";
}

/** @param {{policy: string | null, testMode: boolean}} dmarc */
export function policyWords(dmarc) {
  const now = applied(dmarc);
  return now === dmarc.policy ? dmarc.policy : `${dmarc.policy}, in test mode: receivers apply ${now}`;
}

/**
 * Whether each of the other domains accepts the reports.
 * @param {{reportDestinations?: {domain: string, authorized: boolean | null}[]}} dmarc
 */
export function takers({ reportDestinations = [] }) {
  return reportDestinations.map(({ domain, authorized }) => {
    if (authorized === null) return `not known whether ${domain} accepts the reports`;
    return `${domain} ${authorized ? "accepts" : "does not accept"} the reports`;
  });
}

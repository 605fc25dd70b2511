// @ts-check
// A bot challenge in place of a site's own answer.

/** @typedef {{vendor: string} | null | undefined} Challenge */

/** @param {Challenge} challenge @returns {string} a sentence, or nothing */
export function challengeWords(challenge) {
  return challenge
    ? `${challenge.vendor} asks visitors to prove that they are human, which this service cannot do. The site ` +
        "itself may be fine."
    : "";
}

/** @param {Challenge} challenge @returns {string} what the site's owner can do about it, or nothing */
export function challengeAdvice(challenge) {
  return challenge
    ? `What was seen here is ${challenge.vendor}'s answer, not the site's. Open the site in a browser to see ` +
        `whether it works. Its operator can let this service through with a rule in ${challenge.vendor}.`
    : "";
}

// @ts-check
// A bot challenge in place of a site's own answer.

/** @typedef {{vendor: string} | null | undefined} Challenge */

/** @param {Challenge} challenge @returns {string} a sentence, or nothing */
export function challengeWords(challenge) {
  return challenge ? `${challenge.vendor} asks visitors to prove that they are people, which this service cannot do. The site itself may be well.` : "";
}

/** @param {Challenge} challenge @returns {string} what the site's owner can do about it, or nothing */
export function challengeAdvice(challenge) {
  return challenge ? `What was seen here is ${challenge.vendor}'s answer and not the site's. Open the site in a browser to see how it does. Whoever runs it can let this service through with a rule of ${challenge.vendor}.` : "";
}

// @ts-check
// What the zones and states of an answer are called.

/** The root has no name of its own. @param {string} zone */
export const zoneName = (zone) => (zone === "" || zone === "." ? "the root" : zone);

/** @type {Record<string, string>} */
export const delegationWords = { ok: "correct", warn: "with faults", fail: "broken" };

/** @type {Record<string, string>} */
export const dnssecWords = {
  secure: "signed and valid",
  insecure: "not signed",
  bogus: "fails validation",
  indeterminate: "not validated",
};

/** @type {Record<string, string>} */
export const transportWords = {
  answer: "answers",
  timeout: "no answer",
  refused: "refused",
  error: "unusable",
  skipped: "not asked",
};

/** The tone of each outcome of a query. @type {Record<string, import("../../lib/view.js").Tone | "off">} */
export const transportTones = { answer: "good", timeout: "warn", refused: "warn", error: "warn", skipped: "off" };

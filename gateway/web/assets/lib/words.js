// @ts-check
// Codes of the API in words.

/**
 * A code of a tool's own in small letters: "chain not in order".
 * @param {string} code
 * @returns {string}
 */
export const codeWords = (code) => code.replaceAll("_", " ").toLowerCase();

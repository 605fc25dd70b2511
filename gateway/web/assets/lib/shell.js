// @ts-check
// Commands for the visitor's own terminal. Every word that came from outside is quoted: a target must never become a
// command.

/**
 * Quotes a word for a POSIX shell, where it needs it.
 * @param {string} word
 * @returns {string}
 */
export function quote(word) {
  if (/^[A-Za-z0-9@%+=:,./_][A-Za-z0-9@%+=:,./_-]*$/.test(word)) return word;
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/**
 * A command line of words, each quoted where it needs it: sh`dig ${name} MX`.
 * @param {TemplateStringsArray} fixed
 * @param {...(string | number)} words
 * @returns {string}
 */
export function sh(fixed, ...words) {
  return fixed.reduce((line, part, i) => line + quote(String(words[i - 1])) + part);
}

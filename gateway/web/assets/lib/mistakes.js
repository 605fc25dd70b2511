// @ts-check
// Usual slips of the keyboard in the front page's field, each with one hint.

/** @typedef {{hint: string, instead?: string}} Mistake instead is what was meant, where that is clear */

/** @type {[RegExp, (found: RegExpExecArray) => Mistake | null][]} */
const slips = [
  [
    /^(https?)(?:\/\/|:\/(?!\/)|:(?![/\d])|;\/\/)\/*([^\s/].*)$/i,
    ([, scheme, rest]) => meant(`${scheme.toLowerCase()}://${rest}`),
  ],
  [/^[\p{L}\p{N}-]+(?:[.,][\p{L}\p{N}-]+)*,[\p{L}]{2,}$/u, ([text]) => meant(text.replaceAll(",", "."))],
  [/^\d{1,5}(?:\.\d{1,5}){1,4}$/, ([text]) => numbers(text.split("."))],
  [
    /^(?:https?:\/\/)?((?:[\w-]+\.)*localhost|[\w-]+\.(?:local|lan|internal|home\.arpa))(?::\d+)?(?:\/\S*)?$/i,
    ([, host]) => ({
      hint:
        `${host} exists only ${/localhost$/i.test(host) ? "on your own machine" : "in your own network"}; ` +
        "only public names can be checked from here.",
    }),
  ],
  [
    /^([0-9a-f.:]+)\/(\d{1,3})$/i,
    ([, address, length]) =>
      isWhole(address, length)
        ? null
        : { hint: "That is a whole network. We check one of its addresses:", instead: address },
  ],
];

/** @param {string} text @returns {Mistake} */
const meant = (text) => ({ hint: "Did you mean", instead: text });

/** What is wrong with numbers that look like an IPv4 address. @param {string[]} parts @returns {Mistake | null} */
function numbers(parts) {
  if (parts.length !== 4) return { hint: `An IPv4 address has four numbers; this has ${parts.length}.` };
  const large = parts.find((part) => Number(part) > 255);
  return large === undefined ? null : { hint: `The numbers of an IPv4 address end at 255; this has ${large}.` };
}

/** Whether a prefix is one address. @param {string} address @param {string} length */
const isWhole = (address, length) => Number(length) >= (address.includes(":") ? 128 : 32);

/**
 * The slip in a text that is one word; null where there is none.
 * @param {string} text
 * @returns {Mistake | null}
 */
export function mistakeIn(text) {
  const word = text.trim();
  if (word.length > 300) return null;
  for (const [pattern, say] of slips) {
    const found = pattern.exec(word);
    if (found) return say(found);
  }
  return null;
}

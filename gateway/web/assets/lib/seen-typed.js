// @ts-check
// Which texts a result in a link may hold: numbers, host names, addresses, dates, digests, and words of seen-words.js.
// Nothing else, so that a link cannot put sentences of its own into a page of this service.

import { words } from "./seen-words.js";

/** The longest text, in characters. */
export const longestText = 255;

/** Words within words, as in "it answers 404 Not Found". */
const deepest = 3;

const label = "[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?";
const domain = `(?=[^:/]{1,254}(?::|/|$))(?:\\*\\.)?(?:${label}\\.)+(?:[a-z]{2,63}|xn--[a-z0-9-]{1,59})`;
const octet = "(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)";
const four = `${octet}(?:\\.${octet}){3}`;
const day = "\\d{1,2} (?:January|February|March|April|May|June|July|August|September|October|November|December) \\d{4}";
const suite =
  "AES|CHACHA20|POLY1305|ECDHE|ECDH|DHE|DH|RSA|ECDSA|DSS|anon|PSK|WITH|CAMELLIA|ARIA|3DES|EDE|DES|RC4|SEED|IDEA|NULL|" +
  "EXPORT|128|256|40|56|GCM|CBC|CCM|8|SHA|SHA256|SHA384|MD5";

const kinds = [
  "-?(?:\\d{1,15}|\\d{1,3}(?:,\\d{3}){1,4})(?:\\.\\d{1,6})?(?: (?:ms|s|%|KiB|MiB))?",
  `(?:${domain}|${four})\\.?(?::\\d{1,5})?`,
  `https?://(?:${domain}|${four})(?::\\d{1,5})?/?`,
  `${four}(?:/\\d{1,2})?`,
  "AS\\d{1,10}",
  `${day}(?:, \\d\\d:\\d\\d:\\d\\d UTC)?`,
  "\\d{4}-\\d\\d-\\d\\d(?:T\\d\\d:\\d\\d:\\d\\d(?:\\.\\d{1,9})?Z)?",
  "(?:[0-9a-f]{2}:){15,31}[0-9a-f]{2}|[0-9a-f]{32,128}",
].map((kind) => new RegExp(`^(?:${kind})$`, "i"));

const cased = [new RegExp(`^TLS(?:_(?:${suite}))+$`), /^(?:\d{1,5} ){1,3}\.$/, /^[A-Z]{2}$/];

const six = /^(?:https?:\/\/)?\[?([0-9a-f:.]{2,45})\]?(?:\/\d{1,3}|:\d{1,5}\/?|\/)?$/i;

/** An address of IPv6, with a prefix or in brackets with a port. @param {string} text */
function isSix(text) {
  const address = six.exec(text)?.[1] ?? "";
  return address.split(":").length > 2 && URL.canParse(`http://[${address}]/`);
}

/** A text in a regular expression. @param {string} text */
export const literal = (text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");

/** What stands for words that no link holds. */
export const gap = "…";

const plain = new Set(["", gap, ...words.filter((word) => !word.includes("{}"))]);
/** What the words stand around, those with the most words first. */
const forms = words
  .filter((word) => word.includes("{}"))
  .toSorted((a, b) => b.length - a.length)
  .map((word) => word.split("{}"))
  .map((parts) => ({ parts, pattern: new RegExp(`^${parts.map(literal).join("(.+?)")}$`) }));

/**
 * What a link may hold of a text: all of it, or the words around values with a gap for those that it may not hold;
 * null for nothing.
 * @param {string} text
 * @param {string} target of the page, which is permitted as it is
 * @param {number} [depth]
 * @returns {string | null}
 */
export function carried(text, target, depth = 0) {
  if (text.length > longestText || depth > deepest) return null;
  if (text === target || plain.has(text) || isValue(text) || isZone(text, target)) return text;
  const whole = (/** @type {string} */ part) => part !== "" && carried(part, target, depth + 1) === part;
  const [list, sentences] = [text.split(/, | and /), text.split(/(?<=\.)(?= )/)];
  if ([list, sentences].some((parts) => parts.length > 1 && parts.every(whole)) || isRow(text.split(" "))) return text;
  const fitting = forms.flatMap(({ parts, pattern }) => {
    const holes = pattern.exec(text)?.slice(1);
    return holes ? [{ parts, holes: holes.map((hole) => (whole(hole) ? hole : null)) }] : [];
  });
  const best = fitting.find(({ holes }) => !holes.includes(null)) ?? fitting[0];
  if (!best || best.holes.every((hole) => hole === null)) return null;
  return best.parts.map((part, i) => (i === 0 ? part : `${best.holes[i - 1] ?? gap}${part}`)).join("");
}

/** Whether a link may hold a text as it is. @param {string} text @param {string} target */
export const isTyped = (text, target) => carried(text, target) === text;

/** @param {string} text */
const isValue = (text) => kinds.some((kind) => kind.test(text)) || cased.some((kind) => kind.test(text)) || isSix(text);

/** Numbers and at most two names, as in "10 mail.example.com". @param {string[]} parts */
const isRow = (parts) => parts.every(isValue) && parts.filter((part) => !/^\d+$/.test(part)).length <= 2;

/** Whether a text is a zone above the target, such as "com". @param {string} text @param {string} target */
const isZone = (text, target) => /^\.?[a-z0-9-]+$/.test(text) && `.${target}`.endsWith(`.${text.replace(/^\./, "")}`);

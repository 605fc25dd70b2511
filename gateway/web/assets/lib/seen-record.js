// @ts-check
// What a link holds of a result: a moment, and of each check codes, typed values and times. Both ends make it by the
// same rules, so that what a link leaves out is no difference between then and now.

import { capital } from "./format.js";
import { argumentsOf, formatOf, sentenceOf } from "./seen-sentences.js";
import { carried, gap, isTyped } from "./seen-typed.js";
import { attempt } from "./view.js";

/** @typedef {import("./seen-sentences.js").Sentences} Sentences */
/** @typedef {(string | null)[]} Arguments of a sentence, null for one that no link holds */
/** @typedef {{code: string, args: Arguments, subject: string | null}} Finding */
/**
 * One check. left is how many facts no link holds.
 * @typedef {object} Check
 * @property {string} slug
 * @property {string} code of the conclusion
 * @property {Arguments} args
 * @property {Finding[]} findings
 * @property {import("./view.js").Facts} facts
 * @property {Record<string, number>} times
 * @property {number} left
 */
/** @typedef {{page: string, at: number, checks: Check[]}} Seen page as of canonical, at in Unix milliseconds */

const most = { checks: 20, arguments: 9, findings: 50, facts: 60, values: 100, times: 10, left: 999, page: 3000 };
const longestTime = 3_600_000;
const codeForm = /^[A-Z][A-Z0-9_]{0,63}$/;

/** The path and query of a page, its parts in one order. @param {string} page */
export function canonical(page) {
  const [path, query = ""] = page.split(/\?(.*)/s);
  const parts = new URLSearchParams(query);
  parts.sort();
  return `${path}?${parts}`;
}

/**
 * What a link holds of one answer.
 * @param {string} slug
 * @param {import("./view.js").Data} d
 * @param {import("./view.js").Judge} judge
 * @param {Sentences} sentences
 * @param {string} target
 * @returns {Check}
 */
export function checkOf(slug, d, judge, sentences, target) {
  const args = (/** @type {Record<string, string>} */ formats, /** @type {{code: string, message: string}} */ said) =>
    (argumentsOf(formatOf(formats, said.code) ?? "", said.message) ?? [])
      .slice(0, most.arguments)
      .map((text) => (text === null ? null : carried(text, target)));
  const all = Object.entries(attempt(() => judge.facts(d), {})).filter(([, fact]) => fact && fact.length > 0);
  const facts = all.flatMap(([label, fact]) => {
    const held = Array.isArray(fact) ? fact.map((text) => carried(String(text), target)) : carried(fact, target);
    const whole = Array.isArray(held) ? held.length <= most.values && !held.includes(null) : held !== null;
    return whole && isTyped(label, target) ? [/** @type {[string, string | string[]]} */ ([label, held])] : [];
  });
  const kept = facts.slice(0, most.facts);
  const times = Object.entries(attempt(() => judge.times?.(d) ?? {}, {})).flatMap(([label, [now]]) =>
    isTime(now) && isTyped(label, target) ? [/** @type {[string, number]} */ ([label, now])] : [],
  );
  return {
    slug,
    code: d.conclusion.code,
    args: args(sentences.conclusions, d.conclusion),
    findings: d.findings.slice(0, most.findings).map((found) => ({
      code: found.code,
      args: args(sentences.findings, found),
      subject: found.subject === null ? null : carried(found.subject, target),
    })),
    facts: Object.fromEntries(kept),
    times: Object.fromEntries(times.slice(0, most.times)),
    left: Math.min(all.length - kept.length, most.left),
  };
}

/** @param {unknown} value @returns {value is number} */
const isTime = (value) => typeof value === "number" && Number.isFinite(value) && value >= 0 && value <= longestTime;

/** The version of the form below. */
export const version = 1;

/** A record as it travels. @param {Seen} seen */
export const packed = ({ page, at, checks }) => [
  version,
  page,
  Math.floor(at / 1000),
  checks.map(({ slug, code, args, findings, facts, times, left }) => [
    slug,
    code,
    args,
    findings.map((found) => [found.code, found.args, found.subject]),
    Object.entries(facts),
    Object.entries(times),
    left,
  ]),
];

class Unfit extends Error {}

/** @param {unknown} met @returns {asserts met} */
function must(met) {
  if (!met) throw new Unfit();
}

/**
 * @template T
 * @param {unknown} value
 * @param {number} longest
 * @param {(item: any) => T} read
 * @returns {T[]}
 */
function list(value, longest, read) {
  must(Array.isArray(value) && value.length <= longest);
  return value.map(read);
}

/**
 * A row of a fixed number of fields. @param {unknown} value @param {number} length @returns {any[]}
 */
function row(value, length) {
  must(Array.isArray(value) && value.length === length);
  return value;
}

/** The first moment that a link can be of: before it there was no such service. */
const earliest = Date.UTC(2026, 0);
/** Clocks differ. */
const ahead = 86_400_000;

/**
 * Reads what travelled; null where anything in it is not as packed makes it.
 * @param {unknown} value
 * @param {{target: string, slugs: string[]}} of what the page is about, and the tools that it has
 * @param {number} now Unix milliseconds
 * @returns {Seen | null}
 */
export function unpacked(value, { target, slugs }, now) {
  const text = (/** @type {unknown} */ one) => {
    must(typeof one === "string" && isTyped(one, target));
    return one;
  };
  const code = (/** @type {unknown} */ one) => {
    must(typeof one === "string" && codeForm.test(one));
    return one;
  };
  const args = (/** @type {unknown} */ some) => list(some, most.arguments, (one) => (one === null ? null : text(one)));
  const fact = (/** @type {unknown} */ one) => {
    const [label, held] = row(one, 2);
    return [text(label), Array.isArray(held) ? list(held, most.values, text) : text(held)];
  };
  const time = (/** @type {unknown} */ one) => {
    const [label, took] = row(one, 2);
    must(isTime(took));
    return [text(label), took];
  };
  const finding = (/** @type {unknown} */ one) => {
    const [of, some, subject] = row(one, 3);
    return { code: code(of), args: args(some), subject: subject === null ? null : text(subject) };
  };
  const check = (/** @type {unknown} */ one) => {
    const [slug, of, some, findings, facts, times, left] = row(one, 7);
    must(slugs.includes(slug));
    must(Number.isInteger(left) && left >= 0 && left <= most.left);
    return {
      slug,
      code: code(of),
      args: args(some),
      findings: list(findings, most.findings, finding),
      facts: Object.fromEntries(list(facts, most.facts, fact)),
      times: Object.fromEntries(list(times, most.times, time)),
      left,
    };
  };
  try {
    const [form, page, seconds, some] = row(value, 4);
    must(form === version);
    must(typeof page === "string" && page.length <= most.page);
    must(Number.isInteger(seconds) && seconds * 1000 >= earliest && seconds * 1000 <= now + ahead);
    const checks = list(some, most.checks, check);
    must(checks.length > 0 && new Set(checks.map(({ slug }) => slug)).size === checks.length);
    return { page, at: seconds * 1000, checks };
  } catch (failure) {
    if (failure instanceof Unfit) return null;
    throw failure;
  }
}

/**
 * A check in the words of this instance's catalogue; what the catalogue does not have is left out.
 * @param {Check} check
 * @param {Sentences} sentences
 * @returns {import("./compare.js").Outcome}
 */
export function worded({ code, args, findings }, sentences) {
  const said = formatOf(sentences.conclusions, code);
  return {
    code: said === null ? undefined : code,
    text: said === null ? "" : spoken(code, said, args),
    findings: findings.flatMap((found) => {
      const format = formatOf(sentences.findings, found.code);
      return format === null ? [] : [{ ...found, text: spoken(found.code, format, found.args) }];
    }),
  };
}

/**
 * A sentence; its code in words where all that it says is left out.
 * @param {string} code
 * @param {string} format
 * @param {Arguments} args
 */
const spoken = (code, format, args) => {
  const sentence = sentenceOf(format, args);
  return /[\p{L}\p{N}]/u.test(sentence.replaceAll(gap, "")) ? sentence : inWords(code);
};

/** Parts of codes that are names. */
const names = new Map(
  `ASCII BIMI CAA CNAME DANE DKIM DMARC DNS DNSSEC Ed25519 HSTS HTTP HTTPS IPv4 IPv6 MTA-STS MX NS OCSP PSD PTR
    RFC7489 SPF TLS TLSA TLS-RPT TXT URI`
    .split(/\s+/)
    .map((name) => [name.replace("-", "").toUpperCase(), name]),
);

/** A code such as SPF_TOO_MANY_LOOKUPS as "SPF too many lookups". @param {string} code */
export const inWords = (code) =>
  capital(
    code
      .split("_")
      .map((part) => names.get(part) ?? part.toLowerCase())
      .join(" "),
  );

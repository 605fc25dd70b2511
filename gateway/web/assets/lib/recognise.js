// @ts-check
// What a visitor means by something typed or pasted: the one target in it, in its usual spelling. It only sorts;
// whether a target is allowed is the API's to say. A word is looked at piece by piece with anchored patterns, so that
// the time grows with the length of the text and no faster.

/** @typedef {"url" | "email" | "hostPort" | "address" | "asn" | "domain"} Meaning */
/**
 * @typedef {"domain" | "host" | "hostPort" | "tlsHost" | "url" | "address" | "network" | "registration"} InputKind the
 *   kinds of descriptors.go
 */
/** @typedef {Partial<Record<InputKind, string>>} Inputs for each kind of tool that the target suits, what to ask it */

/**
 * @typedef {object} Found
 * @property {Meaning} kind
 * @property {string} text in its usual spelling
 * @property {string | null} host null for an AS number
 * @property {string} label the kind in words
 * @property {Inputs} inputs
 */

/**
 * @typedef {Found & {doubt: number}} Candidate 0 where it can hardly be anything else; the higher, the more likely it
 *   is a file name or the end of a sentence
 */
/** @typedef {{host: string, port: string, address: boolean, doubt: number}} Place */

/**
 * The kinds in words; the first is what a text most likely means when it has several. @type {Record<Meaning, string>}
 */
const labels = {
  url: "Web address",
  email: "E-mail address",
  hostPort: "Host and port",
  address: "IP address",
  asn: "AS number",
  domain: "Domain name",
};
const ranks = Object.keys(labels);

/** More than this of a pasted text is not looked at. */
const longest = 10_000;

/** As many targets of a text are offered. */
const mostTargets = 6;

/**
 * Finds the one thing meant, null where there is none.
 * @param {string} text
 * @returns {Found | null}
 */
export const recognise = (text) => targetsIn(text)[0] ?? null;

/**
 * Finds the targets in a text, the one meant first.
 * @param {string} text
 * @returns {Found[]}
 */
export function targetsIn(text) {
  const plain = refang(visible(text.slice(0, longest))).trim();
  const words = plain.split(/[\s<>"“”„«»`]+/).filter((word) => word !== "");
  const alone = words.length === 1;
  // A word without any of these is no target; most words of a pasted text are none.
  const inWords = words.flatMap((word, i) =>
    /[.:@。．｡]|localhost/i.test(word)
      ? inWord(emphasised(word), alone).map((found) => ({ ...found, rank: rankAfter(words, i) }))
      : [],
  );
  const all = [...[...pair(words), ...numbers(plain)].map((found) => ({ ...found, rank: 0 })), ...inWords];
  // What may be a file name counts where nothing else was entered.
  const sure = alone ? all : all.filter((found) => found.doubt < 2);
  const ofDomain = asksOfDomain(plain);
  const aside = (/** @type {Candidate} */ { inputs }) => Number(ofDomain && inputs.domain === undefined);
  const sorted = sure.sort(
    (a, b) =>
      a.doubt - b.doubt || a.rank - b.rank || aside(a) - aside(b) || ranks.indexOf(a.kind) - ranks.indexOf(b.kind),
  );
  /** @type {Map<string, Found>} */
  const once = new Map();
  for (const { doubt: _, rank: __, ...found } of sorted) {
    if (once.size < mostTargets && !once.has(found.text)) once.set(found.text, found);
  }
  return [...once.values()];
}

/**
 * How a target ranks by what stands before it: the server of a line of nginx before its client, the sender of mail
 * (Received) before those who passed it on.
 * @param {string[]} words
 * @param {number} i
 */
function rankAfter(words, i) {
  const [before, earlier] = [words[i - 1] ?? "", words[i - 2] ?? ""].map((word) => word.toLowerCase());
  if (before === "server:" || before === "host:" || (before === "from" && earlier === "received:")) return -1;
  return before === "client:" || before === "upstream:" || before === "by" ? 1 : 0;
}

/** Words by themselves and in no name, in any case. @param {string} words */
export const standalone = (words) =>
  new RegExp(String.raw`(?<![\p{L}\p{N}_.@/-])(?:${words})(?![\p{L}\p{N}_@/-]|\.[\p{L}\p{N}])`, "iu");

/** Words for faults of a domain's name servers and keys. */
const delegationWords = standalone("servfail|dnssec|rrsig|dnskey|name[ -]?servers?|delegations?|dig [+]trace");

/** Whether a text asks for a check that takes a domain's name alone. @param {string} text */
export const asksOfDomain = (text) => delegationWords.test(text.slice(0, longest));

/**
 * Without the characters that no one sees. Joiners stay inside words of scripts that need them. @param {string} text
 */
export function visible(text) {
  return text
    .replace(/[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, "")
    .replace(/(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])/g, "");
}

/**
 * Undoes the spellings that keep links in reports of attacks from being clicked: hxxp, [.], [at]. @param {string} text
 */
function refang(text) {
  return text
    .replace(/(?<![a-z])(?:hxxp|h\*\*p|htxp)(s?)(?=\[?:)/gi, "http$1")
    .replace(/\[(:\/\/|:|\/)\]/g, "$1")
    .replace(/ ?(?:\[(?:\.|dot)\]|\((?:\.|dot)\)|\{(?:\.|dot)\}) ?/gi, ".")
    .replace(/ ?(?:\[(?:@|at)\]|\((?:@|at)\)) ?/gi, "@");
}

/** Without the marks of emphasis around it: **bold**, _so_. @param {string} word */
function emphasised(word) {
  return /^([*_~]{1,3})(.+)\1[.,;:!?)]{0,5}$/s.exec(word)?.[2] ?? word;
}

/**
 * A host and a port as nc and telnet take them, with the command before it or not: "example.com 25".
 * @param {string[]} words
 * @returns {Candidate[]}
 */
function pair(words) {
  const [host = "", port = ""] = words.slice(-2);
  const command = words.length === 2 || /^(?:telnet|nc|ncat|netcat)$/i.test(words[0] ?? "");
  if (!command || !/^\d{1,5}$/.test(port)) return [];
  const place = placeOf(host);
  return place && place.port === "" ? [ofPlace({ ...place, port })] : [];
}

/**
 * AS numbers. Digits alone are one where nothing else was entered; "as 5" in a sentence is none.
 * @param {string} text
 * @returns {Candidate[]}
 */
function numbers(text) {
  const whole = /^(asn?[ \t:#-]{0,3})?(\d{1,10})$/i.exec(text);
  if (whole) return ofNumber(whole[2], whole[1] !== undefined);
  const inside = text.matchAll(/(?<![\p{L}\p{N}_.:@/-])(?:[Aa][Ss][Nn]?|ASN? )(\d{1,10})(?![\p{L}\p{N}_@/-]|[.:]\d)/gu);
  return [...inside].flatMap((m) => ofNumber(m[1], true));
}

/**
 * @param {string} digits
 * @param {boolean} named whether AS stood before it
 * @returns {Candidate[]}
 */
function ofNumber(digits, named) {
  const n = Number(digits);
  if (n > 0xffffffff) return [];
  // From here on digits may be an address in decimal: the API asks which.
  const text = named || n < 1 << 24 ? `AS${digits}` : digits;
  return [made("asn", text, null, { network: text }, 0)];
}

/**
 * @param {string} word
 * @param {boolean} alone whether it is all that was entered
 * @returns {Candidate[]}
 */
function inWord(word, alone) {
  const scheme = word.indexOf("://");
  if (scheme >= 0) return inURL(word, scheme, alone);
  const at = word.indexOf("@");
  if (at >= 0 && !word.slice(0, at).includes("/")) return inMail(word);
  return inPieces(word, alone);
}

/**
 * @param {string} word
 * @param {number} at of ://
 * @param {boolean} alone
 * @returns {Candidate[]}
 */
function inURL(word, at, alone) {
  const before = word.slice(Math.max(0, at - 16), at).toLowerCase();
  const scheme = /https?$/.exec(before)?.[0] ?? /[a-z][a-z0-9+.-]*$/.exec(before)?.[0];
  const web = scheme === "http" || scheme === "https";
  // "](" is where the text of a Markdown link ends.
  const [rest] = word.slice(at + 3).split("](", 1);
  const end = rest.search(/[/?#\\]/);
  const authority = end < 0 ? rest : rest.slice(0, end);
  const start = authority.lastIndexOf("@") + 1;
  const place = placeAtStart(authority.slice(start), web);
  if (!scheme || !place) return [];
  if (!web) return [ofPlace(place)];
  const whole = start + place.length === authority.length;
  return [ofURL(scheme, place, whole && end >= 0 ? tail(rest.slice(end), alone) : "")];
}

/**
 * E-mail addresses, and other things with an @ before a host.
 * @param {string} word
 * @returns {Candidate[]}
 */
function inMail(word) {
  const parts = word.split("@");
  return parts.slice(1).flatMap((right, i) => {
    const place = placeAtStart(right, false);
    if (!place) return [];
    const local =
      /[\p{L}\p{N}.!#$%&'*+=?^_{|}~-]{1,64}$/u.exec(parts[i].slice(-64))?.[0].replace(/^['*.{|]+/, "") ?? "";
    // user@host:22 and git@host:owner/repository are no e-mail addresses.
    if (local === "" || place.address || place.port !== "" || /^:[^\s]/.test(right.slice(place.length)))
      return [ofPlace(place)];
    return [made("email", `${local}@${place.host}`, place.host, ofHost(place), place.doubt)];
  });
}

/**
 * @param {string} word
 * @param {boolean} alone
 * @returns {Candidate[]}
 */
function inPieces(word, alone) {
  // An address may end in colons.
  const whole = piece(addressOf(word) ?? tail(word, alone), alone) ?? piece(bare(word), alone);
  if (whole) return [whole];
  const bracketed = [...word.matchAll(/\[[0-9a-f:.]{2,45}(?:%[\w.~-]{1,40})?\](?::\d{1,7})?/gi)].map((m) => m[0]);
  const pieces = [...bracketed, ...word.split(/[,;(){}[\]|='’*!]+/)];
  return pieces.flatMap((text) => {
    const found = piece(addressOf(text) ?? bare(text), false);
    return found ? [found] : named(text);
  });
}

/**
 * Something with a name and a colon before it: "ip4:192.0.2.0/24", "server:example.com:443".
 * @param {string} text
 * @returns {Candidate[]}
 */
function named(text) {
  const parts = text.split(":");
  // Nine groups are no address with a name.
  const address = /^[0-9a-f]{0,4}$/i.test(parts[0]) ? null : addressOf(text.slice(parts[0].length + 1));
  if (address) return [ofPlace({ host: address, port: "", address: true, doubt: 0 })];
  return parts.slice(1).flatMap((part, i) => {
    const next = parts[i + 2] ?? "";
    return piece(bare(/^\d{1,5}$/.test(next) ? `${part}:${next}` : part), false) ?? [];
  });
}

/**
 * @param {string} text
 * @param {boolean} alone
 * @returns {Candidate | null}
 */
function piece(text, alone) {
  const address = addressOf(text);
  if (address) return ofPlace({ host: address, port: "", address: true, doubt: 0 });
  const from = text.startsWith("//") ? 2 : 0;
  const end = text.slice(from).search(/[/?#]/);
  const place = placeOf(end < 0 ? text.slice(from) : text.slice(from, from + end));
  if (!place) return null;
  if (from === 0 && end < 0) return ofPlace(place);
  return ofURL(
    plainPorts.has(place.port) ? "http" : "https",
    place,
    end < 0 ? "" : tail(text.slice(from + end), alone),
  );
}

/** Ports where a web server seldom speaks TLS. */
const plainPorts = new Set(["80", "8000", "8080"]);

/**
 * An address by itself, without the length of its network and without its zone.
 * @param {string} text
 * @returns {string | null}
 */
function addressOf(text) {
  const [, address] = /^\[?([0-9a-f:.]{2,45})(?:%[^/\]\s]*)?\]?(?:\/\d{1,3})?$/i.exec(text) ?? [];
  return address !== undefined && (isIPv4(address) || isIPv6(address)) ? address.toLowerCase() : null;
}

/** @param {string} text @returns {Place | null} what is a host, maybe with a port, and nothing else */
function placeOf(text) {
  const place = placeAtStart(text, false);
  return place && place.length === text.length ? place : null;
}

/**
 * The host, maybe with a port, that a text begins with.
 * @param {string} text
 * @param {boolean} anyName whether names of one label are taken too
 * @returns {(Place & {length: number}) | null}
 */
function placeAtStart(text, anyName) {
  const m =
    /^(?:\[([0-9a-f:.]{2,45})(?:%[^\]\s]{0,60})?\]|([^\s/?#\\:,;()[\]{}'’"|!@%&=]+))(?::(\d{1,7})|:(?=$))?/i.exec(text);
  if (!m) return null;
  const rest = { port: m[3] ?? "", length: m[0].length };
  const inside = m[1] ?? m[2];
  if (isIPv4(inside) || (m[1] !== undefined && isIPv6(inside)))
    return { ...rest, host: inside.toLowerCase(), address: true, doubt: 0 };
  const host = m[1] === undefined ? nameOf(inside, anyName) : null;
  return host === null ? null : { ...rest, host, address: false, doubt: anyName ? 0 : doubtful(inside) };
}

/**
 * @param {string} text
 * @param {boolean} anyName
 * @returns {string | null} the name in lower case, with plain dots and none at its end
 */
function nameOf(text, anyName) {
  const name = text
    .replace(/[。．｡]/g, ".")
    .replace(/^\*\./, "")
    .replace(/\.$/, "")
    .toLowerCase();
  const all = name.split(".");
  if (name.length > 253 || !all.every((text) => label.test(text))) return null;
  if (anyName || name === "localhost") return name;
  return all.length > 1 && /^(?:xn--[a-z0-9-]+|\p{L}[\p{L}\p{M}]+)$/u.test(all[all.length - 1]) ? name : null;
}

/** One label of a name: letters, digits, marks, _ and -, and the two joiners (RFC 5892 A.1 and A.2). */
const label = /^(?!-)(?:[\p{L}\p{N}\p{M}_-]|\u200c|\u200d){1,63}(?<!-)$/u;

/** Endings of file names that are top-level domains too, and those that are none. */
const both = /\.(?:md|sh|py|pl|rs|ps|cc|so|zip|mov)$/i;
const endings =
  "js mjs cjs ts jsx tsx json xml html htm xhtml css scss php asp aspx jsp pdf txt csv tsv log doc docx xls xlsx ppt " +
  "pptx odt png jpg jpeg gif svg webp ico bmp mp3 mp4 avi wav exe dll bin iso dmg deb rpm apk jar war tar gz tgz bz " +
  "xz rar conf cfg ini yml yaml toml lock env sql db bak tmp go java class cpp hpp rb swift kt lua bat ps1 pem crt " +
  "csr key";
const files = new RegExp(String.raw`\.(?:${endings.replaceAll(" ", "|")})$`, "i");

/** @param {string} name as it was entered */
function doubtful(name) {
  // "it is down.Please look" has no name in it.
  if (files.test(name) || /\p{Ll}\.\p{Lu}\p{Ll}+$/u.test(name)) return 2;
  return both.test(name) ? 1 : 0;
}

/** @param {string} text */
function isIPv4(text) {
  return /^\d{1,3}(?:\.\d{1,3}){3}$/.test(text) && text.split(".").every((part) => Number(part) < 256);
}

/** @param {string} text */
export function isIPv6(text) {
  const last = text.slice(text.lastIndexOf(":") + 1);
  if (last.includes(".") && !isIPv4(last)) return false;
  const whole = last.includes(".") ? text.slice(0, -last.length) + "0:0" : text;
  const halves = whole.split("::");
  if (halves.length > 2 || !/[0-9a-f]/i.test(text)) return false;
  const groups = halves.flatMap((half) => (half === "" ? [] : half.split(":")));
  return (
    groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group)) &&
    (halves.length === 2 ? groups.length < 8 : groups.length === 8)
  );
}

const closing = { ")": "(", "]": "[", "}": "{" };

/**
 * Cuts off the end of a sentence: its punctuation, and brackets that were opened before the text began. What stands
 * alone
 * keeps what a path may well end in.
 * @param {string} text
 * @param {boolean} alone
 * @returns {string}
 */
function tail(text, alone) {
  const marks = alone ? ",;:'’" : ".,;:!?'’…。、，！？";
  const open = (/** @type {string} */ bracket) => text.split(bracket).length;
  const surplus = new Map(Object.entries(closing).map(([close, opener]) => [close, open(close) - open(opener)]));
  let end = text.length;
  for (; end > 0; end--) {
    const last = text[end - 1];
    const many = surplus.get(last) ?? 0;
    if (many > 0) surplus.set(last, many - 1);
    else if (!marks.includes(last)) break;
  }
  return text.slice(0, end);
}

/** Without any punctuation around it. @param {string} text */
function bare(text) {
  let start = 0;
  while (start < text.length && "([{'‘’.,;:!?¿¡*".includes(text[start])) start++;
  const rest = text.slice(start);
  // "*.example.com" is a name of a certificate.
  return tail(text.startsWith("*.", start - 2) ? rest : rest.replace(/\*+$/, ""), false);
}

/**
 * @param {Place} place
 * @returns {Candidate}
 */
function ofPlace(place) {
  const { host, port, address, doubt } = place;
  if (port === "") return made(address ? "address" : "domain", host, host, ofHost(place), doubt);
  const text = `${bracketed(place)}:${port}`;
  const { url: _, ...inputs } = ofHost(place);
  return made(
    "hostPort",
    text,
    host,
    { ...inputs, ...(webPorts.get(port)?.(bracketed(place)) ?? {}), hostPort: text, tlsHost: text },
    doubt,
  );
}

/**
 * What web address a host and a port mean, where the port is one of the web's. @type {Map<string, (host: string) =>
 * Inputs>}
 */
const webPorts = new Map([
  ["80", (host) => ({ url: web("http", host) })],
  ["443", (host) => ({ url: web("https", host) })],
  ["8080", (host) => ({ url: web("http", `${host}:8080`) })],
  ["8443", (host) => ({ url: web("https", `${host}:8443`) })],
]);

/** @param {string} scheme @param {string} authority @param {string} [path] */
export const web = (scheme, authority, path = "/") => `${scheme}://${authority}${path}`;

/** A host as it stands before a port. @param {{host: string}} place */
export const bracketed = ({ host }) => (host.includes(":") ? `[${host}]` : host);

/**
 * @param {string} scheme http or https
 * @param {Place} place
 * @param {string} rest path and query, maybe a fragment
 * @returns {Candidate}
 */
function ofURL(scheme, place, rest) {
  const authority = bracketed(place) + (place.port === "" ? "" : `:${place.port}`);
  const [asked] = rest.split("#", 1);
  const url = web(scheme, authority, asked.startsWith("/") ? asked : `/${asked}`);
  const { tlsHost: _, ...inputs } = ofHost(place);
  const port = place.port || (scheme === "http" ? "80" : "443");
  const tls = scheme === "https" ? { tlsHost: place.port === "" ? place.host : authority } : {};
  return made("url", url, place.host, { ...inputs, url, hostPort: `${bracketed(place)}:${port}`, ...tls }, place.doubt);
}

/**
 * @param {Place} place
 * @returns {Inputs}
 */
function ofHost(place) {
  const { host, address } = place;
  const both = { host, registration: host, hostPort: `${bracketed(place)}:443` };
  return address
    ? { ...both, address: host, network: host }
    : { ...both, domain: host, tlsHost: host, url: web("https", host) };
}

/**
 * @param {Meaning} kind
 * @param {string} text
 * @param {string | null} host
 * @param {Inputs} inputs
 * @param {number} doubt
 * @returns {Candidate}
 */
function made(kind, text, host, inputs, doubt) {
  return { kind, text, host, label: labels[kind], inputs, doubt };
}

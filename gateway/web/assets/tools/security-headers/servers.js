// @ts-check
// The lines that make web servers send what security-headers recommends. Every value is quoted for its server; one that
// holds a server's variable has no lines. jstest/servers.run.test.js runs them on real servers.

/** @typedef {NonNullable<import("./facts.js").Control["set"]>} Header to send */
/** @typedef {{id: string, present: boolean, set?: Header, remove?: string[]}} Advice of a control */
/** @typedef {{name: string, issues: {code: string}[]}} Cookie */
/** @typedef {{nginx: string[], Apache: string[], Caddy: string[]}} Lines for each server */

/** @returns {Lines} */
export const noLines = () => ({ nginx: [], Apache: [], Caddy: [] });

/**
 * Lines as they stand in a configuration. Caddy's are inside one block: deferred, so that they apply to what a backend
 * sends, in the form that old versions read too.
 * @param {Lines} lines
 * @returns {[string, string][]} the server, and its text
 */
export const configurations = ({ nginx, Apache, Caddy }) => [
  ["nginx", nginx.join("\n")],
  ["Apache", Apache.join("\n")],
  ["Caddy", ["header {", ...Caddy.map((line) => `\t${line}`), "\tdefer", "}"].join("\n")],
];

/** A policy to start with, which breaks nothing. */
const cspStart = {
  name: "Content-Security-Policy-Report-Only",
  value: "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'",
};

/**
 * The lines that set or remove what a control recommends; none where that is no header. Those of a whole policy, which
 * only the owner can choose, only report.
 * @param {Advice} advice
 * @param {Cookie[]} cookies
 * @returns {Lines | null}
 */
export function serverLines(advice, cookies) {
  const { id, present, set, remove } = advice;
  if (id === "cookies") return cookieLines(cookies);
  if (remove) return removal(remove);
  if (!set) return null;
  const { name, value } = set.startingPoint ? cspStart : set;
  // Every file has a Content-Type of its own.
  return name === "Content-Type" || /[$%{}`\r\n]/.test(value) ? null : setting(name, value, present);
}

/** @param {string} name @param {string} text @param {boolean} present @returns {Lines} */
function setting(name, text, present) {
  const quoted = `"${text.replace(/["\\]/g, "\\$&")}"`;
  // Policies add up; of any other header there must be one alone.
  const adds = name.startsWith("Content-Security-Policy");
  const replaces = present && !adds;
  return {
    nginx: [...(replaces ? [`proxy_hide_header ${name};`] : []), `add_header ${name} ${quoted} always;`],
    Apache: [
      ...(replaces ? [`Header onsuccess unset ${name}`] : []),
      `Header always ${adds ? "add" : "set"} ${name} ${quoted}`,
    ],
    Caddy: [`${adds ? "+" : ""}${name} ${quoted === `"${text}"` ? quoted : `\`${text}\``}`],
  };
}

/** @param {string[]} names @returns {Lines} */
function removal(names) {
  return {
    nginx: names.map((n) => (n === "server" ? "server_tokens off;" : `proxy_hide_header ${n};`)),
    // A proxy passes on the name of the server behind it until that is unset. ServerTokens sets what its own is.
    Apache: names.flatMap((n) =>
      n === "server"
        ? ["# Outside of every <VirtualHost>:", "ServerTokens Prod", "Header unset Server"]
        : [`Header unset ${n}`, `Header always unset ${n}`],
    ),
    Caddy: names.map((n) => `-${n}`),
  };
}

/** The attributes that an issue of a cookie requires. @type {Record<string, string>} */
const attributes = {
  NOT_SECURE: "Secure",
  NOT_HTTP_ONLY: "HttpOnly",
  NO_SAME_SITE: "SameSite=Lax",
  NONE_WITHOUT_SECURE: "Secure",
};

/** @param {Cookie[]} cookies @returns {Lines | null} */
function cookieLines(cookies) {
  const lines = noLines();
  for (const { name, issues } of cookies) {
    const wanted = [...new Set(issues.flatMap((i) => attributes[i.code] ?? []))];
    if (wanted.length === 0 || !/^[\w-]+$/.test(name)) continue;
    lines.nginx.push(`proxy_cookie_flags ${name} ${wanted.join(" ").toLowerCase()};`);
    const edit = `Set-Cookie "^(${name}=.*)$" "$1; ${wanted.join("; ")}"`;
    // Apache keeps two tables of headers, and a cookie is in either.
    lines.Apache.push(`Header edit ${edit}`, `Header always edit ${edit}`);
    lines.Caddy.push(edit);
  }
  return lines.nginx.length > 0 ? lines : null;
}

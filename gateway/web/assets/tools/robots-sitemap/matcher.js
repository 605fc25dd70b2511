// @ts-check
// Whether a robots.txt lets a crawler fetch a path (RFC 9309), so that a path can be tried in the browser. A pattern
// takes time in proportion to its length and the path's.

/** @typedef {{type: "allow" | "disallow", path: string, line: number}} Rule */
/** @typedef {{userAgents: string[], rules: Rule[]}} Group */
/**
 * @typedef {{allowed: boolean, rule: Rule | null, agent: string | null, matching: Rule[]}} Decision rule is the one
 *   that decided, agent the name whose group was followed, matching are all rules that match, the strongest first
 */

/**
 * Whether the crawler may fetch the path, which is written as in a URL: with its query, without its fragment.
 * @param {Group[]} groups
 * @param {string} crawler its product token, or a user agent string that begins with it
 * @param {string} path
 * @returns {Decision}
 */
export function mayFetch(groups, crawler, path) {
  // The file itself may always be read (section 2.2.2).
  if (path === "/robots.txt") return { allowed: true, rule: null, agent: null, matching: [] };
  const agent = agentFor(groups, crawler);
  const subject = forms(path.startsWith("/") ? path : `/${path}`, false);
  const matching = rulesFor(groups, agent)
    .map((rule) => ({ rule, ...compile(rule.path) }))
    .filter((p) => p.canMatch && p.forms.some((form, i) => matches(form, subject[i], p.end)))
    .sort((a, b) => b.octets - a.octets || Number(b.rule.type === "allow") - Number(a.rule.type === "allow"))
    .map((p) => p.rule);
  return { allowed: matching[0]?.type !== "disallow", rule: matching[0] ?? null, agent, matching };
}

/**
 * The group that a crawler follows where none names it, by its makers' documentation. Both are in lower case.
 * @type {Record<string, string | undefined>}
 */
const follows = { applebot: "googlebot", yandexbot: "yandex" };

/**
 * The name whose group a crawler follows: its own whatever the case, else that of another that it follows, else "*",
 * else none.
 * @param {Group[]} groups
 * @param {string} crawler
 * @returns {string | null}
 */
export function agentFor(groups, crawler) {
  const token = (/^[\w-]*/.exec(crawler)?.[0] ?? "").toLowerCase();
  const names = groups.flatMap((g) => g.userAgents);
  const named = (/** @type {string | undefined} */ wanted) =>
    names.find((name) => name !== "*" && name.toLowerCase() === wanted);
  return named(token) ?? named(follows[token]) ?? names.find((name) => name === "*") ?? null;
}

/**
 * The rules of all groups that name the crawler (section 2.2.1).
 * @param {Group[]} groups
 * @param {string | null} agent
 */
function rulesFor(groups, agent) {
  const named = (/** @type {string} */ name) => name.toLowerCase() === agent?.toLowerCase();
  return groups.filter((g) => g.userAgents.some(named)).flatMap((g) => g.rules);
}

/** @param {string} path of a rule; the octets are those of its normal form, special characters included */
function compile(path) {
  const end = path.endsWith("$");
  const both = forms(end ? path.slice(0, -1) : path, true);
  return { forms: both, end, octets: both[0].length + Number(end), canMatch: /^[/*]/.test(both[0]) };
}

/**
 * A path or pattern in the two forms in which they are compared. A reserved character and its escape differ in a path
 * (/a%2Fb is not /a/b), but not in a query (?u=http%3A%2F%2Fx; RFC 9309 section 2.2.2).
 * @param {string} path
 * @param {boolean} pattern a star in it is special
 */
function forms(path, pattern) {
  const plain = path.replace(/%([0-9a-f]{2})|[^\0-\x7f]+|[*$]/gi, (found, hex) => {
    if (!hex) return pattern && found === "*" ? found : escaped(found);
    const character = String.fromCharCode(parseInt(hex, 16));
    return /[\w.~-]/.test(character) ? character : found.toUpperCase();
  });
  const query = plain.indexOf("?");
  return query < 0
    ? [plain, plain]
    : [plain, plain.slice(0, query + 1) + plain.slice(query + 1).replace(/%(?:3A|2F|3F|40)/g, decodeURIComponent)];
}

/** @param {string} text */
function escaped(text) {
  return [...new TextEncoder().encode(text)]
    .map((octet) => `%${octet.toString(16).toUpperCase().padStart(2, "0")}`)
    .join("");
}

/**
 * Matches with * for any octets, from the start of the text and, where end is set, to its end. Each part between two
 * stars is matched at its first place behind the part before: a later one leaves no more room for the rest.
 * @param {string} pattern
 * @param {string} text
 * @param {boolean} end
 */
function matches(pattern, text, end) {
  const [first, ...parts] = pattern.split("*");
  if (!text.startsWith(first)) return false;
  const last = end ? parts.pop() : undefined;
  if (end && last === undefined) return text === first;
  let at = first.length;
  for (const part of parts) {
    at = find(text, part, at);
    if (at < 0) return false;
  }
  return last === undefined || (text.length - last.length >= at && text.endsWith(last));
}

/**
 * Where a part ends at its first place from a position on; -1 for nowhere. It is the algorithm of Knuth, Morris and
 * Pratt: indexOf takes the product of both lengths in the worst case.
 * @param {string} text
 * @param {string} part
 * @param {number} from
 */
function find(text, part, from) {
  if (part.length > text.length - from) return -1;
  const back = [0];
  for (let i = 1, k = 0; i < part.length; i++) {
    while (k > 0 && part[i] !== part[k]) k = back[k - 1];
    if (part[i] === part[k]) k++;
    back[i] = k;
  }
  for (let i = from, k = 0; i <= text.length; i++) {
    if (k === part.length) return i;
    while (k > 0 && text[i] !== part[k]) k = back[k - 1];
    if (text[i] === part[k]) k++;
  }
  return -1;
}

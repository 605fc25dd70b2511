// @ts-check
// What a visitor may mean by one line of text. It only sorts: whether a target is allowed is the API's to say.

/**
 * Gives, for each kind of input that the text can stand for, the input for tools of that kind.
 * @param {string} text
 * @returns {Record<string, string>}
 */
export function inputsFor(text) {
  if (text === "" || /\s/.test(text)) return {};
  if (/^(as)?\d+$/i.test(text)) return { network: text };
  if (/^https?:\/\//i.test(text)) return ofURL(text);
  if (isIPv6(text)) return ofAddress(text, `[${text}]`);
  const { host, port } = split(text);
  if (host === "") return {};
  const inputs = isIPv4(host) || isIPv6(host) ? ofAddress(host, isIPv6(host) ? `[${host}]` : host) : ofDomain(host);
  return port === "" ? inputs : { ...inputs, hostPort: text, tlsHost: text };
}

/** @param {string} text */
function ofURL(text) {
  if (!URL.canParse(text)) return {};
  const url = new URL(text);
  const bare = url.hostname.replace(/^\[|\]$/g, "");
  const inputs = isIPv4(bare) || isIPv6(bare) ? ofAddress(bare, url.hostname) : ofDomain(bare);
  const port = url.port || (url.protocol === "http:" ? "80" : "443");
  return { ...inputs, url: text, hostPort: `${url.hostname}:${port}`, ...(url.protocol === "https:" ? { tlsHost: url.host } : {}) };
}

/**
 * @param {string} name
 * @returns {Record<string, string>}
 */
function ofDomain(name) {
  return { domain: name, host: name, registration: name, url: `https://${name}/`, tlsHost: name, hostPort: `${name}:443` };
}

/**
 * @param {string} address
 * @param {string} inURL
 * @returns {Record<string, string>}
 */
function ofAddress(address, inURL) {
  return { address, network: address, registration: address, host: address, hostPort: `${inURL}:443` };
}

/** @param {string} text host, host:port or [IPv6]:port */
function split(text) {
  const parts = /^(\[[^\]]*\]|[^:]+)(?::(\d+))?$/.exec(text);
  return { host: parts?.[1].replace(/^\[|\]$/g, "") ?? "", port: parts?.[2] ?? "" };
}

/** @param {string} text */
const isIPv4 = (text) => /^\d{1,3}(\.\d{1,3}){3}$/.test(text);

/** @param {string} text */
const isIPv6 = (text) => /^[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:.]*$/i.test(text);

// @ts-check
// A value as the fragment of an address, which browsers send to no server: JSON, deflated (RFC 1951), in base64url
// (RFC 4648, section 5).

/** The longest fragment, in characters. */
export const longestFragment = 8192;
/** The longest text that a fragment may inflate to, in octets. */
export const longestInflated = 65_536;

export const prefix = "seen=";

/**
 * @param {unknown} value
 * @returns {Promise<string | null>} null where it is longer than a fragment may be, or this browser cannot deflate
 */
export async function encoded(value) {
  const text = new TextEncoder().encode(JSON.stringify(value));
  if (text.length > longestInflated || typeof CompressionStream === "undefined") return null;
  const octets = await through(text, new CompressionStream("deflate-raw"), longestFragment);
  if (!octets) return null;
  const binary = Array.from(octets, (octet) => String.fromCharCode(octet)).join("");
  const fragment = prefix + btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  return fragment.length > longestFragment ? null : fragment;
}

/**
 * @param {string} fragment without its hash sign
 * @returns {Promise<unknown>} undefined where it holds no value, or too long a one
 */
export async function decoded(fragment) {
  const text = fragment.slice(prefix.length);
  if (!fragment.startsWith(prefix) || fragment.length > longestFragment || !/^[\w-]+$/.test(text)) return undefined;
  try {
    const octets = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    const inflated = await through(octets, new DecompressionStream("deflate-raw"), longestInflated);
    return inflated ? JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(inflated)) : undefined;
  } catch {
    // Not base64, not deflated, not UTF-8, not JSON, or a browser that inflates nothing.
    return undefined;
  }
}

/**
 * What comes out of a stream; null as soon as it is more than it may be: the rest is not made.
 * @param {Uint8Array<ArrayBuffer>} octets
 * @param {CompressionStream | DecompressionStream} stream
 * @param {number} longest
 * @returns {Promise<Uint8Array<ArrayBuffer> | null>}
 */
async function through(octets, stream, longest) {
  const reader = new Blob([octets]).stream().pipeThrough(stream).getReader();
  const out = new Uint8Array(longest);
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return out.slice(0, length);
    if (length + value.length > longest) {
      await reader.cancel();
      return null;
    }
    out.set(value, length);
    length += value.length;
  }
}

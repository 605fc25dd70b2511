// @ts-check
// Which tools fit a target, and the link that runs one on it.

/** @typedef {import("./recognise.js").Found} Found */

/**
 * How well a tool fits each kind of target, of its descriptor's "suits".
 * @param {string} text pairs like url:90
 * @returns {Map<string, number>}
 */
export function suitsOf(text) {
  return new Map(
    text.split(" ").map((pair) => /** @type {[string, number]} */ ([pair.split(":")[0], Number(pair.split(":")[1])])),
  );
}

/**
 * What to ask a tool about a target, and how well it fits; null where it does not.
 * @param {Found} found
 * @param {{kind: string, suits: Map<string, number>}} tool kind report takes the target as it is, but an AS number,
 *   which one tool alone takes
 * @returns {{input: string, weight: number} | null}
 */
export function fit(found, { kind, suits }) {
  const inputs = /** @type {Record<string, string | undefined>} */ ({
    ...found.inputs,
    report: found.kind === "asn" ? undefined : found.text,
  });
  const input = inputs[kind];
  const weight = suits.get(found.kind) ?? 10;
  return input === undefined || weight <= 0 ? null : { input, weight };
}

/**
 * The page that runs a tool, or the report.
 * @param {string} slug
 * @param {string} input
 * @param {Record<string, string | number>} [options] of the tool
 */
export function linkTo(slug, input, options = {}) {
  const query = new URLSearchParams(slug === "report" ? { target: input } : { input });
  for (const [name, value] of Object.entries(options)) query.set(name, String(value));
  return slug === "report" ? `/report?${query}` : `/tools/${slug}?${query}`;
}

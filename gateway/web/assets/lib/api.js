// @ts-check
// The API as the pages see it: one envelope, whatever happened.

/**
 * @typedef {object} Answer
 * @property {boolean} ok
 * @property {number} status 0 where no answer came at all
 * @property {Record<string, any>} [data] on success
 * @property {string} [error] the API's own sentence, or ours where it gave none
 * @property {number} [durationMs] how long the service worked
 * @property {string} [requestId]
 * @property {number} [retryAfter] seconds
 * @property {string} [field] what a refusal is about: "input", or "options." and the name of an option
 */

/**
 * Runs one tool. It rejects only when the signal aborts.
 * @param {string} slug
 * @param {string} input
 * @param {Record<string, string | number>} options
 * @param {AbortSignal} signal
 * @returns {Promise<Answer>}
 */
export function runTool(slug, input, options, signal) {
  const body = Object.keys(options).length > 0 ? { input, options } : { input };
  return ask(`/api/tools/${encodeURIComponent(slug)}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });
}

/**
 * Takes one sample of a connection route.
 * @param {string} probe
 * @param {number} n
 * @param {AbortSignal} signal
 * @returns {Promise<Answer>}
 */
export function sampleConnection(probe, n, signal) {
  return ask(`/api/connection/${encodeURIComponent(probe)}?n=${n}`, { signal });
}

/**
 * @param {string} path
 * @param {RequestInit} init
 * @returns {Promise<Answer>}
 */
async function ask(path, init) {
  try {
    const response = await fetch(path, { cache: "no-store", credentials: "same-origin", redirect: "error", ...init });
    return await read(response);
  } catch (failure) {
    if (init.signal?.aborted) throw failure;
    return { ok: false, status: 0, error: "This service could not be reached. Check your connection and try again." };
  }
}

/**
 * @param {Response} response
 * @returns {Promise<Answer>}
 */
async function read(response) {
  const after = Number.parseInt(response.headers.get("Retry-After") ?? "", 10);
  const field = response.headers.get("X-Invalid-Field") ?? undefined;
  const answer = { status: response.status, retryAfter: Number.isFinite(after) ? after : undefined, field };
  const text = await response.text();
  let envelope;
  try {
    envelope = JSON.parse(text);
  } catch {
    envelope = null;
  }
  if (envelope === null || typeof envelope !== "object") {
    return { ...answer, ok: false, error: `The service answered with status ${response.status} and nothing that this page can read.` };
  }
  const { data, error, durationMs, requestId } = envelope;
  if (!response.ok || data === undefined || data === null) {
    const sentence = typeof error === "string" ? error : `The service answered with status ${response.status}.`;
    return { ...answer, ok: false, error: sentence, durationMs, requestId };
  }
  return { ...answer, ok: true, data, durationMs, requestId };
}

/**
 * The name of the field that a refusal is about, null where it is about none that the page has.
 * @param {Answer} answer
 * @param {string[]} names of the page's fields: "input", and the options by their own names
 * @returns {string | null}
 */
export function fieldOf({ status, field = "input" }, names) {
  if (status !== 400 && status !== 413) return null;
  const name = field.replace(/^options\./, "");
  return names.includes(name) ? name : null;
}

/**
 * Says when to come back, in words.
 * @param {Answer} answer
 * @returns {string}
 */
export function retryText(answer) {
  const s = answer.retryAfter;
  if (s === undefined) return "";
  if (s < 120) return `You can try again in ${s} ${s === 1 ? "second" : "seconds"}.`;
  return `You can try again in ${Math.ceil(s / 60)} minutes.`;
}

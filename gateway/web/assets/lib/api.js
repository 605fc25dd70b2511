// @ts-check
// The API as the pages see it: one envelope for every outcome.

/**
 * @typedef {object} Answer
 * @property {boolean} ok
 * @property {number} status 0 where no answer came at all
 * @property {import("./view.js").Data} [data] on success
 * @property {string} [error] the API's own sentence, or ours where it gave none
 * @property {number} [durationMs] how long the service worked
 * @property {string} [requestId]
 * @property {number} [retryAfter] seconds
 * @property {number} [left] how many requests are left to the visitor now; undefined where there is no limit
 * @property {import("./view.js").Conclusion} [conclusion] of a run that failed; its message is the error
 * @property {string} [field] what a refusal is about: "input", or "options." and the name of an option
 */

/**
 * @typedef {Record<string, unknown> & {kind: string}} Step what became known while a tool runs: its kind, and under
 *   that name what it is about
 */

const streamed = "application/x-ndjson";

/**
 * Runs one tool. It rejects only when the signal aborts.
 * @param {string} slug
 * @param {string} input
 * @param {Record<string, string | number | boolean>} options
 * @param {AbortSignal} signal
 * @param {(step: Step) => void} [onStep] is called with each step as it comes; without it none are requested
 * @returns {Promise<Answer>}
 */
export function runTool(slug, input, options, signal, onStep) {
  const body = Object.keys(options).length > 0 ? { input, options } : { input };
  return ask(
    `/api/tools/${encodeURIComponent(slug)}`,
    {
      method: "POST",
      headers: { "Content-Type": "application/json", ...(onStep && { Accept: streamed }) },
      body: JSON.stringify(body),
      signal,
    },
    onStep,
  );
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
 * @param {(step: Step) => void} [onStep]
 * @returns {Promise<Answer>}
 */
async function ask(path, init, onStep) {
  try {
    const response = await fetch(path, { cache: "no-store", credentials: "same-origin", redirect: "error", ...init });
    const answer =
      onStep && response.body && response.headers.get("Content-Type")?.startsWith(streamed)
        ? await readSteps(response.body, onStep)
        : await read(response);
    const left = Number.parseInt(response.headers.get("X-RateLimit-Remaining") ?? "", 10);
    return Number.isFinite(left) ? { ...answer, left } : answer;
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
  const envelope = parsed(await response.text());
  if (!envelope)
    return {
      ...answer,
      ok: false,
      error: `The service answered with status ${response.status}, and this page could not read the answer.`,
    };
  return opened(envelope, answer);
}

/**
 * The object that a text is as JSON, null where it is none.
 * @param {string} text
 * @returns {Record<string, any> | null}
 */
function parsed(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

/**
 * @param {Record<string, any>} envelope
 * @param {{status: number, retryAfter?: number, field?: string}} answer
 * @returns {Answer}
 */
function opened({ data, error, durationMs, requestId }, answer) {
  if (answer.status < 200 || answer.status > 299 || data === undefined || data === null) {
    const sentence = typeof error === "string" ? error : `The service answered with status ${answer.status}.`;
    return { ...answer, ok: false, error: sentence, durationMs, requestId };
  }
  return { ...answer, ok: true, data, durationMs, requestId };
}

/**
 * Reads a stream: a step a line, and last the envelope with its status.
 * @param {ReadableStream<Uint8Array<ArrayBuffer>>} body
 * @param {(step: Step) => void} onStep
 * @returns {Promise<Answer>}
 */
async function readSteps(body, onStep) {
  let last = null;
  let conclusion = null;
  for await (const line of linesOf(body)) {
    const value = parsed(line);
    const { step } = value ?? {};
    if (typeof step?.kind === "string") {
      onStep(step);
      // That of a failure comes right before its line; those before it are about a run that went on.
      if (step.kind !== "receipt") conclusion = step.kind === "conclusion" ? step.conclusion : null;
    } else if (typeof value?.status === "number") last = value;
  }
  if (!last) return { ok: false, status: 0, error: "The connection was lost before the answer was complete." };
  const retryAfter = typeof last.retryAfter === "number" ? last.retryAfter : undefined;
  const answer = opened(last, { status: last.status, retryAfter });
  return answer.ok || typeof conclusion?.message !== "string"
    ? answer
    : { ...answer, error: conclusion.message, conclusion };
}

/**
 * The lines of a text as they come; what follows the last line feed is no line.
 * @param {ReadableStream<Uint8Array<ArrayBuffer>>} body
 */
async function* linesOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (let part = await next(reader); part !== null; part = await next(reader)) {
    const lines = (rest + part).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}

/**
 * What comes next, null where nothing does: what breaks off has come to its end as well.
 * @param {ReadableStreamDefaultReader<string>} reader
 * @returns {Promise<string | null>}
 */
async function next(reader) {
  try {
    const { done, value } = await reader.read();
    return done ? null : value;
  } catch (failure) {
    if (failure instanceof DOMException && failure.name === "AbortError") throw failure;
    return null;
  }
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

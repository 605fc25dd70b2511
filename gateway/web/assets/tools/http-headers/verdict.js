// @ts-check
// One request: its timing, its status, its headers.

import { challengeWords } from "../../lib/challenge.js";
import { host, lower, ms } from "../../lib/format.js";
import { answered, statusMeaning, statusTone } from "../../lib/statuses.js";
import { certificateAside } from "../../lib/topics.js";
import { inWords } from "../../lib/words.js";
import { coding, http3 } from "./offers.js";

/** @typedef {import("./view.js").Header} Header */

/** @param {any} d @returns {string | null} the end of a sentence about the certificate, null where it is valid or there is none */
export function certificateFault(d) {
  return d.tls && !d.tls.authorized ? inWords(d.tls.authorizationError) : null;
}

/** Whether the answer has Location fields that differ, which browsers refuse whatever its status. @param {any} d */
export const conflict = (d) => new Set(d.headers.filter((/** @type {Header} */ h) => h.name === "location").map((/** @type {Header} */ h) => h.value)).size > 1;

/** @param {any} d */
export const plain = (d) => d.tls === null && d.status < 300;

/** Longer than this is worth a word, in milliseconds. */
const slow = 2000;

/** What an answer says anew at every request, and so is nothing to compare. */
const volatile = /^(date|age|expires|last-modified|etag|content-length|cf-ray|report-to|nel|server-timing|retry-after|traceparent|x-timer|x-served-by|x-cache.*|x-runtime|x-amz-.*|(x-)?ratelimit.*|.*-(request|trace|correlation)-?id)$/;

/**
 * A header without what is random in it: nonces, and a cookie's end.
 * @param {Header} header
 */
function steady(header) {
  return header.value.replace(/'nonce-[^']*'/g, "'nonce-…'").replace(header.name === "set-cookie" ? /;\s*expires=[^;]*/i : /$^/, "");
}

/** @type {import("../../lib/view.js").Judge} */
export default {
  verdict(d) {
    const fault = certificateFault(d);
    if (d.challenge) return { tone: fault ? "bad" : "warn", text: `${host(d.url)} answers ${answered(d)}. ${challengeWords(d.challenge)}` };
    if (conflict(d)) return { tone: "bad", text: `${host(d.url)} answers ${answered(d)} with conflicting Location headers. Browsers show an error instead of such an answer.` };
    const end = fault ? `, but its certificate is not valid: ${fault}.` : d.redirectsTo ? `, and sends visitors on to ${d.redirectsTo}.` : plain(d) ? ", without encryption." : ".";
    return { tone: fault ? "bad" : plain(d) ? "warn" : statusTone(d.status), text: `${host(d.url)} answers ${answered(d)} after ${ms(d.responseTimeMs)}${end}` };
  },

  concerns(d) {
    /** @type {import("../../lib/view.js").Concern[]} */
    const list = [];
    const fault = certificateFault(d);
    if (d.challenge) list.push({ tone: "warn", text: `${d.url} answers ${answered(d)}. ${challengeWords(d.challenge)}` });
    else if (d.status >= 400) list.push({ tone: d.status >= 500 ? "bad" : "warn", broken: d.status >= 500, text: `${d.url} answers ${answered(d)}: ${lower(statusMeaning(d.status))}` });
    if (conflict(d)) list.push({ tone: "bad", broken: true, text: `${d.url} sends conflicting Location headers. Browsers show an error instead of such an answer.` });
    if (fault) list.push({ tone: "bad", broken: true, text: `The certificate of ${host(d.url)} is not valid: ${fault}.`, ...certificateAside(host(d.url)) });
    if (d.timings.firstByteMs >= slow) list.push({ tone: "warn", text: `${host(d.url)} takes ${ms(d.timings.firstByteMs)} to begin its answer.` });
    if (plain(d)) list.push({ tone: "warn", text: `${d.url} is served without encryption and does not redirect to HTTPS.` });
    return list;
  },

  facts(d) {
    /** @type {import("../../lib/view.js").Facts} */
    const list = { "Status": answered(d), "Protocol": d.httpVersion, "Redirects to": d.redirectsTo ?? "", "TLS": d.tls?.version ?? "none", "Bot challenge": d.challenge?.vendor ?? "none", "HTTP/3": http3(d) ? "offered" : "not offered", "Compression": coding(d) ?? "none" };
    if (d.tls) list["Certificate"] = certificateFault(d) ?? "valid";
    for (const header of d.headers) {
      if (!volatile.test(header.name)) list[header.name] = [list[header.name] ?? [], steady(header)].flat();
    }
    return list;
  },
};

// @ts-check
// What came of HTTP/3 with a site, in words. The page asks for it by itself once the first answer stands (second.js).

import { el } from "./dom.js";
import { findingsOf, inFull } from "./findings.js";
import { listed, ms } from "./format.js";
import { badge, facts, folded, none, value } from "./parts.js";

/** @typedef {import("api").components["schemas"]["Http3"]} Http3 */
/** @typedef {import("./findings.js").Found<string> & {http3?: Http3}} Tried */

/** What is wrong, worst first; that it works and that it was not tried are said by the first row. */
const faults = /** @type {const} */ ([
  "HTTP3_DROPPED",
  "HTTP3_CERTIFICATE",
  "HTTP3_NOT_PUBLIC",
  "HTTP3_REFUSED",
  "HTTP3_FAILS",
  "HTTP3_DRAFT_ONLY",
  "HTTP3_HINTS_DIFFER",
  "HTTP3_NOT_ADVERTISED",
  "HTTP3_OFFERS_DIFFER",
]);

/** The part of an answer, which is folded: its head has the result. @param {Tried} d */
export function http3Part(d) {
  const { head, body } = http3Facts(d, "not tried");
  return folded("HTTP/3", head, el("div", { id: "second" }, ...body));
}

/**
 * @param {Tried | null} d null for what is not known yet
 * @param {string} note what is said where HTTP/3 is not in the answer
 * @returns {import("./view.js").Second}
 */
export function http3Facts(d, note) {
  const h = d?.http3;
  if (!d || !h) return { head: note, body: [facts([["Result", none(note)]])] };
  const [first, ...rest] = findingsOf(d, ...faults);
  const [result, sentence] = outcome(h, inFull(first));
  const body = [
    facts([
      ["Result", el("span", {}, sentence)],
      ["Offered in", offeredIn(h)],
      ["Alt-Svc", h.advertised && value(h.advertised, { what: "Alt-Svc", quiet: true })],
      ["Tried at", h.address && value(h.address, { what: "address" })],
      ["Handshake", h.handshakeMs === null ? null : ms(h.handshakeMs)],
    ]),
    ...rest.map((f) => el("p", { class: "hint" }, inFull(f))),
  ];
  return { head: result, body };
}

/** @param {Http3} h @param {string} fault @returns {[Node, string]} */
function outcome(h, fault) {
  if (h.works) return [badge("good", "works"), fault || "It works, so browsers can use it and connect faster."];
  if (h.works === null) return [badge("info", "not known"), h.reason ?? ""];
  if (fault) return [badge("warn", "does not work"), fault];
  return [badge("off", "not used"), "The site does not offer it. Browsers use HTTP/2 or HTTP/1.1, which is fine."];
}

/** @param {Http3} h */
function offeredIn(h) {
  const places = [
    /(?:^|[\s,;])h3=/.test(h.advertised ?? "") && "the Alt-Svc header",
    h.httpsRecord && "the HTTPS record",
  ].filter((place) => typeof place === "string");
  const unknown = h.httpsRecord === null && h.tried ? "; the HTTPS record could not be looked up" : "";
  return places.length > 0
    ? el("span", {}, listed(places) + unknown)
    : none(`neither Alt-Svc nor HTTPS record${unknown}`);
}

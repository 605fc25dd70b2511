// @ts-check
// The whole answer of a check inside its card on the report: what the page of its tool shows, of the answer that is
// there.

import { renderAnswer, renderUndrawn } from "./answer.js";
import { el } from "./dom.js";
import { loadView } from "./view.js";

/**
 * @param {import("./card.js").Check} check
 * @param {import("./api.js").Answer} reply with data
 * @returns {Promise<Node[]>}
 */
export async function wholeAnswer({ slug, input, options, style, judge, past }, reply) {
  const asked = { slug, input, options };
  const [view] = await Promise.all([loadView(slug), styled(style)]);
  const nodes =
    judge && view ? renderAnswer(judge, view, reply, asked, past ?? undefined) : renderUndrawn(reply, asked);
  // Several cards may be open, and an id is one element's.
  const box = el("div", {}, ...nodes);
  for (const node of box.querySelectorAll("#show-json, #download-json")) node.removeAttribute("id");
  // A card has no room beside its answer for a list of the parts.
  box.querySelector("nav.on-page")?.remove();
  return [box];
}

/**
 * Waits for the stylesheet of a view, which no report needs before a card is opened. An answer without it is still an
 * answer.
 * @param {string} address empty for none
 * @returns {Promise<unknown>}
 */
function styled(address) {
  if (address === "" || document.querySelector(`link[href="${CSS.escape(address)}"]`)) return Promise.resolve();
  return new Promise((done) => {
    const link = el("link", { rel: "stylesheet", href: address });
    link.addEventListener("load", done);
    link.addEventListener("error", done);
    document.head.append(link);
  });
}

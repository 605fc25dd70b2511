// @ts-check
// Stylesheets that a page loads when it needs them.

import { el } from "./dom.js";

/**
 * Waits for a stylesheet, or until it has failed: a page without it is still a page.
 * @param {string} address empty for none
 * @returns {Promise<unknown>}
 */
export function styled(address) {
  if (address === "" || document.querySelector(`link[href="${CSS.escape(address)}"]`)) return Promise.resolve();
  return new Promise((done) => {
    const link = el("link", { rel: "stylesheet", href: address });
    link.addEventListener("load", done);
    link.addEventListener("error", done);
    document.head.append(link);
  });
}

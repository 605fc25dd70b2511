// @ts-check
// A chain of redirects: what is compared with an earlier one.

import { answered } from "../../lib/statuses.js";

/** @typedef {import("api").components["schemas"]["RedirectChecker"]} RedirectChecker */
/** @typedef {import("api").components["schemas"]["RedirectHop"]} Hop */

/** @type {import("../../lib/view.js").Judge<RedirectChecker>} */
export default {
  facts: (d) => ({
    Chain: d.hops.map((h) => `${h.index + 1}. ${h.url}: ${answered(h)}`),
    Outcome: d.summary,
    "Redirect by the page": d.clientRedirect ? `${d.clientRedirect.url} after ${d.clientRedirect.delaySeconds} s` : "",
  }),
};

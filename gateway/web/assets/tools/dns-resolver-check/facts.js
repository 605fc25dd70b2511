// @ts-check
// dns-resolver-check: who gives which answer. Equal answers share a number and a colour.

import { inWords } from "../../lib/words.js";

/**
 * @typedef {{sign: string, colour: string, title: string, values: string[], ids: string[], truncated?: boolean}} Group
 */

/** @type {Record<string, string>} */
export const absent = { nodata: "ENODATA", nxdomain: "ENOTFOUND" };

/** @type {import("../../lib/view.js").Judge} */
export default {
  facts: (d) =>
    Object.fromEntries(
      d.resolvers.map((/** @type {any} */ r) => [
        r.name,
        r.values.length > 0 ? r.values : inWords(r.errorCode ?? absent[r.outcome]),
      ]),
    ),
};

// @ts-check
// A TCP port, address by address: what is compared with an earlier answer.

import { plural } from "../../lib/format.js";

/** @typedef {import("api").components["schemas"]["PortChecker"]} PortChecker */
/** @typedef {PortChecker["addresses"][number]} Tried */

/** The field's word for a state. @param {Tried["state"]} state */
export const stateWord = (state) => (state === "skipped" ? "not tried" : state);

/** @type {import("../../lib/view.js").Judge<PortChecker>} */
export default {
  facts: (d) => ({
    State: stateWord(d.state),
    "Not tried": plural(d.untried ?? 0, "address", "addresses"),
    ...Object.fromEntries(d.addresses.map((a) => [a.address, stateWord(a.state)])),
  }),
};

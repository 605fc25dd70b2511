// @ts-check
// What is worth comparing of the visitor's own address.

/** @type {import("../../lib/view.js").Judge} */
export default {
  facts: (d) => ({ Address: d.ip ?? "" }),
};

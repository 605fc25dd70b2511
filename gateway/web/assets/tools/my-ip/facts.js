// @ts-check
// What is compared of the visitor's own address.

/** @type {import("../../lib/view.js").Judge<import("api").components["schemas"]["MyIp"]>} */
export default {
  facts: (d) => ({ Address: d.ip ?? "" }),
};

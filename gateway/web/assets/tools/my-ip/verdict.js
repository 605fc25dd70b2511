// @ts-check
// The visitor's own address, large; or why we can't show it, and what the operator can do about it.

/** @type {import("../../lib/view.js").Judge} */
export default {
  verdict: (d) => (d.available ? { tone: "good", text: `Your public address is ${d.ip} (IPv${d.version}).` } : { tone: "warn", text: `We can't show your IP address. ${d.reason ?? ""}`.trim() }),

  concerns: (d) => (d.available ? [] : [{ tone: "info", text: `We can't show your IP address. ${d.reason ?? ""}`.trim() }]),

  facts: (d) => ({ Address: d.ip ?? "" }),
};

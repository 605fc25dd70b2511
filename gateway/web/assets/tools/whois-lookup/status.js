// @ts-check
// The status codes of domain names (EPP: RFC 5731, RFC 3915) in words. RDAP writes them as words, too (RFC 8056).

/** @typedef {import("api").components["schemas"]["WhoisLookup"]} WhoisLookup */

/** @param {string} status as the registry wrote it */
const keyOf = (status) => status.toLowerCase().replace(/[^a-z]/g, "");

/** The findings on statuses that are a fault. @type {Record<string, string>} */
const codes = {
  autorenewperiod: "STATUS_AUTO_RENEW",
  clienthold: "STATUS_HOLD",
  clientrenewprohibited: "STATUS_RENEW_PROHIBITED",
  inactive: "STATUS_INACTIVE",
  pendingcreate: "STATUS_PENDING_CREATE",
  pendingdelete: "STATUS_PENDING_DELETE",
  pendingrestore: "STATUS_PENDING_RESTORE",
  pendingtransfer: "STATUS_PENDING_TRANSFER",
  redemptionperiod: "STATUS_REDEMPTION",
  serverhold: "STATUS_HOLD",
  serverrenewprohibited: "STATUS_RENEW_PROHIBITED",
};

/** @param {WhoisLookup} d @param {string} status */
export const findingOfStatus = (d, status) => d.findings.find(({ code }) => code === codes[keyOf(status)]);

/** @type {Record<string, string>} */
const locked = { delete: "deleted", transfer: "transferred to another registrar", update: "changed" };

/** @type {Record<string, string>} */
const words = {
  ok: "Registered, without restrictions.",
  active: "Registered and in the DNS.",
  associated: "Other registrations refer to it.",
  locked: "It cannot be changed, transferred or deleted.",
  addperiod: "Newly registered: the registrar may still undo it at no cost.",
  renewperiod: "Just renewed: the registrar may still undo it at no cost.",
  transferperiod: "Just transferred to another registrar.",
  pendingrenew: "The renewal has been requested and is not complete yet.",
  pendingupdate: "A change has been requested and is not complete yet.",
};

/** What a status without a finding says. @param {string} status */
export function statusWords(status) {
  const key = keyOf(status);
  const [, side, what] = /^(client|server)(delete|transfer|update)/.exec(key) ?? [];
  if (what)
    return (
      `The ${side === "client" ? "registrar" : "registry"} does not let the name be ${locked[what]}, a common ` +
      "protection against theft and mistakes."
    );
  return Object.hasOwn(words, key) ? words[key] : Object.hasOwn(codes, key) ? "" : "Not a standard status.";
}

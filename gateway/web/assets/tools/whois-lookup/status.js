// @ts-check
// The status codes of domain names (EPP: RFC 5731, RFC 3915) in words. RDAP writes them as words, too (RFC 8056).

/** @type {Record<string, string>} */
const locked = { delete: "deleted", transfer: "transferred to another registrar", update: "changed" };

/** @type {Record<string, ["bad" | "warn" | "off", string]>} */
const meanings = {
  ok: ["off", "Registered, without restrictions."],
  active: ["off", "Registered and in the DNS."],
  inactive: ["warn", "Registered, but not in the DNS: no name servers are set."],
  associated: ["off", "Other registrations refer to it."],
  locked: ["off", "It cannot be changed, transferred or deleted."],
  addperiod: ["off", "Newly registered: the registrar may still undo it at no cost."],
  renewperiod: ["off", "Just renewed: the registrar may still undo it at no cost."],
  autorenewperiod: ["warn", "It expired and the registry renewed it automatically; the registrar may still let it go."],
  transferperiod: ["off", "Just transferred to another registrar."],
  redemptionperiod: ["bad", "Deleted: for some weeks the holder can still have it restored, for a fee."],
  pendingcreate: ["warn", "The registration has been requested and is not complete yet."],
  pendingdelete: ["bad", "About to be deleted; within days anyone can register it."],
  pendingrenew: ["off", "The renewal has been requested and is not complete yet."],
  pendingrestore: ["warn", "Deleted, and being restored."],
  pendingtransfer: ["warn", "A transfer to another registrar is under way; the holder should know about it."],
  pendingupdate: ["off", "A change has been requested and is not complete yet."],
};

/**
 * What a status means.
 * @param {string} status as the registry wrote it
 * @returns {{tone: "bad" | "warn" | "off", text: string}}
 */
export function statusMeaning(status) {
  const key = status.toLowerCase().replace(/[^a-z]/g, "");
  const [, side, what] = /^(client|server)(hold|delete|renew|transfer|update)/.exec(key) ?? [];
  const who = side === "client" ? "The registrar" : "The registry";
  if (what === "hold")
    return { tone: "bad", text: `${who} keeps the name out of the DNS: its website and mail do not work.` };
  if (what === "renew")
    return { tone: "warn", text: `${who} does not let the name be renewed, often because of a dispute or a deletion.` };
  if (what)
    return {
      tone: "off",
      text: `${who} does not let the name be ${locked[what]}, a common protection against theft and mistakes.`,
    };
  const [tone, text] = Object.hasOwn(meanings, key)
    ? meanings[key]
    : [/** @type {const} */ ("off"), "Not a standard status: the registry’s own word."];
  return { tone, text };
}

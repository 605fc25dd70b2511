// @ts-check
// The status codes of domain names (EPP, RFC 5731 and RFC 3915; RDAP writes them as words, RFC 8056), in words.

/** @type {Record<string, string>} */
const locked = { delete: "deleted", transfer: "moved to another registrar", update: "changed" };

/** @type {Record<string, ["bad" | "warn" | "off", string]>} */
const meanings = {
  ok: ["off", "Registered, without a restriction."],
  active: ["off", "Registered and in the DNS."],
  inactive: ["warn", "Registered, but not in the DNS: no nameservers are set."],
  associated: ["off", "Other registrations refer to it."],
  locked: ["off", "It cannot be changed, moved or deleted."],
  addperiod: ["off", "Newly registered: the registrar may still undo it at no cost."],
  renewperiod: ["off", "Just renewed: the registrar may still undo it at no cost."],
  autorenewperiod: ["warn", "Its time ran out and the registry renewed it by itself; the registrar may still let it go."],
  transferperiod: ["off", "Just moved to another registrar."],
  redemptionperiod: ["bad", "Deleted: for some weeks the holder may still have it restored, at a price."],
  pendingcreate: ["warn", "The registration is asked for and not done yet."],
  pendingdelete: ["bad", "About to be deleted; within days anybody may register it."],
  pendingrenew: ["off", "The renewal is asked for and not done yet."],
  pendingrestore: ["warn", "Deleted, and being restored."],
  pendingtransfer: ["warn", "A move to another registrar is under way; it should be known to the holder."],
  pendingupdate: ["off", "A change is asked for and not done yet."],
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
  if (what === "hold") return { tone: "bad", text: `${who} keeps the name out of the DNS: its websites and its mail do not work.` };
  if (what === "renew") return { tone: "warn", text: `${who} does not let the name be renewed, often because of a dispute or a deletion.` };
  if (what) return { tone: "off", text: `${who} does not let the name be ${locked[what]}, a usual protection against theft and mistakes.` };
  const [tone, text] = Object.hasOwn(meanings, key) ? meanings[key] : [/** @type {const} */ ("off"), "No standard code, but the registry’s own word."];
  return { tone, text };
}

// @ts-check
// The registration of a domain name, or of the network of an address.

import { dateTime } from "../../lib/format.js";

/** How many days before its end a registration deserves attention. */
const soon = 30;

/** How far the end of the registration is. @param {any} d @returns {"good" | "warn" | "bad"} */
export function endTone(d) {
  const left = Date.parse(d.domain.events.expires ?? "") - Date.now();
  return left < 0 ? "bad" : left < soon * 86_400_000 ? "warn" : "good";
}

/** @type {import("../../lib/view.js").Judge} */
export default {
  facts: ({ found, reason, domain, network }) => ({
    Registered: found ? "yes" : reason === "notFound" ? "the registry has no such registration" : "not known",
    Registrar: domain?.registrar?.name ?? "",
    Status: (domain ?? network)?.status ?? [],
    "Name servers": domain?.nameservers ?? [],
    Expires: domain?.events.expires ? dateTime(domain.events.expires) : "",
    Updated: domain?.events.updated ? dateTime(domain.events.updated) : "",
    Signed: { true: "yes", false: "no" }[String(domain?.dnssec.signed)] ?? "",
    Network: network?.cidrs ?? [],
    "Network name": network?.name ?? "",
  }),
};

// @ts-check
// The registration of a domain name, or of the network of an address: what is compared with an earlier answer.

import { dateTime } from "../../lib/format.js";

/** @type {import("../../lib/view.js").Judge<import("api").components["schemas"]["WhoisLookup"]>} */
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

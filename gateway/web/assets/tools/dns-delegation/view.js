// @ts-check
// The way down to a name: its zones, and what each of their servers answers.

import { none, section, table, value } from "../../lib/parts.js";
import { sh } from "../../lib/shell.js";

/** @typedef {import("./facts.js").DnsDelegation} DnsDelegation */
/** @typedef {DnsDelegation["zones"][number]} Zone */

/** @param {boolean | null | undefined} b */
const yes = (b) => (b === null || b === undefined ? "—" : b ? "yes" : "no");

/** @param {Zone} z */
function serversPart(z) {
  const columns = [
    { title: "Server" },
    { title: "Address" },
    { title: "UDP" },
    { title: "TCP" },
    { title: "Authoritative" },
    { title: "Serial" },
    { title: "EDNS" },
  ];
  const rows = z.servers.map((s) => [
    value(s.name, { what: "name" }),
    s.address ? value(s.address, { what: "address" }) : none("none"),
    s.udp,
    s.tcp,
    yes(s.authoritative),
    s.serial === null ? "—" : String(s.serial),
    yes(s.edns),
  ]);
  return section(
    z.zone === "." ? "The root" : z.zone,
    table({ caption: `Name servers of ${z.zone}`, columns, rows }),
  );
}

/** @type {import("../../lib/view.js").View<DnsDelegation>} */
export default {
  show: (d) => d.zones.filter((z) => z.servers.length > 0).map(serversPart),
  meaning: (d) => [d.conclusion.message],
  terminal: (_asked, d) => [{ label: "The same way down", command: sh`dig +trace ${d.domain}` }],
};

// @ts-check
// Ten echo probes to a host.

import { figures, lessons, liveEcho, probes, raw, roundTrips, sources, terminal } from "../../lib/echo.js";
import { plural } from "../../lib/format.js";
import { remarks } from "../../lib/notes.js";
import { folded } from "../../lib/parts.js";

/** @typedef {import("api").components["schemas"]["Ping"]} Ping */

/** @type {import("../../lib/view.js").View<Ping>} */
export default {
  live: (seen) => liveEcho(seen, 10),
  show: (d) => [...remarks(d), roundTrips(d), figures(d), folded("Probes", plural(d.sent, "probe"), probes(d)), raw(d)],
  lessons,
  terminal: (asked, d) => terminal(asked, d, 10, 0.2),
  sources,
};

// @ts-check
// Ten echo probes to a host.

import { figures, liveEcho, lossMeans, meaning, probes, raw, roundTrips, sources, terminal } from "../../lib/echo.js";
import { plural } from "../../lib/format.js";
import { folded } from "../../lib/parts.js";

/** @typedef {import("api").components["schemas"]["Ping"]} Ping */

/** @type {import("../../lib/view.js").View<Ping>} */
export default {
  live: (seen) => liveEcho(seen, 10),
  show: (d) => [roundTrips(d), figures(d), folded("Probes", plural(d.sent, "probe"), probes(d)), raw(d)],
  meaning: (d) => [...meaning(d), ...lossMeans(d)],
  terminal: (asked, d) => terminal(asked, d, 10, 0.2),
  sources,
};

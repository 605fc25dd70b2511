// @ts-check
// Ten echo probes to a host.

import { figures, lossMeans, meaning, probes, raw, roundTrips, terminal } from "../../lib/echo.js";
import { section } from "../../lib/parts.js";

/** @type {import("../../lib/view.js").View} */
export default {
  show: (d) => [roundTrips(d), figures(d), section("Probes", probes(d)), raw(d)],
  meaning: (d) => [...meaning(d), ...(d.received > 0 && d.lossPercent > 0 ? [lossMeans] : [])],
  terminal: (asked, d) => terminal(asked, d, 10, 0.2),
  sources: (d) => [{ name: "The host itself", server: d.address, fetchedAt: d.measuredAt, measured: true, shared: d.shared }],
};

// @ts-check
// Ten echo probes to a host.

import { compared, concerns, figures, lossMeans, meaning, probes, raw, roundTrips, terminal, verdict } from "../lib/echo.js";
import { ms, percent, plural } from "../lib/format.js";
import { section } from "../lib/parts.js";

/** @type {import("../lib/view.js").View} */
export default {
  verdict: (d) => verdict(d,
    `${d.target} answers in ${ms(d.medianMs)} (median of ${plural(d.sent, "probe")}), none lost.`,
    `${d.target} answers in ${ms(d.medianMs)} (median), but ${percent(d.lossPercent)} of ${plural(d.sent, "probe")} got lost.`),
  show: (d) => [roundTrips(d), figures(d), section("Probes", probes(d)), raw(d)],
  concerns,
  meaning: (d) => [...meaning(d), ...(d.received > 0 && d.lossPercent > 0 ? [lossMeans] : [])],
  terminal: (asked, d) => terminal(asked, d, 10, 0.2),
  facts: compared,
};

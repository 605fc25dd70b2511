// @ts-check
// Ten echo probes to a host.

import { compared, concerns, decided, echoTimes, verdict } from "../../lib/echo-verdict.js";
import { ms, percent, plural } from "../../lib/format.js";

/** @type {import("../../lib/view.js").Judge} */
export default {
  verdict: (d) => verdict(d,
    `${d.target} answers in ${ms(d.medianMs)} (median of ${plural(d.received, "probe")}), none lost.`,
    `${d.target} answers in ${ms(d.medianMs)} (median), but ${percent(d.lossPercent)} of ${decided(d)} were lost.`),
  concerns,
  facts: compared,
  times: echoTimes,
};

// @ts-check
// Fifty echo probes to a host, and which of them got lost.

import { compared, concerns, verdict } from "../../lib/echo-verdict.js";
import { ms, percent, plural } from "../../lib/format.js";

/** @type {import("../../lib/view.js").Judge} */
export default {
  verdict: (d) => verdict(d,
    `Nothing lost: ${d.target} answered all ${plural(d.sent, "probe")}, median ${ms(d.medianMs)}.`,
    `${percent(d.lossPercent)} lost: ${d.target} answered ${d.received} of ${plural(d.sent, "probe")}, median ${ms(d.medianMs)}.`),
  concerns,
  facts: compared,
};

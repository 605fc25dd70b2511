// @ts-check
// Fifty echo probes to a host, and which of them got lost.

import { compared, concerns, decided, echoTimes, verdict } from "../../lib/echo-verdict.js";
import { ms, percent } from "../../lib/format.js";

/** @type {import("../../lib/view.js").Judge} */
export default {
  verdict: (d) => verdict(d,
    `Nothing lost: ${d.target} answered all ${decided(d)}, median ${ms(d.medianMs)}.`,
    `${percent(d.lossPercent)} lost: ${d.target} answered ${d.received} of ${decided(d)}, median ${ms(d.medianMs)}.`),
  concerns,
  facts: compared,
  times: echoTimes,
};

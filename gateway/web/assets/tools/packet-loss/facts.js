// @ts-check
// Fifty echo probes to a host, and which of them got lost.

import { compared, echoTimes } from "../../lib/echo-verdict.js";

/** @type {import("../../lib/view.js").Judge<import("api").components["schemas"]["PacketLoss"]>} */
export default { facts: compared, times: echoTimes };

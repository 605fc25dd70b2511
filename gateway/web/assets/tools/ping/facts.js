// @ts-check
// Ten echo probes to a host.

import { compared, echoTimes } from "../../lib/echo-verdict.js";

/** @type {import("../../lib/view.js").Judge<import("api").components["schemas"]["Ping"]>} */
export default { facts: compared, times: echoTimes };

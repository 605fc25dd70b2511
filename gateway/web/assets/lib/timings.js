// @ts-check
// The phases of a request as a table, each with what happens in it.

import { ms } from "./format.js";
import { table } from "./parts.js";

/**
 * @param {import("./picture.js").Timings} t
 * @returns {HTMLElement}
 */
export function timingTable(t) {
  const rest = t.totalMs - t.dnsMs - t.connectMs - (t.tlsMs ?? 0) - t.firstByteMs;
  /** @type {[string, number | null, string][]} */
  const rows = [
    ["DNS", t.dnsMs, "Finding the address; next to nothing where it is still remembered."],
    ["Connect", t.connectMs, "Opening the connection."],
    ["TLS", t.tlsMs, "Agreeing on encryption."],
    ["First byte", t.firstByteMs, "Waiting for the answer: the way there and back, and the server's work."],
    ["Other", Math.max(0, rest), "Gaps in between, and attempts that failed."],
    ["Total", t.totalMs, "From the start to the end of the headers."],
  ];
  return table({
    caption: "The steps of the request", columns: [{ title: "Step" }, { title: "Time", numeric: true }, { title: "Meaning" }], hideCaption: true,
    rows: rows.filter(([, took]) => took !== null).map(([name, took, what]) => [name, ms(took), what]),
  });
}

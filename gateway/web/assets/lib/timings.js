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
    ["DNS", t.dnsMs, "Finding the address of the name. Next to nothing where it was asked for shortly before."],
    ["Connect", t.connectMs, "Opening the connection: one way to the server and back."],
    ["TLS", t.tlsMs, "Agreeing on encryption and showing the certificate."],
    ["First byte", t.firstByteMs, "From the request sent to the answer's first byte: the way there and back, and the server's own work."],
    ["Other", Math.max(0, rest), "Gaps between the steps, and attempts at addresses that were slower or failed."],
    ["Total", t.totalMs, "From the start to the end of the headers."],
  ];
  return table({
    caption: "The steps of the request", columns: [{ title: "Step" }, { title: "Time", numeric: true }, { title: "Meaning" }], hideCaption: true,
    rows: rows.filter(([, took]) => took !== null).map(([name, took, what]) => [name, ms(took), what]),
  });
}

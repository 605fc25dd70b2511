// @ts-check
// The phases of a request, each with what happens in it.

import { el } from "./dom.js";
import { ms } from "./format.js";
import { facts, value } from "./parts.js";

/**
 * @param {import("./picture.js").Timings} t
 * @returns {HTMLElement}
 */
export function timingFacts(t) {
  const rest = t.totalMs - t.dnsMs - t.connectMs - (t.tlsMs ?? 0) - t.firstByteMs;
  /** @type {[string, number | null, string][]} */
  const rows = [
    ["DNS", t.dnsMs, "Finding the address of the name."],
    ["Connect", t.connectMs, "Opening the connection."],
    ["TLS", t.tlsMs, "Setting up encryption."],
    ["First byte", t.firstByteMs, "Waiting for the first byte."],
    ["Other", Math.max(0, rest), "Idle time and failed attempts."],
    ["Total", t.totalMs, "From the start to the end of the headers."],
  ];
  const known = rows.filter(([, took]) => took !== null);
  return facts(
    known.map(([name, took, what]) => [
      name,
      el(
        "span",
        { class: "phase" },
        value(ms(took), { what: name, mono: false }),
        el("span", { class: "muted" }, what),
      ),
    ]),
  );
}

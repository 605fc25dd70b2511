// @ts-check
// What a watch keeps of whether a site answers.

/** @type {Record<string, import("../../lib/view.js").Tone>} */
const tones = { up: "good", degraded: "warn", down: "bad" };

/** @type {import("../../lib/watch-record.js").Watcher} */
export default {
  measure: "response time",
  digest: (d) => ({
    state: d.verdict, tone: tones[d.verdict] ?? "info", address: "", times: d.verdict !== "down" && d.responseTimeMs !== null ? [d.responseTimeMs] : [],
    sent: 0, lost: 0, note: d.verdict === "up" ? "" : d.reason ?? "",
  }),
  turned: (before, now) => `it went from ${before.state} to ${now.state}${now.note ? `: ${now.note.replace(/\.$/, "")}` : ""}`,
};

// @ts-check
// What a report without a fault has proven: how long the certificate holds, what one request took, and the path.

import { pathBands, strip } from "./bands.js";
import { endOf } from "./certificate.js";
import { el } from "./dom.js";
import { toneOf } from "./findings.js";
import { ms, plural, shortDay } from "./format.js";
import { attempt } from "./view.js";

/** @typedef {import("api").components["schemas"]} Schemas */
/** @typedef {import("./dom.js").Child} Child */

/** @param {string} name @param {...Child} rest */
const named = (name, ...rest) => [el("strong", {}, name), " ", ...rest];

/** A network without who holds it. @param {{asn: number, name: string | null}} origin */
const briefly = ({ asn, name }) => `AS${asn} ${name?.split(" - ")[0] ?? ""}`.trim();

/** @param {Schemas["SslChecker"]} d */
function certificate(d) {
  const { validFrom } = d.certificate;
  const { end, days } = endOf(d.certificate);
  const [from, to] = [Date.parse(validFrom), Date.parse(end)];
  if (!d.authorized || !(from < to) || days < 0) return [];
  const past = Math.max(0, (to - from) / 86_400_000 - days);
  return strip([
    { size: past, colour: "fill-sunken", words: named("Valid", `since ${shortDay(validFrom)}`) },
    {
      size: days,
      colour: `fill-${toneOf(d)}`,
      words: named(`${plural(days, "day")} left`, `until ${shortDay(end)}`),
    },
  ]);
}

/** @param {Schemas["Uptime"]} d */
function request({ timings: t }) {
  if (!t) return [];
  /** @type {[string, number | null][]} */
  const phases = [
    ["DNS", t.dnsMs],
    ["Connect", t.connectMs],
    ["TLS", t.tlsMs],
    ["First byte", t.firstByteMs],
  ];
  const rest = t.totalMs - phases.reduce((sum, [, took]) => sum + (took ?? 0), 0);
  if (rest > t.totalMs / 20) phases.push(["Other", rest]);
  return strip(
    phases.flatMap(([name, took], i) =>
      took === null ? [] : [{ size: took, colour: `fill-${i + 1}`, words: named(name, ms(took)) }],
    ),
  );
}

/**
 * @param {ReadonlyMap<string, any>} answers by tool
 * @returns {Element[]}
 */
export function proven(answers) {
  const part = (/** @type {string} */ title, /** @type {string} */ slug, /** @type {(d: any) => Element[]} */ draw) => {
    const d = answers.get(slug);
    const drawn = d ? attempt(() => draw(d), []) : [];
    return drawn.length > 0 ? [el("section", {}, el("h3", {}, title), ...drawn)] : [];
  };
  const total = answers.get("uptime")?.timings?.totalMs;
  return [
    ...part("The certificate is valid", "ssl-checker", certificate),
    ...part(`One request took ${ms(total)}`, "uptime", request),
    ...part("The path by networks", "traceroute", (d) => pathBands(d.hops, briefly)),
  ];
}

// @ts-check
// The findings of many checks in one list.

/** @typedef {import("./view.js").Concern} Concern */
/** @typedef {{title: string, concerns: Concern[]}} Judged one check and the findings of its answer */

const order = ["fail", "warn", "info"];

const groups = ["broken", "safer", "note"];

/** @param {Concern} concern */
const groupRank = ({ group }) => groups.indexOf(group);

/** The rank of a finding, the worst lowest: by group, severity and weight. @param {Concern} concern */
const rank = (concern) => groupRank(concern) * 1000 + order.indexOf(concern.severity) * 200 - concern.weight;

/**
 * What a finding is about, by which the same fault is recognised in the answers of several checks: its subject, and
 * where it has none its row in the catalogues.
 * @param {Concern} concern
 */
const topicOf = ({ subject, code, severity, group, weight }) => subject ?? [code, severity, group, weight].join(" ");

/**
 * All findings, worst first and otherwise in the order of the checks. What several checks report is listed once: with
 * the worst tone of all, and in the words of the check that ranks it first.
 * @template {Judged} C
 * @param {C[]} checks
 * @param {(check: C) => boolean} [aside] whether a check is beside the point, so that its findings come last in their
 *   group
 * @returns {(Pick<Concern, "tone" | "code" | "text" | "remedy" | "group" | "subject" | "paste"> & {from:
 *   C[]})[]}
 */
export function attention(checks, aside = () => false) {
  const all = checks.flatMap((check) => check.concerns.map((concern) => ({ ...concern, from: check })));
  const sorted = all.sort(
    (a, b) => groupRank(a) - groupRank(b) || Number(aside(a.from)) - Number(aside(b.from)) || rank(a) - rank(b),
  );
  const first = new Map(sorted.toReversed().map((concern) => [topicOf(concern), concern.from]));
  return sorted
    .filter((concern) => first.get(topicOf(concern)) === concern.from)
    .map((concern, i, listed) => {
      const { code, text, remedy, group, subject, paste, from } = concern;
      // Other checks join the first of several findings that one check has of a topic.
      const leads = listed.findIndex((other) => topicOf(other) === topicOf(concern)) === i;
      const same = leads ? sorted.filter((other) => topicOf(other) === topicOf(concern) && other.from !== from) : [];
      const [{ tone }] = [concern, ...same].toSorted((a, b) => rank(a) - rank(b));
      return {
        tone,
        code,
        text,
        remedy,
        group,
        subject,
        paste,
        from: [...new Set([from, ...same.map((other) => other.from)])],
      };
    });
}

// @ts-check
// What makes a report. The form of its page is usable without, and has it fetched while a target is entered.

export { ended, makeCard, seconds } from "./card.js";
export {
  calmed,
  concernsOf,
  headline,
  inapplicable,
  makeOverview,
  missing,
  reportState,
  stateText,
} from "./overview.js";
export { paced } from "./paced.js";
export { groups, nearby, reading, settle } from "./report-cards.js";
export { checksFor, toolsOf } from "./report-checks.js";
export { exported, markdown, save, unmade } from "./report-files.js";
export { makeRun } from "./report-run.js";

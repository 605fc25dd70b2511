// Runs Lighthouse on each page and judges its scores: node judge.cjs LIGHTHOUSE ORIGIN REPORTS. Its reports stay in the folder
// REPORTS, and it ends with 1 where a page falls short.

const { execFileSync } = require("node:child_process");
const { mkdirSync, readFileSync } = require("node:fs");
const { join } = require("node:path");

const [lighthouse, origin, reports] = process.argv.slice(2);
const runs = 3;

/** The least that a page may score, of 100; of performance the median. */
const least = { performance: 95, accessibility: 98, "best-practices": 98, seo: 98 };

/** Those with an input ask search engines to stay away, which is no fault. */
const pages = [
  "/", "/report", "/api", "/privacy", "/tools/dns-lookup", "/tools/ping", "/history",
  "/report?target=example.com",
  "/tools/dns-lookup?input=example.com",
  "/tools/ssl-checker?input=expired.lab-site.com",
  "/tools/security-headers?input=https%3A%2F%2Fsec-bad.lab-site.com%2F",
  "/tools/traceroute?input=dirty.lab-transit.net",
];

const chromium = process.env.CHROME_PATH ?? "/usr/bin/chromium";
const flags = "--headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync";

/** Lighthouse now and then loses the beginning of a page's trace (NO_NAVSTART) and asks to be run again; twice it is. */
function lighthouseRun(options) {
  for (let left = 2; ; left--) {
    try {
      return execFileSync(process.execPath, [lighthouse, ...options], { stdio: ["ignore", "ignore", "inherit"], timeout: 180_000 });
    } catch (error) {
      if (left === 0) throw error;
    }
  }
}

/** One run: its scores by category, and the audits that fall short. */
function run(path, n) {
  const file = join(reports, `${path.replace(/[^a-z0-9]+/gi, "-").replace(/^-|-$/g, "") || "home"}-${n}.json`);
  const deliberate = path.includes("?") ? ["--skip-audits=is-crawlable"] : [];
  lighthouseRun([origin + path, "--quiet", "--output=json", `--output-path=${file}`, `--chrome-path=${chromium}`,
    `--chrome-flags=${flags}`, `--only-categories=${Object.keys(least)}`, ...deliberate]);
  const { categories, audits } = JSON.parse(readFileSync(file, "utf8"));
  const short = Object.values(categories).flatMap((category) => category.auditRefs
    .filter((ref) => ref.weight > 0 && audits[ref.id].score !== null && audits[ref.id].score < 0.9)
    .map((ref) => `${category.id}: ${audits[ref.id].title} (${audits[ref.id].displayValue ?? audits[ref.id].score})`));
  return { scores: Object.fromEntries(Object.entries(categories).map(([id, { score }]) => [id, Math.round(score * 100)])), short };
}

const median = (list) => list.slice().sort((a, b) => a - b)[Math.floor(list.length / 2)];

mkdirSync(reports, { recursive: true });
let failed = false;
for (const path of pages) {
  const all = Array.from({ length: runs }, (_, n) => run(path, n));
  const scores = Object.fromEntries(Object.keys(least).map((id) => {
    const each = all.map((one) => one.scores[id]);
    return [id, id === "performance" ? median(each) : Math.min(...each)];
  }));
  const below = Object.keys(least).filter((id) => scores[id] < least[id]);
  console.log(`${path}: ${Object.entries(scores).map(([id, score]) => `${id} ${score}`).join(", ")}`);
  if (below.length === 0) continue;
  failed = true;
  console.log(`  too low: ${below.join(", ")}`);
  for (const text of new Set(all.flatMap((one) => one.short))) console.log(`  ${text}`);
}
process.exitCode = failed ? 1 : 0;

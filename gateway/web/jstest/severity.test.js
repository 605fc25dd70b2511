// @ts-check
// One vocabulary of states: what pages, cards and files say of a status is the same word everywhere, and never the
// API's code.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { asHTML } from "../assets/lib/export.js";
import { lookOf, severities, tally, toneWords } from "../assets/lib/severity.js";
import { all, spread, tagged } from "./paper.js";

spread();
const { thumb } = await import("../assets/lib/thumb.js");
const { mark } = await import("../assets/lib/parts.js");

import { concernsIn, verdictOf } from "../assets/lib/view.js";

const folders = new URL("../assets/tools/", import.meta.url);
const recorded = new URL("../../../deploy/lab/e2e/testdata/golden/", import.meta.url);

/** What stands in the records for what changes at every run. @type {Record<string, any>} */
const masked = { __proto__: null, "<ms>": 1, "<time>": "2026-01-01T00:00:00Z", "<seconds>": 1, "<bool>": true };

/** The recorded answers of a tool that hold data. @param {string} slug @returns {any[]} */
function answers(slug) {
  const text = readFileSync(new URL(`${slug}.txt`, recorded), "utf8");
  return [...text.matchAll(/^\{\n {2}"data": [\s\S]*?^\}$/gm)].map(
    (m) => JSON.parse(m[0], (_, v) => masked[v] ?? v).data,
  );
}

/**
 * Codes that are no words: of severities, of robots.txt, of a port, of the DNS, of certificates; and moments for
 * machines.
 */
const codes = new RegExp(
  [
    /^(?:pass|fail|warn|info|error|notApplicable|noAddress|skipped|allowAll|disallowAll|rules)\b/,
    /\bE(?:NODATA|NOTFOUND|SERVFAIL|REFUSED|TIMEOUT)\b/,
    /CERT_|_CERT|ALTNAME_INVALID|\d{4}-\d\d-\d\dT\d\d/,
  ]
    .map((part) => part.source)
    .join("|"),
);

for (const slug of readdirSync(folders)) {
  test(`${slug}: verdict, facts and file hold words and no codes`, async () => {
    const judge = (await import(new URL(`${slug}/facts.js`, folders).href)).default;
    for (const data of answers(slug)) {
      for (const fact of Object.values(judge.facts(data)).flat()) assert.doesNotMatch(String(fact), codes);
      const check = {
        slug,
        title: slug,
        group: "All",
        input: "example.com",
        status: 200,
        ok: true,
        data,
        verdict: verdictOf(data),
        concerns: concernsIn(data) ?? [],
        facts: judge.facts(data),
      };
      const html = asHTML({
        target: "example.com",
        recognisedAs: "Domain name",
        at: "2026-11-21T12:00:00Z",
        summary: [],
        attention: [],
        checks: [check],
      });
      // The code of a finding stands behind its sentence.
      assert.doesNotMatch(
        html.replace(/<code>[A-Z0-9_]+<\/code>/g, ""),
        /\bE(?:NODATA|NOTFOUND|SERVFAIL|REFUSED|TIMEOUT)\b|CERT_|_CERT|ALTNAME_INVALID|notApplicable|disallowAll/,
      );
    }
  });
}

test("words of a record are left alone, codes or not", async () => {
  const { facts } = (await import(new URL("dns-lookup/facts.js", folders).href)).default;
  const detail = { cnameChain: [], extendedErrors: [], truncated: false };
  const texts = ["pass", "fail: no", "info", "EQUINIX", "AMAZON_AES", "2028-09-14T04:00:00Z"];
  assert.deepEqual(
    facts({ records: { TXT: texts, MX: [] }, errors: { MX: "ENODATA" }, details: { TXT: detail, MX: detail } }),
    { MX: "none", TXT: texts },
  );
});

const words = [...Object.values(severities).map(([, word]) => word), "suggestion"];

/** The words of the badges in a part of a page. @param {any} part @returns {string[]} */
const badges = (part) =>
  all({ children: [part] }, (node) => /^badge\b/.test(node.attributes.get("class") ?? "")).map(
    (node) => node.textContent,
  );

test("badges of controls, of panels and of findings say the same words", async () => {
  const asked = { slug: "x", input: "x", options: {} };
  const control = (/** @type {string} */ status) =>
    /** @type {any} */ ({
      id: status,
      name: status,
      status,
      present: true,
      value: "x",
      finding: "Found.",
      recommendation: null,
      reference: "x",
    });
  const { default: headers } = await import("../assets/tools/security-headers/view.js");
  /** @type {any} */
  const issues = ["fail", "warn", "info"].map((severity) => ({ code: severity, severity, message: "What." }));
  const shown = headers.show(
    /** @type {any} */ ({
      url: "https://a.example/",
      finalUrl: "https://a.example/",
      status: 200,
      redirectCount: 0,
      redirects: [],
      tls: null,
      headers: [],
      notice: null,
      newerHeaders: [],
      controls: ["pass", "fail", "warn", "info", "notApplicable", "fail"].map(control),
      cookies: [{ name: "a", secure: true, httpOnly: true, sameSite: "Lax", issues }],
      summary: { pass: 1, fail: 2, warn: 1, info: 1, notApplicable: 1 },
      httpRedirect: {
        status: 200,
        toHttps: false,
        location: null,
        verdict: "warn",
        finding: "Not redirected.",
        recommendation: null,
      },
    }),
    asked,
  );
  assert.deepEqual(badges(shown[1]), ["3 suggestions", "1 note", "1 good", "1 not applicable"]);
  assert.deepEqual(badges(shown[2]), ["suggestion"]);
  assert.deepEqual(badges(shown.find((/** @type {any} */ part) => /^Cookies/.test(part?.textContent ?? ""))), [
    "suggestion",
    "suggestion",
    "note",
  ]);

  const { default: mail } = await import("../assets/tools/email-dns-health/view.js");
  for (const data of answers("email-dns-health")) {
    const panels = all(
      { children: mail.show(data, asked).filter(Boolean) },
      (node) => node.attributes.get("class") === "mail-panel",
    );
    assert.equal(panels.length, 6);
    for (const panel of panels) assert.ok(words.includes(badges(panel)[0]), badges(panel)[0]);
  }

  const { default: tls } = await import("../assets/tools/ssl-checker/view.js");
  for (const data of answers("ssl-checker")) {
    const [, findings] = tls.show(data, asked);
    for (const badge of findings ? badges(findings) : []) assert.ok(words.includes(badge), badge);
  }
});

test("small pictures count in the same words", () => {
  const label = (/** @type {string} */ slug, /** @type {any} */ d) =>
    /** @type {any} */ (thumb(slug, d))?.attributes.get("aria-label");
  assert.equal(
    label("security-headers", {
      controls: ["fail", "fail", "warn", "pass"].map((status) => ({ name: status, status })),
    }),
    "Security headers: 3 suggestions and 1 good.",
  );
  assert.equal(
    label("email-dns-health", {
      checks: {
        mx: { status: "info" },
        spf: { status: "missing" },
        dmarc: { status: "error" },
        dkim: { status: "notApplicable" },
      },
    }),
    "Mail records: 1 not known, 1 note, 1 missing and 1 not applicable.",
  );
  assert.equal(
    label("uptime", { families: { ipv4: { state: "up" }, ipv6: { state: "noAddress" } } }),
    "IPv4: answers; IPv6: no address.",
  );
});

test("a word for each tone is the word for its severity", () => {
  for (const status of ["fail", "warn", "info", "pass"]) {
    const [tone, word] = severities[status];
    assert.equal(toneWords[/** @type {"good"} */ (tone)].toLowerCase(), word);
    assert.match(
      mark(/** @type {"good"} */ (tone)).textContent ?? "",
      new RegExp(`${toneWords[/** @type {"good"} */ (tone)]}: $`),
    );
  }
  const looks = ["pass", "pass", "warn"].map((status) => lookOf(status, "broken"));
  assert.equal(tally(looks), "1 warning and 2 good");
  assert.equal(tally([]), "");
});

for (const slug of readdirSync(folders))
  test(`${slug}: what could be safer is red nowhere on the page, nor in its small picture`, async () => {
    const view = (await import(new URL(`${slug}/view.js`, folders).href)).default;
    const calm = answers(slug).filter((d) => (d.findings ?? []).every((/** @type {any} */ f) => f.group !== "broken"));
    for (const data of calm) {
      const asked = { slug, input: data.url ?? data.domain ?? data.input ?? "example.com", options: {} };
      const drawn = [...view.show(data, asked), thumb(slug, data)].filter(Boolean);
      const red = all({ children: drawn }, (node) => /(?:^|[ -])bad(?: |$)/.test(node.attributes?.get("class") ?? ""));
      const said = red.map((node) => `${node.attributes.get("class")}: ${node.textContent}`);
      assert.deepEqual(said, [], data.conclusion?.message);
    }
  });

test("the table of each question, which is a file too, has words where the API has codes", async () => {
  const { default: view } = await import("../assets/tools/dns-lookup/view.js");
  const detail = {
    cnameChain: [],
    extendedErrors: [],
    truncated: false,
    ttl: 60,
    ageMs: 0,
    cached: false,
    durationMs: 1,
    rcode: "NOERROR",
    authenticated: false,
    resolver: null,
  };
  const failed = { MX: "ENODATA", CAA: "ENODATA", TXT: "ESERVFAIL", SOA: "ESERVFAIL" };
  /** @type {any} */
  const d = {
    domain: "a.example",
    records: { MX: [], CAA: [], TXT: [], SOA: [] },
    errors: failed,
    details: { MX: detail, CAA: detail, TXT: detail, SOA: detail },
  };
  const [table] = tagged(
    { children: view.show(d, { slug: "dns-lookup", input: "a.example", options: {} }).filter(Boolean) },
    "table",
  );
  assert.doesNotMatch(table.textContent, /ENODATA|ESERVFAIL|as above/);
  assert.match(table.textContent, /no record of this type \(NODATA\).*name servers fail, or .* \(SERVFAIL\)/);
});

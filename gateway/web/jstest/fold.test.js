// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { fold, forMailAlone, withoutSite } from "../assets/lib/fold.js";

/** @param {string} slug @param {string | number} end the code of its conclusion, or the status of its failure */
const check = (slug, end) => ({
  slug,
  stage: /** @type {any} */ ({
    state: "answered",
    reply:
      typeof end === "number"
        ? { ok: false, status: end }
        : { ok: true, status: 200, data: { conclusion: { code: end } } },
  }),
});

/** @param {string} group @param {string} code @param {...ReturnType<typeof check>} from */
const entry = (group, code, ...from) => ({ group, code, from });

/** @param {ReturnType<typeof fold<ReturnType<typeof check>, ReturnType<typeof entry>>>} folded */
const told = ({ entries, silent }) => [
  ...entries.map(({ code, from }) => `${code} ${from.map(({ slug }) => slug).join("+")}`),
  silent.map(({ slug }) => slug).join("+"),
];

test("what follows from a name that is not there is one finding", () => {
  const [dns, site, mail, chain] = [
    check("dns-lookup", "NAME_NOT_FOUND"),
    check("uptime", "NO_ADDRESS"),
    check("email-dns-health", "DOMAIN_NOT_FOUND"),
    check("dns-delegation", "NAME_NOT_IN_ZONE"),
  ];
  const moved = check("redirect-checker", "NO_CONNECTION");
  const [ping, holder, late] = [check("ping", 400), check("whois-lookup", "NOT_REGISTERED"), check("traceroute", 504)];
  const entries = [
    entry("broken", "NAME_NOT_FOUND", dns, site),
    entry("broken", "DELEGATION_LAME", chain),
    entry("broken", "NO_CONNECTION", moved),
    entry("safer", "DNSSEC_NO_DS", chain),
    entry("note", "NOT_REGISTERED", holder),
    entry("note", "SPF_MISSING", mail),
  ];
  assert.deepEqual(told(fold(entries, [dns, site, mail, chain, moved, ping, holder, late])), [
    "NAME_NOT_FOUND dns-lookup+uptime+redirect-checker+dns-delegation+email-dns-health",
    "DELEGATION_LAME dns-delegation",
    "NOT_REGISTERED whois-lookup",
    "ping",
  ]);
});

test("records that do not validate say nothing about mail", () => {
  const failing = (/** @type {string} */ slug) => {
    const one = check(slug, "DNSSEC_DS_KEY_MISSING");
    one.stage.reply.data.conclusion.state = "fail";
    return one;
  };
  const [chain, mail, headers] = [failing("dns-delegation"), check("email-dns-health", ""), check("http-headers", "")];
  const entries = [
    entry("broken", "DNSSEC_DS_KEY_MISSING", chain),
    entry("broken", "NOT_ENCRYPTED", headers),
    entry("safer", "DMARC_MISSING", mail),
  ];
  assert.deepEqual(told(fold(entries, [chain, mail, headers])), [
    "DNSSEC_DS_KEY_MISSING dns-delegation+email-dns-health",
    "NOT_ENCRYPTED http-headers",
    "",
  ]);
  // A signature that expires soon is another matter.
  chain.stage.reply.data.conclusion.state = "warn";
  assert.equal(fold(entries, [chain, mail, headers]).entries.length, 3);
});

test("what follows from a site that is down is one finding, and what does not is not", () => {
  const [site, robots, tls, mail] = [
    check("uptime", "DOWN"),
    check("robots-sitemap", "ROBOTS_UNREADABLE"),
    check("ssl-checker", "CERTIFICATE_REFUSED"),
    check("email-dns-health", "MAIL_FORGEABLE"),
  ];
  const [heads, moved, ping] = [check("http-headers", 504), check("redirect-checker", "NO_ANSWER"), check("ping", 502)];
  const entries = [
    entry("broken", "CERT_HAS_EXPIRED", tls),
    entry("broken", "NO_ANSWER", site, moved),
    entry("broken", "ROBOTS_UNREADABLE", robots),
    entry("safer", "UNREACHABLE", robots),
    entry("safer", "SPF_MISSING", mail),
  ];
  assert.deepEqual(told(fold(entries, [site, robots, tls, mail, heads, moved, ping])), [
    "CERT_HAS_EXPIRED ssl-checker",
    "NO_ANSWER uptime+redirect-checker+robots-sitemap+http-headers",
    "SPF_MISSING email-dns-health",
    "http-headers",
  ]);
});

test("a missing name is one finding, whichever check leads it and whatever the others call it", () => {
  const [chain, dns, mail] = [
    check("dns-delegation", "NOT_DELEGATED"),
    check("dns-lookup", "NAME_NOT_FOUND"),
    check("email-dns-health", "DOMAIN_NOT_FOUND"),
  ];
  const entries = [entry("broken", "NOT_DELEGATED", chain, dns), entry("broken", "DOMAIN_NOT_FOUND", mail)];
  const silent = ["ping", "traceroute"].map((slug) => check(slug, 400));
  assert.deepEqual(told(fold(entries, [chain, dns, mail, ...silent])), [
    "NOT_DELEGATED dns-delegation+dns-lookup+email-dns-health",
    "ping+traceroute",
  ]);
});

test("what follows from a name that fails DNSSEC validation is one finding", () => {
  const [site, heads] = [check("uptime", "DNSSEC_FAILS"), check("http-headers", 502)];
  const entries = [
    entry("broken", "DNSSEC_FAILS", site),
    entry("broken", "NO_ANSWER", check("redirect-checker", "NO_ANSWER")),
  ];
  assert.deepEqual(told(fold(entries, [site, heads])), [
    "DNSSEC_FAILS uptime+redirect-checker+http-headers",
    "http-headers",
  ]);
});

test("what nobody asked for is no problem of an address", () => {
  const [site, port, ping] = [check("uptime", "DOWN"), check("port-checker", "CLOSED"), check("ping", "UNREACHABLE")];
  const entries = [
    entry("broken", "CONNECTION_REFUSED", site),
    entry("broken", "CLOSED", port),
    entry("broken", "UNREACHABLE", ping),
    entry("note", "NOT_ANNOUNCED", ping),
  ];
  const groups = (/** @type {"address" | "domain"} */ kind) =>
    fold(entries, [site, port, ping], kind).entries.map(({ code, group }) => `${group} ${code}`);
  assert.deepEqual(groups("address"), [
    "broken UNREACHABLE",
    "note CONNECTION_REFUSED",
    "note CLOSED",
    "note NOT_ANNOUNCED",
  ]);
  assert.deepEqual(groups("domain"), [
    "broken CONNECTION_REFUSED",
    "broken CLOSED",
    "broken UNREACHABLE",
    "note NOT_ANNOUNCED",
  ]);
});

test("where nothing is the cause of all, everything stays", () => {
  const [site, robots] = [check("uptime", "UP"), check("robots-sitemap", "ROBOTS_UNREADABLE")];
  const entries = [entry("broken", "ROBOTS_UNREADABLE", robots)];
  assert.deepEqual(told(fold(entries, [site, robots, check("http-headers", 504)])), [
    "ROBOTS_UNREADABLE robots-sitemap",
    "",
  ]);
});

/** Of a name that is there for mail. @param {string} lookup @param {string} state @param {...string} codes of mail */
function forMail(lookup, state, ...codes) {
  const mail = check("email-dns-health", "MAIL");
  Object.assign(mail.stage.reply.data, { findings: codes.map((code) => ({ code })) });
  mail.stage.reply.data.conclusion.state = state;
  return [check("uptime", "NO_ADDRESS"), check("dns-lookup", lookup), mail, check("http-headers", 400)];
}

test("a name for mail only is no site that is down, unless a page was asked for", () => {
  for (const state of ["ok", "info", "warn", "fail"])
    assert.equal(forMailAlone(forMail("HAS_RECORDS", state), "domain"), true, state);
  assert.equal(forMailAlone(forMail("HAS_RECORDS", "ok"), "url"), false);
  assert.equal(forMailAlone(forMail("HAS_RECORDS", "unknown"), "domain"), false);
  assert.equal(forMailAlone(forMail("NAME_NOT_FOUND", "ok"), "domain"), false);
  assert.equal(forMailAlone(forMail("HAS_RECORDS", "ok", "MX_NULL"), "domain"), false);
  assert.equal(forMailAlone(forMail("HAS_RECORDS", "ok").slice(1), "domain"), false);
  const all = forMail("HAS_RECORDS", "warn");
  const entries = [
    entry("broken", "NO_ADDRESS", all[0]),
    entry("safer", "SPF_MISSING", all[2]),
    entry("note", "MTASTS_MISSING", all[2]),
  ];
  const put = withoutSite(entries, all);
  assert.deepEqual(told(put), [
    "SPF_MISSING email-dns-health",
    "NO_ADDRESS uptime",
    "MTASTS_MISSING email-dns-health",
    "http-headers",
  ]);
  assert.equal(put.entries[1].group, "note");
});

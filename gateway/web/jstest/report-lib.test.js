// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { attention } from "../assets/lib/attention.js";
import { cardFacts } from "../assets/lib/card-facts.js";
import { relevance, takesNoMail, turnOf } from "../assets/lib/rank.js";
import { countsOf, earlyState, standing, stateOf } from "../assets/lib/state.js";
import { factsOf } from "../assets/lib/tiles.js";

/**
 * What every answer begins with.
 * @param {import("../assets/lib/view.js").Conclusion["state"]} state
 * @param {string} code
 * @param {...string} findings codes
 * @returns {any}
 */
const concluded = (state, code, ...findings) => ({
  conclusion: { state, code, message: `It is ${code}.` },
  findings: findings.map((found) => ({ code: found, severity: "warn", message: `There is ${found}.` })),
});

/** @param {...string} codes of findings */
const mail = (...codes) => ({ ...concluded("ok", "MAIL", ...codes), checks: { mx: { hosts: [] } } });

/**
 * @type {[string, import("../assets/lib/recognise.js").Meaning, string, string, any?][]} the second comes after the
 *   first
 */
const orders = [
  ["of a URL the site comes before the names", "url", "ssl-checker", "dns-lookup"],
  ["of a URL the mail comes last", "url", "traceroute", "email-dns-health"],
  ["of an e-mail address the mail comes first", "email", "email-dns-health", "dns-lookup"],
  ["of an e-mail address the site is beside the point", "email", "ping", "uptime"],
  ["of a domain that takes none the mail comes last", "domain", "traceroute", "email-dns-health", mail("MX_NULL")],
  ["of an address the path comes first", "address", "ping", "whois-lookup"],
];

for (const [name, kind, first, second, data] of orders) {
  test(name, () => assert.ok(relevance(kind, { slug: first }) < relevance(kind, { slug: second, data })));
}

test("of a domain that takes mail, its mail is not beside the point", () => {
  assert.ok(relevance("domain", { slug: "email-dns-health", data: mail() }) < 100);
  assert.ok(relevance("domain", { slug: "email-dns-health" }) < 100, "before there is an answer");
  assert.equal(takesNoMail(undefined), false);
});

/** @param {"bad" | "info"} tone @param {string} text @param {string | null} [subject] */
const concern = (tone, text, subject = null) => ({
  tone,
  severity: /** @type {"fail" | "info"} */ (tone === "bad" ? "fail" : "info"),
  text,
  code: text,
  remedy: null,
  group: /** @type {const} */ ("safer"),
  weight: 0,
  subject,
  paste: null,
});

test("what is beside the point comes after all the rest, however bad", () => {
  const [a, b] = [
    { title: "mail", concerns: [concern("bad", "no SPF")] },
    { title: "web", concerns: [concern("info", "slow")] },
  ];
  assert.deepEqual(
    attention([a, b], (check) => check.title === "mail").map((c) => c.text),
    ["slow", "no SPF"],
  );
});

test("a topic keeps the worst tone where that is said beside the point", () => {
  const of = (/** @type {"bad" | "info"} */ tone, /** @type {string} */ title) => ({
    title,
    concerns: [concern(tone, title, "one")],
  });
  assert.deepEqual(
    attention([of("bad", "aside"), of("info", "main")], (check) => check.title === "aside").map((c) => [
      c.tone,
      c.text,
    ]),
    [["bad", "main"]],
  );
});

test("a card carries at most four facts, the telling ones first, lists by their first", () => {
  assert.deepEqual(
    cardFacts("ssl-checker", {
      Chain: ["a", "b"],
      "Valid to": "22 January 2027, 06:21:37 UTC",
      Issuer: "C=NL,O=Lab,CN=Lab CA",
      Trusted: "yes",
      "Protocol versions": ["TLSv1.2", "TLSv1.3"],
    }),
    [
      ["Trusted", "yes"],
      ["Valid to", "22 January 2027"],
      ["Issuer", "Lab CA"],
      ["Protocol versions", "TLSv1.2 + 1 more"],
    ],
  );
  assert.deepEqual(
    cardFacts("unknown-tool", { a: "1", b: [], c: "", d: "2", e: "3", f: "4", g: "5" }).map(([name]) => name),
    ["a", "d", "e", "f"],
  );
});

/** @param {...import("../assets/lib/view.js").Concern["group"]} groups */
const grouped = (...groups) =>
  groups.map((group) => ({ ...concern(group === "broken" ? "bad" : "info", "It fails."), group }));

test("counts are of problems and suggestions", () => {
  assert.equal(countsOf(grouped("broken", "safer", "broken", "note")), "2 problems, 1 suggestion");
  assert.equal(countsOf(grouped("note")), "");
});

/** @type {[string, Record<string, any>, string | null][]} which conclusion speaks for the target a.example */
const standings = [
  ["a site", { uptime: concluded("ok", "UP"), "email-dns-health": mail(), ping: concluded("ok", "PING") }, "UP"],
  ["a name for mail only", { uptime: concluded("fail", "NO_ADDRESS"), "email-dns-health": mail() }, "MAIL"],
  ["a name for nothing", { uptime: concluded("fail", "NO_ADDRESS") }, "NO_ADDRESS"],
  [
    "no such name",
    { "dns-lookup": concluded("fail", "NAME_NOT_FOUND"), uptime: concluded("fail", "NO_ADDRESS") },
    "NAME_NOT_FOUND",
  ],
  ["a port", { "port-checker": { ...concluded("ok", "OPEN"), port: 25 } }, "OPEN"],
  ["an address", { ping: concluded("ok", "PING"), "port-checker": { ...concluded("ok", "OPEN"), port: 443 } }, "PING"],
  [
    "a host that takes no mail",
    { "email-dns-health": mail("MX_IMPLICIT"), "packet-loss": concluded("ok", "LOSS") },
    "LOSS",
  ],
  ["a network", { "asn-lookup": concluded("ok", "ALLOCATED") }, "ALLOCATED"],
  ["nothing", {}, null],
];

for (const [name, answers, code] of standings)
  test(`the state of ${name}`, () =>
    assert.equal(standing("a.example", new Map(Object.entries(answers)))?.data.conclusion.code ?? null, code));

test("what was asked for decides which answer speaks", () => {
  const answers = new Map(
    /** @type {[string, any][]} */ ([
      ["uptime", concluded("ok", "UP")],
      ["email-dns-health", mail()],
      ["port-checker", { ...concluded("fail", "CLOSED"), port: 25 }],
    ]),
  );
  assert.equal(standing("a.example", answers)?.slug, "uptime");
  assert.equal(standing("post@a.example", answers)?.slug, "email-dns-health");
  assert.equal(standing("a.example:25", answers)?.slug, "port-checker");
});

test("the sentences on top have the conclusion and counts", () => {
  const up = new Map([["uptime", concluded("ok", "UP")]]);
  const down = new Map([["uptime", concluded("fail", "DOWN")]]);
  const slow = new Map([["uptime", concluded("warn", "UP_SLOW")]]);
  const works = { tone: "good", text: "a.example works.", aside: "Nothing needs attention" };
  /** @type {[Map<string, any>, ReturnType<typeof grouped>, object][]} */
  const rows = [
    [up, grouped("note"), works],
    [up, grouped("safer", "safer", "note"), { ...works, aside: "2 suggestions" }],
    [up, grouped("broken", "safer"), { tone: "bad", text: "a.example: It fails.", aside: "1 suggestion" }],
    [up, grouped("broken", "broken"), { tone: "bad", text: "a.example: It fails.", aside: "2 problems" }],
    [down, grouped("broken", "safer"), { tone: "bad", text: "It is DOWN.", aside: "1 suggestion" }],
    [slow, grouped("safer"), { tone: "warn", text: "It is UP_SLOW.", aside: "1 suggestion" }],
    [new Map(), [], { tone: "warn", text: "No check of a.example gave an answer.", aside: "" }],
  ];
  for (const [answers, findings, want] of rows) assert.deepEqual(stateOf("a.example", answers, findings), want);
  const part = { ...grouped("broken")[0], tone: /** @type {const} */ ("warn") };
  assert.equal(stateOf("a.example", up, [part]).tone, "warn", "a part of it is broken");
});

test("the state is there as soon as the answer that decides", () => {
  const up = new Map([["uptime", { ...concluded("ok", "UP"), status: 200, statusText: "OK" }]]);
  const aside = "5 checks to go";
  const good = { tone: "good", text: "a.example answers 200 OK.", aside };
  assert.deepEqual(earlyState("a.example", "domain", up, grouped("safer"), 5), good);
  const down = new Map([["uptime", concluded("fail", "DOWN")]]);
  assert.deepEqual(earlyState("a.example", "url", down, grouped("broken", "safer"), 5), {
    tone: "bad",
    text: "It is DOWN.",
    aside,
  });
  const ping = new Map([["ping", concluded("ok", "PING")]]);
  assert.equal(earlyState("a.example", "domain", ping, [], 5), null);
  assert.equal(earlyState("a@a.example", "email", up, [], 5), null);
  assert.equal(earlyState("a.example", "domain", new Map(), [], 5), null);
  // Before its mail is known a name without an address may be one for mail alone.
  const bare = /** @type {[string, any][]} */ ([["uptime", concluded("fail", "NO_ADDRESS")]]);
  const mailed = new Map([...bare, ["email-dns-health", mail()]]);
  assert.equal(earlyState("a.example", "domain", new Map(bare), grouped("broken"), 5), null);
  assert.equal(earlyState("a.example", "url", new Map(bare), grouped("broken"), 5)?.tone, "bad");
  const said = "a.example has no website; mail is set up.";
  assert.equal(earlyState("a.example", "domain", mailed, grouped("safer"), 5)?.text, said);
  assert.deepEqual(stateOf("a.example", mailed, []), { tone: "good", text: said, aside: "Nothing needs attention" });
  const absent = new Map([["dns-lookup", concluded("fail", "NAME_NOT_FOUND")]]);
  assert.equal(earlyState("a.example", "domain", absent, grouped("broken"), 5)?.text, "It is NAME_NOT_FOUND.");
});

test("a report begins with what decides, and with what was asked for", () => {
  const order = ["dns-lookup", "uptime", "ssl-checker", "ping", "traceroute", "port-checker", "email-dns-health"];
  order.push("robots-sitemap", "whois-lookup", "packet-loss", "a tool of tomorrow");
  for (const kind of /** @type {const} */ (["domain", "url", "address"]))
    assert.deepEqual(
      order.toReversed().sort((a, b) => turnOf(kind, a) - turnOf(kind, b)),
      order,
    );
  assert.ok(turnOf("domain", "email-dns-health") < turnOf("domain", "http-headers"));
  assert.ok(turnOf("email", "email-dns-health") < turnOf("email", "dns-lookup"));
  assert.ok(turnOf("hostPort", "port-checker") < turnOf("hostPort", "dns-lookup"));
});

test("tiles are there from the start and filled as answers come", () => {
  const slugs = [
    "uptime",
    "dns-lookup",
    "ssl-checker",
    "whois-lookup",
    "email-dns-health",
    "dns-resolver-check",
    "ping",
  ];
  assert.deepEqual(
    factsOf(slugs, new Map()).map(([title, tile]) => [title, tile]),
    ["Website", "Address", "Certificate", "Registration", "Mail", "Resolvers"].map((title) => [title, null]),
  );
  const answers = new Map(
    /** @type {[string, any][]} */ ([
      [
        "uptime",
        {
          ...concluded("ok", "UP"),
          status: 200,
          statusText: "OK",
          responseTimeMs: 41.4,
          families: { ipv4: { address: "11.0.0.1" }, ipv6: { address: null } },
        },
      ],
      ["dns-lookup", { ...concluded("ok", "POINTS_TO"), records: { A: ["11.0.0.1"], AAAA: ["2a10::1"] } }],
      [
        "ssl-checker",
        {
          ...concluded("fail", "CERTIFICATE_REFUSED", "CERT_HAS_EXPIRED"),
          certificate: { daysRemaining: -3, validTo: "2026-11-20T00:00:00Z" },
        },
      ],
      ["email-dns-health", mail("MX_NULL")],
      [
        "dns-resolver-check",
        {
          ...concluded("ok", "AGREE"),
          status: "agree",
          recordType: "A",
          resolvers: [{}, {}],
          groups: [{ resolvers: ["x", "y"] }],
        },
      ],
      ["whois-lookup", "what no one foresaw"],
    ]),
  );
  const told = Object.fromEntries(factsOf(slugs, answers));
  assert.deepEqual(told.Website, { value: "200 OK", note: "after 41.4 ms", tone: "good" });
  assert.deepEqual(told.Address, { value: "11.0.0.1", note: "+ 1 more" });
  assert.deepEqual(told.Certificate, {
    value: "Expired",
    note: "It is CERTIFICATE_REFUSED.",
    tone: "bad",
  });
  assert.deepEqual(told.Mail, { value: "No mail server", note: "It is MAIL.", tone: "good" });
  assert.equal(told.Resolvers?.value, "All 2 agree");
});

/** @param {string} slug @param {any} data */
const tile = (slug, data) => factsOf([slug], new Map([[slug, data]]))[0][1];

const good = concluded("ok", "WELL");
const bad = concluded("fail", "BAD");

/** @type {[string, string, any, string, string?][]} the tool, its answer, and what the tile shows */
const tiles = [
  [
    "the service of a port is a guess",
    "port-checker",
    { ...good, port: 443, state: "open", service: "https" },
    "443 open",
    "usually https",
  ],
  ["a port that is closed", "port-checker", { ...bad, port: 4430, state: "closed" }, "4430 closed", "It is BAD."],
  [
    "a port that was not tried",
    "port-checker",
    { ...concluded("unknown", "NOT_TRIED"), port: 443, state: "unreachable" },
    "443 not tried",
    "It is NOT_TRIED.",
  ],
  ["every probe answered", "ping", { ...good, sent: 10, received: 10, medianMs: 20 }, "20.0 ms", "10 of 10 answered"],
  ["lost probes", "ping", { ...bad, sent: 10, received: 7, medianMs: 20 }, "20.0 ms", "It is BAD."],
  ["silence", "ping", { ...bad, sent: 10, received: 0, medianMs: null }, "No answer", "It is BAD."],
  [
    "several mail servers",
    "email-dns-health",
    { ...good, checks: { mx: { hosts: [{ exchange: "a" }, { exchange: "b" }] } } },
    "2 servers",
    "It is WELL.",
  ],
  [
    "mail that can be forged",
    "email-dns-health",
    {
      ...concluded("warn", "MAIL_FORGEABLE"),
      checks: { mx: { hosts: [{ exchange: "a" }] }, spf: { status: "missing" }, dmarc: { status: "missing" } },
    },
    "a",
    "no SPF, no DMARC",
  ],
  [
    "mail servers whose lookup failed",
    "email-dns-health",
    { ...bad, checks: { mx: { status: "error", hosts: null } } },
    "Not known",
    "It is BAD.",
  ],
  [
    "no address",
    "dns-lookup",
    { ...bad, records: {}, errors: { A: "ENODATA", AAAA: "ENOTFOUND" } },
    "None",
    "It is BAD.",
  ],
  [
    "an address whose lookup failed",
    "dns-lookup",
    { ...bad, records: {}, errors: { A: "ESERVFAIL", AAAA: "ENODATA" } },
    "Not known",
    "It is BAD.",
  ],
  [
    "resolvers that agree that there is none",
    "dns-resolver-check",
    {
      ...good,
      status: "agreeAbsent",
      recordType: "MX",
      resolvers: [{}, {}, {}, {}],
      groups: [{ resolvers: ["a", "b", "c", "d"] }],
    },
    "No record",
    "on MX records",
  ],
  [
    "a name that is not registered",
    "whois-lookup",
    { ...concluded("info", "NOT_REGISTERED"), network: null, domain: null },
    "Not registered",
    "It is NOT_REGISTERED.",
  ],
  [
    "a registry that cannot be queried",
    "whois-lookup",
    { ...concluded("unknown", "REGISTRY_NOT_KNOWN"), network: null, domain: null },
    "Unknown",
    "It is REGISTRY_NOT_KNOWN.",
  ],
];

for (const [name, slug, data, value, note] of tiles) {
  test(`a tile: ${name}`, () => assert.deepEqual([tile(slug, data)?.value, tile(slug, data)?.note], [value, note]));
}

test("the tone of a tile is that of the conclusion", () => {
  const site = { status: 200, statusText: "OK", responseTimeMs: 12 };
  for (const [state, tone] of Object.entries({ ok: "good", info: "info", warn: "warn", fail: "bad", unknown: "off" }))
    assert.equal(tile("uptime", { ...concluded(/** @type {any} */ (state), "CODE"), ...site })?.tone, tone);
  assert.equal(tile("uptime", { ...good, ...site })?.note, "after 12.0 ms");
  assert.equal(tile("uptime", { ...concluded("fail", "CERT"), ...site })?.note, "It is CERT.");
});

test("a check that failed has the brief form in its tile, unless another answers in its place", () => {
  const conclusion = { ...concluded("fail", "CONNECTION_REFUSED").conclusion, brief: "Refused" };
  const shown = (/** @type {any} */ answers) =>
    factsOf(["uptime", "http-headers"], answers, new Map([["uptime", conclusion]]));
  assert.deepEqual(shown(new Map()), [
    ["Website", { value: "Refused", note: "It is CONNECTION_REFUSED.", tone: "bad" }, "uptime"],
  ]);
  assert.equal(shown(new Map([["http-headers", { ...good, status: 200, responseTimeMs: 1 }]]))[0][2], "http-headers");
});

test("the time that is left of a certificate is that of its path", () => {
  const inDays = (/** @type {number} */ n) => new Date(Date.now() + (n + 0.5) * 86_400_000).toISOString();
  const certificate = { daysRemaining: 80, validTo: inDays(80), effectiveEnd: inDays(2) };
  assert.equal(tile("ssl-checker", { ...bad, certificate })?.value, "2 days left");
  const own = { ...certificate, effectiveEnd: certificate.validTo };
  for (const same of [own, { ...own, effectiveEnd: null }, { ...own, effectiveEnd: undefined }])
    assert.equal(tile("ssl-checker", { ...good, certificate: same })?.value, "80 days left");
});

// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { attention } from "../assets/lib/attention.js";
import { cardFacts } from "../assets/lib/card-facts.js";
import { relevance, takesNoMail } from "../assets/lib/rank.js";
import { countsOf, standing, stateOf } from "../assets/lib/state.js";
import { factsOf } from "../assets/lib/tiles.js";
import { factsInWords, inWords } from "../assets/lib/words.js";

/** @param {...string} codes */
const mail = (...codes) => ({
  overall: "pass",
  checks: {
    mx: { status: "pass", hosts: [], issues: codes.map((code) => ({ code })) },
    spf: { status: "missing" },
    dmarc: { status: "pass" },
  },
});

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

test("what is beside the point comes after all the rest, however bad", () => {
  const [a, b] = [
    { title: "mail", concerns: [{ tone: /** @type {const} */ ("bad"), text: "no SPF" }] },
    { title: "web", concerns: [{ tone: /** @type {const} */ ("info"), text: "slow" }] },
  ];
  assert.deepEqual(
    attention([a, b], (check) => check.title === "mail").map((c) => c.text),
    ["slow", "no SPF"],
  );
});

test("a topic keeps the worst tone where that is said beside the point", () => {
  const of = (/** @type {"bad" | "info"} */ tone, /** @type {string} */ title) => ({
    title,
    concerns: [{ tone, text: title, topic: "one" }],
  });
  assert.deepEqual(
    attention([of("bad", "aside"), of("info", "main")], (check) => check.title === "aside").map((c) => [
      c.tone,
      c.text,
    ]),
    [["bad", "main"]],
  );
});

/** @type {[string, string][]} */
const texts = [
  ["ENODATA", "none"],
  ["ENOTFOUND", "the name does not exist (NXDOMAIN)"],
  ["ETIMEOUT", "no answer came in time"],
  ["ESOMETHING", "ESOMETHING"],
  ["no (CERT_HAS_EXPIRED)", "no: it has expired"],
  ["no (SOME_NEW_CODE)", "no (SOME_NEW_CODE)"],
  ["EQUINIX", "EQUINIX"],
  ["ELISA", "ELISA"],
  ["AMAZON_AES", "AMAZON_AES"],
  ["Amazon (AMAZON_AES)", "Amazon (AMAZON_AES)"],
  ["fail: max-age=0", "fail: max-age=0"],
  ["2028-09-14T04:00:00Z", "2028-09-14T04:00:00Z"],
  ["Example Ltd (EX)", "Example Ltd (EX)"],
  ["v=spf1 -all", "v=spf1 -all"],
  ["constructor", "constructor"],
];

for (const [text, want] of texts) test(`in words: ${text}`, () => assert.equal(inWords(text), want));

test("lists of facts are put in words one by one", () => {
  assert.deepEqual(factsInWords({ A: ["11.0.0.1", "ENODATA"], MX: "ENODATA", Odd: /** @type {any} */ (undefined) }), {
    A: ["11.0.0.1", "none"],
    MX: "none",
    Odd: "",
  });
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

test("counts are of problems and warnings", () => {
  assert.equal(
    countsOf([{ tone: "bad" }, { tone: "warn" }, { tone: "bad" }, { tone: "info" }]),
    "2 problems, 1 warning",
  );
  assert.equal(countsOf([{ tone: "info" }]), "");
});

/** @type {[string, Record<string, any>, string | null][]} */
const standings = [
  ["up", { uptime: { verdict: "up", status: 200 } }, "a.example works"],
  ["down", { uptime: { verdict: "down", status: null } }, "a.example is down"],
  ["a server's error", { uptime: { verdict: "down", status: 503 } }, "a.example is down: it answers 503"],
  [
    "a certificate that is refused",
    { uptime: { verdict: "degraded", status: 200, certificateValid: false } },
    "Browsers refuse a.example’s certificate",
  ],
  [
    "a name for mail alone",
    {
      uptime: {
        verdict: "down",
        status: null,
        families: { ipv4: { state: "noAddress" }, ipv6: { state: "noAddress" } },
      },
    },
    "a.example has no website",
  ],
  [
    "a challenge",
    { uptime: { verdict: "down", status: 403, challenge: { vendor: "Lab" } } },
    "a.example answers with a bot challenge",
  ],
  [
    "no such name",
    { "dns-lookup": { conclusion: { code: "NO_SUCH_NAME" } }, uptime: { verdict: "down", status: null } },
    "a.example does not exist in the DNS",
  ],
  ["a port", { "port-checker": { host: "a.example", port: 25, state: "open" } }, "Port 25 of a.example is open"],
  [
    "an address",
    { ping: { received: 3 }, "port-checker": { host: "a.example", port: 443, state: "open" } },
    "a.example answers probes",
  ],
  [
    "a host that takes no mail",
    {
      "email-dns-health": { overall: "fail", checks: { mx: { issues: [{ code: "MX_IMPLICIT" }] } } },
      ping: { received: 3 },
    },
    "a.example answers probes",
  ],
  ["silence", { ping: { received: 0 } }, "a.example does not answer probes"],
  ["nothing", {}, null],
];

for (const [name, answers, want] of standings)
  test(`the state of ${name}`, () => assert.equal(standing("a.example", new Map(Object.entries(answers))), want));

test("what was asked for decides which answer speaks", () => {
  const answers = new Map(
    /** @type {[string, any][]} */ ([
      ["uptime", { verdict: "up", status: 200 }],
      ["email-dns-health", mail()],
      ["port-checker", { host: "a.example", port: 25, state: "closed" }],
    ]),
  );
  assert.equal(standing("a.example", answers), "a.example works");
  assert.equal(standing("post@a.example", answers), "Mail for post@a.example is set up well");
  assert.equal(standing("a.example:25", answers), "Port 25 of a.example is closed");
});

test("the sentence on top says state and counts", () => {
  const up = new Map([["uptime", { verdict: "up", status: 200 }]]);
  assert.deepEqual(stateOf("a.example", up, [{ tone: "bad" }, { tone: "warn" }]), {
    tone: "bad",
    text: "a.example works; 1 problem, 1 warning.",
  });
  assert.deepEqual(stateOf("a.example", up, [{ tone: "info" }]), {
    tone: "good",
    text: "a.example works; nothing needs attention.",
  });
  assert.deepEqual(stateOf("a.example", new Map(), []), {
    tone: "warn",
    text: "No check of a.example gave an answer.",
  });
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
          status: 200,
          statusText: "OK",
          responseTimeMs: 41.4,
          families: { ipv4: { address: "11.0.0.1" }, ipv6: { address: null } },
        },
      ],
      ["dns-lookup", { records: { A: ["11.0.0.1"], AAAA: ["2a10::1"] } }],
      ["ssl-checker", { authorized: false, certificate: { daysRemaining: -3, validTo: "2026-11-20T00:00:00Z" } }],
      ["email-dns-health", mail("MX_NULL")],
      [
        "dns-resolver-check",
        { status: "agree", recordType: "A", resolvers: [{}, {}], groups: [{ resolvers: ["x", "y"] }] },
      ],
      ["whois-lookup", "what nobody foresaw"],
    ]),
  );
  const told = Object.fromEntries(factsOf(slugs, answers));
  assert.deepEqual(told.Website, { value: "200 OK", note: "after 41.4 ms", tone: "good" });
  assert.deepEqual(told.Address, { value: "11.0.0.1", note: "+ 1 more" });
  assert.deepEqual(told.Certificate, { value: "Expired", note: "on 20 November 2026", tone: "bad" });
  assert.deepEqual(told.Mail, { value: "No mail server", note: "no SPF" });
  assert.equal(told.Resolvers?.value, "All 2 agree");
});

/** @param {string} slug @param {any} data */
const tile = (slug, data) => factsOf([slug], new Map([[slug, data]]))[0][1];

/** @param {number} received @param {object} [more] */
const probes = (received, more) => ({ sent: 10, received, undecided: 0, medianMs: 20, confirmation: null, ...more });

/** @type {[string, string, any, string, string?][]} the tool, its answer, and what the tile says */
const tiles = [
  [
    "the service of a port is a guess",
    "port-checker",
    { port: 443, state: "open", service: "https" },
    "443 open",
    "usually https",
  ],
  ["a port without a usual service", "port-checker", { port: 4430, state: "closed", service: null }, "4430 closed", ""],
  [
    "a port that was not tried",
    "port-checker",
    { port: 443, state: "skipped", service: "https" },
    "443 not tried",
    "usually https",
  ],
  ["every probe answered", "ping", probes(10), "20.0 ms", "none lost"],
  ["lost probes", "ping", probes(7), "20.0 ms", "3 of 10 lost"],
  ["a probe sent too late is not lost", "ping", probes(9, { undecided: 1 }), "20.0 ms", "none lost"],
  ["of those that count", "ping", probes(8, { undecided: 1 }), "20.0 ms", "1 of 9 lost"],
  [
    "a host that limits its answers loses none",
    "ping",
    probes(7, { confirmation: { sent: 6, received: 6, intervalMs: 1000 } }),
    "20.0 ms",
    "limits its answers",
  ],
  [
    "loss that slower probes confirm",
    "ping",
    probes(7, { confirmation: { sent: 6, received: 5, intervalMs: 1000 } }),
    "20.0 ms",
    "3 of 10 lost",
  ],
  ["both records", "email-dns-health", records("pass", "warn"), "No mail server", "SPF and DMARC found"],
  ["a wrong record", "email-dns-health", records("fail", "pass"), "No mail server", "SPF wrong"],
  [
    "records that could not be looked up",
    "email-dns-health",
    records("error", "error"),
    "No mail server",
    "SPF and DMARC not known",
  ],
  ["missing records", "email-dns-health", records("missing", "missing"), "No mail server", "no SPF, no DMARC"],
  [
    "resolvers that agree that there is none",
    "dns-resolver-check",
    {
      status: "agreeAbsent",
      recordType: "MX",
      resolvers: [{}, {}, {}, {}],
      groups: [{ resolvers: ["a", "b", "c", "d"] }],
    },
    "No record",
    "all 4 agree",
  ],
  [
    "a name that nobody registered",
    "whois-lookup",
    { network: null, domain: null, reason: "notFound" },
    "Not found",
    "not in the registry",
  ],
  [
    "a registry that nobody can ask",
    "whois-lookup",
    { network: null, domain: null, reason: "noRdapService" },
    "Unknown",
    "",
  ],
];

/** @param {string} spf @param {string} dmarc */
function records(spf, dmarc) {
  return {
    overall: "pass",
    checks: { mx: { status: "pass", hosts: [], issues: [] }, spf: { status: spf }, dmarc: { status: dmarc } },
  };
}

for (const [name, slug, data, value, note] of tiles) {
  test(`a tile: ${name}`, () => assert.deepEqual([tile(slug, data)?.value, tile(slug, data)?.note], [value, note]));
}

test("the website of a report is as red as its certificate", () => {
  const website = (/** @type {any} */ d) =>
    factsOf(["uptime"], new Map([["uptime", { status: 200, statusText: "OK", responseTimeMs: 12, ...d }]]))[0][1];
  assert.deepEqual(website({ certificateValid: false }), { value: "200 OK", note: "certificate refused", tone: "bad" });
  for (const certificateValid of [true, null])
    assert.deepEqual(website({ certificateValid }), { value: "200 OK", note: "after 12.0 ms", tone: "good" });
});

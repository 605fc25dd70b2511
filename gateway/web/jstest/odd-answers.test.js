// @ts-check
// What the pages of the web tools draw of challenges, dead addresses, conflicting redirects and early hints.

import assert from "node:assert/strict";
import { test } from "node:test";
import { spread, tagged } from "./paper.js";

spread();
const views = Object.fromEntries(
  await Promise.all(
    ["http-headers", "port-checker", "redirect-checker", "uptime"].map(async (slug) => [
      slug,
      (await import(`../assets/tools/${slug}/view.js`)).default,
    ]),
  ),
);

const timings = { dnsMs: 1, connectMs: 2, tlsMs: null, firstByteMs: 3, totalMs: 6 };

const headers = {
  url: "http://example.com/",
  status: 403,
  statusText: "Forbidden",
  responseTimeMs: 6,
  httpVersion: "HTTP/1.1",
  address: "192.0.2.1",
  headers: [{ name: "alt-svc", value: "x" }],
  timings,
  tls: null,
  redirectsTo: null,
};
const offers = {
  challenge: { vendor: "Cloudflare" },
  informational: [
    { status: 103, statusText: "Early Hints", headers: [{ name: "link", value: "</a.css>; rel=preload" }] },
  ],
  alternatives: [{ protocol: "h3", host: null, port: 443, maxAgeSeconds: 60 }],
  compression: { offered: ["gzip", "br"], coding: "br", varies: true },
};

/** @param {string} code @param {string | null} remedy */
const found = (code, remedy) => ({ code, severity: "warn", message: `${code}.`, remedy, subject: null });

/** @param {object} more */
const family = (more) => ({ state: "up", address: "192.0.2.1", status: 200, responseTimeMs: 6, reason: null, ...more });
const site = {
  url: "http://example.com/",
  online: true,
  verdict: "degraded",
  status: 200,
  statusText: "OK",
  responseTimeMs: 6,
  finalUrl: "http://example.com/",
  certificateValid: null,
  reason: "At 192.0.2.2: example.com refused the connection.",
  timings,
  families: {
    ipv4: family({}),
    ipv6: family({ state: "noAddress", address: null, status: null, responseTimeMs: null, reason: "No." }),
  },
};
const dead = {
  ...site,
  challenge: null,
  findings: [found("ADDRESS_DOWN", "Repair it.")],
  families: {
    ...site.families,
    ipv4: family({
      addresses: [
        { address: "192.0.2.1", state: "up", status: 200, reason: null },
        { address: "192.0.2.2", state: "down", status: null, reason: "example.com refused the connection." },
        { address: "192.0.2.3", state: "skipped", status: null, reason: "Later." },
      ],
    }),
  },
};

const tried = {
  advertised: 'h3=":443"',
  httpsRecord: true,
  tried: true,
  address: "192.0.2.7",
  handshakeMs: null,
};

const port = {
  host: "example.com",
  port: 443,
  reachable: true,
  state: "open",
  address: "192.0.2.1",
  responseTimeMs: 6,
  service: "https",
  addresses: [{ address: "192.0.2.1", family: 4, state: "open", responseTimeMs: 6, reason: null }],
};

/** @param {string[]} flags @param {object} more */
const chain = (flags, more) => ({
  url: "http://example.com/",
  outcome: "invalidLocation",
  finalUrl: null,
  finalStatus: null,
  redirectCount: 0,
  totalMs: 6,
  clientRedirect: null,
  summary: "Why.",
  conclusion: { state: "fail", code: "X", message: "Why." },
  findings: flags.includes("conflictingLocation") ? [found("LOCATION_CONFLICT", "Send one.")] : [],
  hops: [
    {
      index: 0,
      url: "http://example.com/",
      status: 302,
      statusText: "Found",
      location: "/",
      address: "192.0.2.1",
      responseTimeMs: 6,
      timings,
      flags,
      ...more,
    },
  ],
});

/**
 * @type {[string, string, any, string[], string[]][]} the tool, what is drawn, and what the page says and does not say
 */
const rows = [
  [
    "http-headers",
    "all offers",
    { ...headers, ...offers },
    ["Bot challengeCloudflare", "Before the answer: 103 Early Hints", "h3 at this host, port 443", "Brotli"],
    [],
  ],
  [
    "http-headers",
    "no offer",
    {
      ...headers,
      challenge: null,
      informational: [],
      alternatives: [],
      compression: { offered: ["gzip"], coding: null, varies: false },
    },
    ["not offered in this answer"],
    ["Before the answer", "Bot challenge"],
  ],
  ["http-headers", "an older answer", headers, ["403"], ["not offered", "Compression"]],
  [
    "http-headers",
    "two Locations",
    {
      ...headers,
      status: 302,
      headers: [
        { name: "location", value: "/a" },
        { name: "location", value: "/b" },
      ],
      findings: [found("LOCATION_CONFLICT", "Send one.")],
    },
    ["LOCATION_CONFLICT. Send one."],
    [],
  ],
  [
    "uptime",
    "a dead address",
    dead,
    ["192.0.2.2", "example.com refused the connection.", "not checked", "ADDRESS_DOWN. Repair it."],
    ["Bot challenge"],
  ],
  [
    "uptime",
    "a challenge",
    { ...dead, verdict: "down", online: false, status: 503, challenge: { vendor: "Akamai" } },
    ["Bot challengeAkamai"],
    [],
  ],
  [
    "uptime",
    "HTTP/3 that is dropped",
    {
      ...site,
      http3: { ...tried, works: false, reason: "It is silent." },
      findings: [found("HTTP3_DROPPED", "Open it.")],
    },
    ["does not work", "HTTP3_DROPPED. Open it.", "the Alt-Svc header and the HTTPS record", "192.0.2.7"],
    ["not tried"],
  ],
  [
    "uptime",
    "HTTP/3 that works",
    { ...site, http3: { ...tried, works: true, handshakeMs: 12, reason: null }, findings: [] },
    ["HTTP/3works", "It works, so browsers can use it", "Handshake12.0 ms"],
    ["not tried"],
  ],
  [
    "uptime",
    "HTTP/3 that is not offered",
    {
      ...site,
      http3: { ...tried, advertised: null, httpsRecord: null, works: false, reason: "Closed." },
      findings: [],
    },
    ["not used", "which is fine", "neither Alt-Svc nor HTTPS record; the HTTPS record could not be looked up"],
    ["Closed."],
  ],
  [
    "uptime",
    "HTTP/3 that is not known",
    { ...site, http3: { ...tried, tried: false, works: null, address: null, reason: "Enough." }, findings: [] },
    ["not known", "Enough."],
    ["192.0.2.7"],
  ],
  ["uptime", "an older answer", site, ["192.0.2.1"], ["Repair it."]],
  [
    "port-checker",
    "untried addresses",
    { ...port, untried: 2, findings: [found("MORE_ADDRESSES", null)] },
    ["MORE_ADDRESSES."],
    [],
  ],
  ["port-checker", "none untried", { ...port, untried: 0 }, [], ["not tried"]],
  ["port-checker", "an older answer", port, [], ["not tried"]],
  [
    "redirect-checker",
    "a conflict",
    chain(["temporary", "conflictingLocation"], { otherLocations: ["/b"] }),
    ["Another Location", "/b", "conflicting destinations", "LOCATION_CONFLICT. Send one."],
    ["step 1 again"],
  ],
  [
    "redirect-checker",
    "no conflict",
    chain(["temporary"], {}),
    ["step 1 again"],
    ["Another Location", "LOCATION_CONFLICT"],
  ],
];

for (const [slug, name, d, said, unsaid] of rows) {
  test(`${slug} draws ${name}`, () => {
    const asked = { slug, input: d.url ?? "example.com:443", options: {} };
    const parts = views[slug].show(d, asked).filter(Boolean);
    for (const table of parts.flatMap((/** @type {any} */ part) => tagged(part, "table"))) {
      assert.equal(new Set(tagged(table, "tr").map((/** @type {any} */ row) => row.children.length)).size, 1);
    }
    const text = parts.map((/** @type {any} */ part) => part.textContent).join(" ");
    for (const words of said) assert.ok(text.includes(words), `${words} is not in: ${text}`);
    for (const words of unsaid) assert.ok(!text.includes(words), `${words} is in: ${text}`);
    assert.ok(!/undefined|\[object|NaN/.test(text), text);
  });
}

test("the command asks for what the service asked for", () => {
  const line = (/** @type {any} */ d) => views["http-headers"].terminal({}, d)[0].command;
  assert.equal(
    line({ ...headers, ...offers }),
    "curl -sS -H 'Accept-Encoding: gzip, br' -D - -o /dev/null http://example.com/",
  );
  assert.equal(line(headers), "curl -sS -D - -o /dev/null http://example.com/");
});

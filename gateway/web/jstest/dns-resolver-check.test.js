// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

// The parts of a page listen to it from the start.
Object.assign(globalThis, { document: { addEventListener() {} } });

const view = (await import("../assets/tools/dns-resolver-check/view.js")).default;

/** @type {import("../assets/lib/view.js").Asked} */
const asked = { slug: "dns-resolver-check", input: "example.com", options: {} };

/** @param {boolean | null} [same] */
const resolver = (same = true) => ({
  id: "cloudflare",
  name: "Cloudflare",
  address: "1.1.1.1",
  outcome: "answer",
  errorCode: null,
  values: ["192.0.2.1"],
  ttl: 300,
  authenticated: false,
  durationMs: 1,
  filteredSuspected: false,
  cached: false,
  ageMs: 0,
  extendedErrors: [],
  matchesAuthoritative: same,
});

/** @param {object} [fields] */
const server = (fields) => ({
  name: "ns1.example.net",
  address: "192.0.2.53",
  outcome: "answer",
  errorCode: null,
  values: ["192.0.2.1"],
  alias: null,
  ttl: 300,
  durationMs: 1,
  ...fields,
});

/** @param {object} [fields] */
const own = (fields) => ({
  zone: "example.com",
  agreed: true,
  values: ["192.0.2.1"],
  alias: null,
  ttl: 300,
  servers: [server()],
  ...fields,
});

/** An answer on which all agree, but for what is given. @param {object} fields @returns {any} */
const answer = (fields) => ({
  domain: "example.com",
  recordType: "A",
  status: "agree",
  summary: "All the same.",
  resolvers: [resolver()],
  groups: [],
  failure: null,
  changing: null,
  authoritative: own(),
  ...fields,
});

const failed = server({ address: null, outcome: "error", reason: "It has no address.", values: [] });
/** @param {string} code */
const found = (code) => [{ code, message: code, remedy: "Mend it." }];
const changing = { resolvers: ["cloudflare"], seconds: 41 };

/** @type {[string, object, RegExp][]} an answer, and what it means */
const rows = [
  ["all the same", {}, /^People behind any of these resolvers get the same answer\. After a change, that is/],
  [
    "an older answer of the service",
    {
      authoritative: undefined,
      changing: undefined,
      failure: undefined,
      resolvers: [{ ...resolver(), matchesAuthoritative: undefined }],
    },
    /^People behind/,
  ],
  ["no servers found", { authoritative: null, resolvers: [resolver(null)] }, /^People behind/],
  [
    "servers with another answer",
    { resolvers: [resolver(false)], findings: found("NAME_SERVERS_ANSWER_DIFFERENTLY") },
    /gave us another/,
  ],
  ["servers that differ, by turn", { authoritative: own({ agreed: false }) }, /^People behind/],
  [
    "servers that differ",
    { recordType: "TXT", authoritative: own({ agreed: false }), findings: found("NAME_SERVERS_DIFFER") },
    /^NAME_SERVERS_DIFFER Mend it\.$/,
  ],
  [
    "servers that all fail",
    { recordType: "TXT", authoritative: own({ agreed: false, servers: [failed] }), resolvers: [resolver(null)] },
    /^People behind/,
  ],
  ["a CDN", { status: "variation" }, /^Large services/],
  ["a change", { status: "variation", changing, findings: found("CHANGE_IN_PROGRESS") }, /Just wait/],
  ["a conflict", { status: "conflict", recordType: "TXT" }, /^Records of this type/],
  [
    "a change of texts",
    { status: "conflict", recordType: "TXT", changing, findings: found("CHANGE_IN_PROGRESS") },
    /Just wait/,
  ],
  ["bad signatures", { status: "unavailable", findings: found("DNSSEC_FAILS") }, /^DNSSEC_FAILS Mend it\.$/],
  [
    "out of reach",
    { status: "unavailable", findings: found("NAME_SERVERS_UNREACHABLE") },
    /^NAME_SERVERS_UNREACHABLE /,
  ],
  ["no one answers", { status: "unavailable" }, /^Nothing can be concluded/],
];

for (const [name, fields, meaning] of rows) {
  test(`dns-resolver-check: ${name}`, () => assert.match(String(view.meaning(answer(fields), asked)[0]), meaning));
}

test("dns-resolver-check: each server that was asked has its command and its source", () => {
  const d = answer({ authoritative: own({ servers: [server(), failed] }) });
  assert.deepEqual(
    view
      .terminal(asked, d)
      .map((c) => c.command)
      .slice(1),
    ["dig @192.0.2.53 +norecurse +noall +comments +answer example.com A"],
  );
  assert.deepEqual(
    view.sources(d).map((s) => s.name),
    ["Cloudflare", "ns1.example.net"],
  );
});

test("dns-resolver-check: some of the domain's own servers fail", () => {
  const told = (/** @type {any[]} */ servers) =>
    view.meaning(answer({ authoritative: own({ servers }) }), asked).join(" ");
  assert.match(
    told([server(), failed, failed]),
    /2 of the domain’s own 3 name servers gave this service no usable answer\./,
  );
  assert.match(told([failed, failed]), /None of the domain’s own name servers gave this service a usable answer\./);
  for (const servers of [[server()], []]) assert.doesNotMatch(told(servers), /usable/);
});

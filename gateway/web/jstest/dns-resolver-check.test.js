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

// @ts-check
// What views draw of a run that goes on.
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeSteps } from "../assets/lib/steps.js";
import { all, spread, tagged } from "./paper.js";

spread();

/** Whether the runs have ended. */
let over = false;

/** What a view draws of some things, by its text. @param {string} slug @param {string} kind @param {any[]} things */
async function drawn(slug, kind, ...things) {
  const { default: view } = await import(`../assets/tools/${slug}/view.js`);
  const seen = makeSteps();
  for (const thing of things) seen.add({ kind, [kind]: thing });
  if (over) seen.stage = { stage: "ended", boundMs: 0, atMs: 0 };
  return view.live(seen, { slug, input: "a.example", options: {} });
}

/** @param {any[]} nodes */
const text = (nodes) => nodes.map((node) => node.textContent).join(" ");

/** @param {any[]} nodes @param {string} name @returns {any[]} the elements of a class */
const classed = (nodes, name) =>
  nodes.flatMap((node) => all(node, (one) => (one.attributes.get("class") ?? "").split(" ").includes(name)));

/** @param {string} id @param {string} name @param {string} outcome @param {...string} values */
const resolver = (id, name, outcome, ...values) => ({
  id,
  name,
  outcome,
  values,
  errorCode: outcome === "error" ? "ETIMEOUT" : null,
  filteredSuspected: false,
});

test("resolvers have their rows before they answer, and equal answers one sign", async () => {
  const [grid, answers] = await drawn(
    "dns-resolver-check",
    "resolver",
    resolver("google", "Google", "answer", "192.0.2.2", "192.0.2.1"),
    resolver("opendns", "OpenDNS", "answer", "192.0.2.1", "192.0.2.2"),
  );
  for (const name of ["Cloudflare", "Google", "Quad9", "OpenDNS"]) assert.ok(grid.textContent.includes(name), name);
  assert.equal(tagged(answers, "tr").length, 2, "one answer below the head");
  assert.ok(answers.textContent.includes("Google and OpenDNS"));
  const [, more] = await drawn(
    "dns-resolver-check",
    "resolver",
    resolver("google", "Google", "nodata"),
    resolver("quad9", "Quad9", "error"),
    resolver("opendns", "OpenDNS", "answer", "192.0.2.1"),
  );
  assert.equal(tagged(more, "tr").length, 4);
  assert.match(more.textContent, /no record.*192\.0\.2\.1.*failed/s);
});

test("mail has its six panels from the first on", async () => {
  const nodes = await drawn(
    "email-dns-health",
    "check",
    { name: "spf", status: "missing", summary: "No SPF record." },
    { name: "mx", status: "pass", summary: "One mail server." },
  );
  assert.equal(classed(nodes, "mail-panel").length, 6);
  assert.equal(text(nodes).split("being looked up").length - 1, 4);
  for (const part of ["No SPF record.", "One mail server.", "TLS reporting"])
    assert.ok(text(nodes).includes(part), part);
});

test("redirects are a chain without an end", async () => {
  const hop = {
    index: 0,
    url: "http://a.example/",
    status: 301,
    statusText: "Moved Permanently",
    location: "/next",
    address: "192.0.2.1",
    responseTimeMs: 12,
    flags: ["permanent", "relativeLocation"],
    timings: { dnsMs: 1, connectMs: 2, tlsMs: null, firstByteMs: 3, totalMs: 12 },
  };
  const nodes = await drawn("redirect-checker", "hop", hop, {
    ...hop,
    index: 1,
    url: "http://a.example/next",
    status: null,
    statusText: "no answer",
    location: null,
  });
  assert.equal(classed(nodes, "rc-step").length, 2);
  assert.equal(classed(nodes, "rc-end").length, 0);
  assert.ok(text(nodes).includes("relative address"));
});

test("addresses of a port are drawn as in the answer", async () => {
  const nodes = await drawn(
    "port-checker",
    "address",
    { address: "192.0.2.1", family: 4, state: "open", responseTimeMs: 8, reason: null },
    { address: "2001:db8::1", family: 6, state: "filtered", responseTimeMs: null, reason: "No answer." },
  );
  for (const part of ["192.0.2.1", "2001:db8::1", "8.00 ms"]) assert.ok(text(nodes).includes(part), part);
});

const hop = {
  ttl: 2,
  addresses: ["192.0.2.1"],
  hidden: false,
  rttsMs: [1, 2, 3],
  bestMs: 1,
  averageMs: 2,
  worstMs: 3,
  sent: 3,
  received: 3,
  lossPercent: 0,
};
const replies = [1, 2, 4].map((seq) => ({ seq, rttMs: 2000 + seq, ttl: 60 }));
/**
 * @type {[string, string, any[], string[], string[]][]} what is shown of a run that goes on, and of one that has ended
 */
const runs = [
  ["traceroute", "hop", [hop], ["Hops appear", "follow at the end", "no answer yet"], ["no answer", "192.0.2.1"]],
  ["packet-loss", "reply", replies, ["waiting"], ["3 of 50 probes had been answered.", "no answer"]],
  ["ping", "reply", replies.slice(0, 2), ["waiting"], ["2 of 10 probes had been answered."]],
  [
    "uptime",
    "address",
    [{ address: "192.0.2.1", state: "down", status: null, reason: "No answer." }],
    ["being asked"],
    ["no result", "192.0.2.1"],
  ],
];
for (const [slug, kind, things, running, ended] of runs) {
  test(`${slug} tells no more of a run that has ended than it knows`, async () => {
    const before = text(await drawn(slug, kind, ...things));
    over = true;
    const after = text((await drawn(slug, kind, ...things)).filter(Boolean));
    over = false;
    for (const words of running)
      assert.ok(before.includes(words) && !after.includes(words), `${words}: ${before} / ${after}`);
    for (const words of ended) assert.ok(after.includes(words), `${words}: ${after}`);
  });
}

test("a probe that an ended trace did not wait for is not told as unanswered", async () => {
  over = true;
  const told = text((await drawn("traceroute", "hop", { ...hop, sent: 4 })).filter(Boolean));
  over = false;
  assert.ok(told.includes("3 of 4") && !told.includes("unanswered"), told);
});

test("probes that an ended run did not come to have no place", async () => {
  const labels = (/** @type {any[]} */ nodes) => tagged(nodes[1], "text").map((label) => label.textContent);
  assert.ok(labels(await drawn("packet-loss", "reply", ...replies)).includes("49"));
  over = true;
  const ended = labels(await drawn("packet-loss", "reply", ...replies));
  over = false;
  assert.deepEqual(
    ended,
    ["0 ms", "1,000 ms", "2,000 ms", "3,000 ms", "1", "2", "3", "4"].filter((label) => ended.includes(label)),
  );
  assert.ok(ended.includes("4") && !ended.includes("5") && ended.includes("2,000 ms"), String(ended));
});

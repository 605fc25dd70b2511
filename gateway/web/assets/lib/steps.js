// @ts-check
// What a run has reported so far: the newest state of each thing. Everything in it may be hostile text or absent.

/** @typedef {import("./api.js").Step} Step */
/**
 * @typedef {{stage: string, whom?: string, boundMs: number, atMs: number, address?: string, dnsMs?: number, connectMs?:
 *   number, tlsMs?: number, attempt?: number, since?: number}} Stage what the run is busy with, what is known of the
 *   connection, and when it was reported, by performance.now()
 */
/**
 * @typedef {object} Seen
 * @property {(step: Step) => void} add
 * @property {(kind: string) => any[]} list what is known of a kind, in the order in which it was first reported
 * @property {() => string[]} kinds
 * @property {Stage | null} stage
 * @property {Map<string, Stage>} stages the newest of each connection
 * @property {import("./view.js").Conclusion | null} conclusion the worst so far; the answer has the last
 * @property {number} count how many things are known
 * @property {any} newest the thing that was reported last
 * @property {string} newestKind
 */

/** What distinguishes a thing of a kind. @type {Record<string, (thing: any) => unknown>} */
const keys = {
  hop: (h) => h.ttl ?? h.index,
  reply: (r) => r.seq,
  address: (a) => a.address,
  family: (f) => f.family,
  resolver: (r) => r.id,
  type: (t) => t.type,
  check: (c) => c.name,
  file: (f) => f.url,
  endpoint: (e) => e.address,
  protocol: (p) => p.protocol,
  revocation: () => "",
  caa: () => "",
  tlsa: () => "",
  zone: (z) => z.zone,
  server: (s) => [s.name, s.address].join(" "),
  source: (s) => [s.name, s.url, s.zone, s.server].join(" "),
};

/** @returns {Seen} */
export function makeSteps() {
  /** @type {Map<string, Map<unknown, any>>} */
  const known = new Map();
  return {
    stage: null,
    stages: new Map(),
    conclusion: null,
    count: 0,
    newest: null,
    newestKind: "",
    add(step) {
      const { kind } = step;
      if (kind === "stage") {
        const stage = /** @type {Stage} */ (/** @type {unknown} */ (step));
        this.stage = stage;
        if (typeof stage.address === "string")
          this.stages.set(`${stage.address} ${stage.attempt}`, { ...stage, since: performance.now() });
        return;
      }
      const thing = /** @type {any} */ (step[kind]);
      if (kind === "conclusion" && typeof thing?.message === "string") this.conclusion = thing;
      if (!Object.hasOwn(keys, kind) || thing === null || typeof thing !== "object") return;
      const things = known.get(kind) ?? new Map();
      const key = keys[kind](thing);
      if (!things.has(key)) this.count += 1;
      known.set(kind, things.set(key, thing));
      // What has answered is waited for no longer.
      if (typeof thing.status === "number")
        for (const connection of this.stages.keys())
          if (connection.startsWith(`${thing.address} `)) this.stages.delete(connection);
      this.newest = thing;
      this.newestKind = kind;
    },
    list: (kind) => [...(known.get(kind)?.values() ?? [])],
    kinds: () => [...known.keys()],
  };
}

/** One thing of a kind, and several. @type {Record<string, [string, string]>} */
const nouns = {
  hop: ["hop", "hops"],
  reply: ["reply", "replies"],
  address: ["address", "addresses"],
  family: ["address family", "address families"],
  resolver: ["resolver", "resolvers"],
  type: ["record type", "record types"],
  check: ["check", "checks"],
  file: ["file", "files"],
  endpoint: ["address", "addresses"],
  protocol: ["protocol version", "protocol versions"],
  revocation: ["revocation status", "revocation statuses"],
  caa: ["set of CAA records", "sets of CAA records"],
  tlsa: ["set of TLSA records", "sets of TLSA records"],
  zone: ["zone", "zones"],
  server: ["name server", "name servers"],
  source: ["source", "sources"],
};

/**
 * How much is known: "7 hops", "1 family and 2 addresses"; empty for nothing.
 * @param {Seen} seen
 * @returns {string}
 */
export function counted(seen) {
  return seen
    .kinds()
    .map((kind) => {
      const count = seen.list(kind).length;
      return `${count} ${nouns[kind][count === 1 ? 0 : 1]}`;
    })
    .join(", ");
}

/** @type {Record<string, string>} */
const stages = {
  resolving: "Looking up the name",
  connecting: "Connecting",
  handshake: "Setting up TLS",
  waiting: "Waiting for the answer",
  reading: "Reading the answer",
};

/** Who measures for the service, by the name that its streams give it; visitors need not know of it. */
const worker = "the diagnostics worker";

/**
 * What a run is busy with, in words without a full stop.
 * @param {Stage | null} stage
 * @returns {string}
 */
export function doing(stage) {
  if (!stage) return "Starting";
  if (stage.whom === worker) return "Measuring from our server";
  if (stage.stage === "asking") return stage.whom ? `Asking ${stage.whom}` : "Asking others";
  return stages[stage.stage] ?? "Working";
}

/** Every run ends by then, as long as its stream has not reported its own bound; in milliseconds. */
const usualBound = 30_000;

/**
 * How long a run may take at most, in whole seconds.
 * @param {Stage | null} stage
 * @returns {number}
 */
export function boundOf(stage) {
  const bound = stage?.boundMs;
  return Math.ceil((typeof bound === "number" && bound > 0 ? bound : usualBound) / 1000);
}

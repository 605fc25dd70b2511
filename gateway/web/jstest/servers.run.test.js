// @ts-check
// The lines for web servers, in the servers: each stands as a proxy before a site with every fault, and must then send
// what was recommended. A server that this machine lacks is left out; .ci/run installs all three.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { freePort, patiently, start } from "./running.js";
import { configurations, noLines, serverLines } from "../assets/tools/security-headers/servers.js";

/** @typedef {import("../assets/tools/security-headers/servers.js").Lines} Lines */

/**
 * What a control recommends, with the header that must come. @type {[string,
 * import("../assets/tools/security-headers/servers.js").Header, string, string][]}
 */
const advice = [
  [
    "hsts",
    { name: "Strict-Transport-Security", value: "max-age=31536000; includeSubDomains" },
    "strict-transport-security",
    "max-age=31536000; includeSubDomains",
  ],
  [
    "csp",
    {
      name: "Content-Security-Policy",
      value: "default-src 'self'; script-src 'nonce-{RANDOM}' 'strict-dynamic'",
      startingPoint: true,
    },
    "content-security-policy-report-only",
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'",
  ],
  [
    "frame-protection",
    { name: "Content-Security-Policy", value: "frame-ancestors 'self'" },
    "content-security-policy",
    "frame-ancestors 'self'",
  ],
  ["content-type-options", { name: "X-Content-Type-Options", value: "nosniff" }, "x-content-type-options", "nosniff"],
  [
    "referrer-policy",
    { name: "Referrer-Policy", value: "strict-origin-when-cross-origin" },
    "referrer-policy",
    "strict-origin-when-cross-origin",
  ],
  [
    "permissions-policy",
    { name: "Permissions-Policy", value: 'camera=(), geolocation=(self "https://a.example")' },
    "permissions-policy",
    'camera=(), geolocation=(self "https://a.example")',
  ],
  ["coop", { name: "Cross-Origin-Opener-Policy", value: "same-origin" }, "cross-origin-opener-policy", "same-origin"],
  [
    "corp",
    { name: "Cross-Origin-Resource-Policy", value: "same-origin" },
    "cross-origin-resource-policy",
    "same-origin",
  ],
];
const removed = ["x-powered-by", "x-backend", "public-key-pins"];
const cookies = [
  { name: "session", issues: [{ code: "NOT_SECURE" }, { code: "NOT_HTTP_ONLY" }, { code: "NO_SAME_SITE" }] },
  { name: "__Secure-id", issues: [{ code: "NONE_WITHOUT_SECURE" }, { code: "NOT_SECURE" }] },
];

/** A site with every fault, and one that sends nothing. @type {Record<string, Record<string, string | string[]>>} */
const sites = {
  bad: {
    "strict-transport-security": "max-age=0",
    "content-security-policy": "default-src *",
    "x-content-type-options": "none",
    "referrer-policy": "unsafe-url",
    "permissions-policy": "camera 'none'",
    "cross-origin-opener-policy": "unsafe-none",
    "cross-origin-resource-policy": "everybody",
    "x-powered-by": "PHP/5.6.40",
    "x-backend": "10.20.30.40",
    "public-key-pins": "max-age=1",
    server: "Secret/2.4.1",
    "set-cookie": ["session=1; Path=/", "__Secure-id=2; SameSite=None", "theme=3"],
  },
  bare: {},
};

/** @param {boolean} present @returns {Lines} every line there is */
function allLines(present) {
  const all = noLines();
  /** @type {import("../assets/tools/security-headers/servers.js").Advice[]} */
  const controls = advice.map(([id, set]) => ({ id, present, set }));
  if (present) {
    controls.push({ id: "information-leak", present, remove: ["server", "x-powered-by", "x-backend"] });
    controls.push({ id: "deprecated", present, remove: ["public-key-pins"] }, { id: "cookies", present });
  }
  for (const control of controls) {
    const lines = serverLines(control, cookies);
    if (!lines) throw new Error(`${control.id} has no lines`);
    for (const server of /** @type {(keyof Lines)[]} */ (Object.keys(all))) all[server].push(...lines[server]);
  }
  return all;
}

/** The lines that load modules of Apache. @param {...string} modules */
const loaded = (...modules) =>
  modules.map((m) => `LoadModule ${m}_module /usr/lib/apache2/modules/mod_${m}.so`).join("\n");

/** How to run a server with these lines: its program, and its arguments and configuration in a folder of its own. */
const programs = {
  nginx: {
    program: "nginx",
    args: (/** @type {string} */ dir) => ["-p", dir, "-c", join(dir, "conf"), "-e", join(dir, "log")],
    conf: (
      /** @type {string} */ lines,
      /** @type {number} */ port,
      /** @type {number} */ to,
      /** @type {string} */ dir,
    ) => `daemon off; pid ${dir}/pid; error_log ${dir}/log; events {}
http { access_log off; client_body_temp_path ${dir}/b; proxy_temp_path ${dir}/p;
fastcgi_temp_path ${dir}/f; uwsgi_temp_path ${dir}/u; scgi_temp_path ${dir}/s;
server { listen 127.0.0.1:${port}; location / { proxy_pass http://127.0.0.1:${to};
${lines}
} } }`,
  },
  Apache: {
    program: "apache2",
    args: (/** @type {string} */ dir) => ["-X", "-d", dir, "-f", join(dir, "conf")],
    conf: (
      /** @type {string} */ lines,
      /** @type {number} */ port,
      /** @type {number} */ to,
      /** @type {string} */ dir,
    ) => `Listen 127.0.0.1:${port}
ServerName lab
PidFile ${dir}/pid
ErrorLog ${dir}/log
Mutex file:${dir} default
${loaded("mpm_event", "authz_core", "headers", "proxy", "proxy_http")}
ProxyPass / http://127.0.0.1:${to}/
${lines}`,
  },
  Caddy: {
    program: "caddy",
    args: (/** @type {string} */ dir) => ["run", "--adapter", "caddyfile", "--config", join(dir, "conf")],
    conf: (/** @type {string} */ lines, /** @type {number} */ port, /** @type {number} */ to) => `{
admin off
}
http://127.0.0.1:${port} {
${lines}
reverse_proxy 127.0.0.1:${to}
}`,
  },
};

/** @param {number} port @returns {Promise<any>} the headers of an answer, and as distinct every value of each */
const headersFrom = (port) =>
  new Promise((resolve, reject) => {
    http
      .get({ host: "127.0.0.1", port, agent: false }, (/** @type {any} */ answer) => {
        answer.resume();
        resolve(Object.assign(answer.headers, { distinct: answer.headersDistinct }));
      })
      .on("error", reject);
  });

for (const [name, { program, args, conf }] of Object.entries(programs)) {
  for (const [kind, sent] of Object.entries(sites)) {
    const missing = spawnSync(program, ["-v"]).error !== undefined;
    test(
      `${name} sends what its lines say before a ${kind} site`,
      { skip: missing && `${program} is not here` },
      async (/** @type {any} */ t) => {
        const backend = http
          .createServer((/** @type {any} */ _, /** @type {any} */ answer) => {
            answer.writeHead(200, sent);
            answer.end("fine");
          })
          .listen(0, "127.0.0.1");
        t.after(() => backend.close());
        const dir = mkdtempSync(join(tmpdir(), "servers-"));
        t.after(() => rmSync(dir, { recursive: true, force: true }));
        const port = await freePort();
        await new Promise((resolve) => {
          if (backend.listening) resolve(null);
          else backend.on("listening", resolve);
        });
        const lines = new Map(configurations(allLines(kind === "bad"))).get(name) ?? "";
        writeFileSync(join(dir, "conf"), `${conf(lines, port, backend.address().port, dir)}\n`);
        const said = start(t, program, args(dir), dir);

        const headers = await patiently(() => headersFrom(port), said);
        for (const [id, , header, value] of advice) {
          const values = headers.distinct[header] ?? [];
          if (header === "content-security-policy" && kind === "bad")
            assert.deepEqual([...values].sort(), ["default-src *", value], id);
          else assert.deepEqual(values, [value], id);
        }
        if (kind === "bare") return;
        for (const header of removed) assert.equal(headers[header], undefined, header);
        assert.match(headers.server ?? "", /^[A-Za-z]*$/, "the version of the server is told");
        const jar = /** @type {string[]} */ (headers["set-cookie"]);
        assert.match(
          jar.find((c) => c.startsWith("session=1;")) ?? "",
          /; Secure(?=.*; HttpOnly)(?=.*; SameSite=Lax)/i,
        );
        assert.match(jar.find((c) => c.startsWith("__Secure-id=2;")) ?? "", /; SameSite=None(?=.*; Secure)/i);
        assert.equal(
          jar.find((c) => c.startsWith("theme=3")),
          "theme=3",
        );
      },
    );
  }
}

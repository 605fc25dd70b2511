// @ts-check
// What ssl-checker says to change, in the servers: each is started with every fault, then with the lines for one of
// them and for all, and asked by openssl what it takes. A server that this machine lacks is left out; .ci/run installs
// all three.
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { freePort, patiently, start } from "./running.js";
import { configurations } from "../assets/tools/ssl-checker/servers.js";

/** @typedef {import("../assets/tools/ssl-checker/servers.js").Change} Change */
/** @typedef {{tuned: string, chain: string}} Lines for versions and suites, and for the file of certificates */

const missing = (/** @type {string} */ program, /** @type {string[]} */ args) =>
  spawnSync(program, args).error ? `${program} is not here` : false;
const noOpenSSL = missing("openssl", ["version"]);

const certificates = mkdtempSync(join(tmpdir(), "tls-certificates-"));
after(() => rmSync(certificates, { recursive: true, force: true }));

/** An authority, an intermediate and a server's certificate, and a short group for DH. */
function issueCertificates() {
  const dir = certificates;
  const openssl = (/** @type {string[]} */ ...args) => {
    const { status, stderr } = spawnSync("openssl", args, { cwd: dir });
    assert.equal(status, 0, String(stderr));
  };
  const key = (/** @type {string} */ name) =>
    openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", `${name}.key`);
  const sign = (/** @type {string} */ name, /** @type {string} */ by, /** @type {string} */ extensions) => {
    key(name);
    openssl("req", "-new", "-key", `${name}.key`, "-subj", `/CN=${name}`, "-out", `${name}.csr`);
    writeFileSync(join(dir, `${name}.ext`), extensions);
    openssl(
      "x509",
      "-req",
      "-in",
      `${name}.csr`,
      "-CA",
      `${by}.pem`,
      "-CAkey",
      `${by}.key`,
      "-CAcreateserial",
      "-days",
      "2",
      "-extfile",
      `${name}.ext`,
      "-out",
      `${name}.pem`,
    );
  };
  key("root");
  openssl(
    "req",
    "-x509",
    "-new",
    "-key",
    "root.key",
    "-subj",
    "/CN=root",
    "-days",
    "2",
    "-addext",
    "keyUsage=keyCertSign",
    "-out",
    "root.pem",
  );
  sign("intermediate", "root", "basicConstraints=critical,CA:TRUE\nkeyUsage=keyCertSign\n");
  sign("key", "intermediate", "subjectAltName=DNS:a.example\n");
  writeFileSync(
    join(dir, "fullchain.pem"),
    `${readFileSync(join(dir, "key.pem"))}${readFileSync(join(dir, "intermediate.pem"))}`,
  );
  openssl("dhparam", "-dsaparam", "-out", "dh.pem", "1024");
}

before(() => {
  if (!noOpenSSL) issueCertificates();
});

/** The lines of a server with every fault that it can have. @type {Record<string, Record<Change, string>>} */
const faulty = {
  nginx: {
    versions: "ssl_protocols TLSv1 TLSv1.1 TLSv1.2;",
    suites: "ssl_ciphers ALL:@SECLEVEL=0; ssl_dhparam DIR/dh.pem;",
    chain: "ssl_certificate DIR/key.pem;",
  },
  Apache: {
    versions: "SSLProtocol -all +TLSv1 +TLSv1.1 +TLSv1.2",
    suites: "SSLCipherSuite ALL:@SECLEVEL=0",
    chain: "SSLCertificateFile DIR/key.pem",
  },
  Caddy: {
    versions: "tls {\n\tprotocols tls1.2 tls1.2\n}",
    suites: "tls {\n\tciphers TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256\n}",
    chain: "tls DIR/key.pem DIR/key.key",
  },
};

/** The lines that load modules of Apache. @param {...string} modules */
const loaded = (...modules) =>
  modules.map((m) => `LoadModule ${m}_module /usr/lib/apache2/modules/mod_${m}.so`).join("\n");

/**
 * How to run a server, each line where the page says that it belongs. @type {Record<string, {program: string, args:
 * (dir: string) => string[], conf: (lines: Lines, port: number, dir: string) => string}>}
 */
const programs = {
  nginx: {
    program: "nginx",
    args: (dir) => ["-p", dir, "-c", join(dir, "conf"), "-e", join(dir, "log")],
    conf: ({ tuned, chain }, port, dir) => `daemon off; pid ${dir}/pid; error_log ${dir}/log; events {}
http { access_log off; client_body_temp_path ${dir}/b; proxy_temp_path ${dir}/p;
fastcgi_temp_path ${dir}/f; uwsgi_temp_path ${dir}/u; scgi_temp_path ${dir}/s;
${tuned}
server { listen 127.0.0.1:${port} ssl; ssl_certificate_key ${certificates}/key.key;
${chain}
} }`,
  },
  Apache: {
    program: "apache2",
    args: (dir) => ["-X", "-d", dir, "-f", join(dir, "conf")],
    conf: ({ tuned, chain }, port, dir) => `Listen 127.0.0.1:${port}
ServerName lab
PidFile ${dir}/pid
ErrorLog ${dir}/log
Mutex file:${dir} default
${loaded("mpm_event", "authz_core", "ssl")}
${tuned}
<VirtualHost *:${port}>
SSLEngine on
SSLCertificateKeyFile ${certificates}/key.key
${chain}
</VirtualHost>`,
  },
  Caddy: {
    program: "caddy",
    args: (dir) => ["run", "--adapter", "caddyfile", "--config", join(dir, "conf")],
    conf: ({ tuned, chain }, port) => `{
admin off
auto_https disable_redirects
}
https://a.example:${port} {
bind 127.0.0.1
${chain}
${tuned}
respond fine
}`,
  },
};

/**
 * The configuration of a server with every fault but those that are mended.
 * @param {string} name
 * @param {Change[]} mended
 * @returns {Lines}
 */
function linesOf(name, mended) {
  const advised = (/** @type {Change[]} */ changes) =>
    changes.length > 0 ? (new Map(configurations(changes)).get(name) ?? "") : "";
  const left = (/** @type {Change[]} */ changes) =>
    changes.filter((change) => !mended.includes(change)).map((change) => faulty[name][change]);
  const tuned = [...left(["versions", "suites"]), advised(mended.filter((change) => change !== "chain"))].join("\n");
  const chain = mended.includes("chain") ? advised(["chain"]) : faulty[name].chain;
  // The page's folder is an example.
  const here = (/** @type {string} */ text) =>
    text
      .replaceAll("/etc/ssl/site/key.pem", `${certificates}/key.key`)
      .replaceAll("/etc/ssl/site", certificates)
      .replaceAll("DIR", certificates);
  // All of Caddy's are one directive, as the page has them.
  if (name === "Caddy" && mended.length === 3) return { tuned: "", chain: here(advised(mended)) };
  return { tuned: here(tuned), chain: here(chain) };
}

/**
 * Whether a server agreed. @param {number} port @param {...string} how @returns {Promise<boolean>}
 */
const takes = (port, ...how) =>
  new Promise((resolve) => {
    const client = execFile(
      "openssl",
      ["s_client", "-connect", `127.0.0.1:${port}`, "-servername", "a.example", ...how],
      { timeout: 10_000 },
      (/** @type {any} */ failure) => resolve(!failure),
    );
    client.stdin.end();
  });

/**
 * What is asked, by the change that ends it or brings it about. @type {{change: Change, how: string[], whenFaulty:
 * boolean, except?: string[]}[]} except are servers that never do
 */
const questions = [
  ...["-tls1", "-tls1_1"].map((version) => ({
    change: /** @type {const} */ ("versions"),
    how: [version, "-cipher", "ALL:@SECLEVEL=0"],
    whenFaulty: true,
    except: ["Caddy"],
  })),
  { change: "versions", how: ["-tls1_3"], whenFaulty: false },
  { change: "suites", how: ["-tls1_2", "-cipher", "ECDHE-RSA-AES128-SHA:@SECLEVEL=0"], whenFaulty: true },
  ...["AES128-GCM-SHA256", "DHE-RSA-AES128-GCM-SHA256"].map((suite) => ({
    change: /** @type {const} */ ("suites"),
    how: ["-tls1_2", "-cipher", `${suite}:@SECLEVEL=0`],
    whenFaulty: true,
    except: ["Caddy"],
  })),
  {
    change: "suites",
    how: ["-tls1_2", "-cipher", "AECDH-AES128-SHA:@SECLEVEL=0"],
    whenFaulty: true,
    except: ["Apache", "Caddy"],
  },
  { change: "chain", how: ["-verify_return_error", "-verify_hostname", "a.example"], whenFaulty: false },
];

/** @type {Change[][]} */
const sets = [[], ["versions"], ["suites"], ["chain"], ["versions", "suites", "chain"]];

for (const [name, { program, args, conf }] of Object.entries(programs)) {
  for (const mended of sets) {
    test(
      `${name} with the lines for ${mended.join(", ") || "nothing"}`,
      { skip: noOpenSSL || missing(program, ["-v"]) },
      async (/** @type {any} */ t) => {
        const dir = mkdtempSync(join(tmpdir(), "tls-servers-"));
        t.after(() => rmSync(dir, { recursive: true, force: true }));
        const port = await freePort();
        writeFileSync(join(dir, "conf"), `${conf(linesOf(name, mended), port, dir)}\n`);
        const said = start(t, program, args(dir), dir);
        const strong = ["-tls1_2", "-cipher", "ECDHE-RSA-AES128-GCM-SHA256"];
        await patiently(async () => assert.ok(await takes(port, ...strong), "no TLS 1.2 with a strong suite"), said);

        const asked = questions.filter(({ except = [] }) => !except.includes(name));
        const answers = await Promise.all(
          asked.map(({ how }) => takes(port, "-CAfile", join(certificates, "root.pem"), ...how)),
        );
        for (const [i, { change, how, whenFaulty }] of asked.entries()) {
          // Old versions have no suite among the strong ones, so the lines for suites end them too.
          if (change === "versions" && whenFaulty && mended.includes("suites"))
            assert.equal(answers[i], false, how.join(" "));
          else assert.equal(answers[i], mended.includes(change) ? !whenFaulty : whenFaulty, how.join(" "));
        }
      },
    );
  }
}

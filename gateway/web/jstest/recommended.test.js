// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { recommended } from "../assets/tools/security-headers/recommended.js";

const csp = { name: "Content-Security-Policy", value: "default-src 'self'; script-src 'nonce-{RANDOM}'" };
const hsts = { name: "Strict-Transport-Security", value: "max-age=31536000" };

for (const [
  what,
  control,
  want,
] of /** @type {[string, import("../assets/tools/security-headers/recommended.js").Recommending, object][]} */ ([
  [
    "a header alone",
    { recommendation: "Strict-Transport-Security: max-age=31536000", set: hsts },
    { ...hsts, words: "" },
  ],
  [
    "words behind it",
    { recommendation: `${csp.name}: ${csp.value} (with {RANDOM} as random bits)`, set: csp },
    { ...csp, words: "With {RANDOM} as random bits." },
  ],
  [
    "words before it",
    {
      recommendation: "Install a valid certificate, then send: Strict-Transport-Security: max-age=31536000",
      set: hsts,
    },
    { ...hsts, words: "Install a valid certificate, then send." },
  ],
  [
    "words on both sides",
    { recommendation: "Redirect first. Strict-Transport-Security: max-age=31536000 (on the redirects too)", set: hsts },
    { ...hsts, words: "Redirect first. On the redirects too." },
  ],
  [
    "a text that was cut inside the header",
    { recommendation: "Content-Security-Policy: default-src", set: csp },
    { ...csp, words: "" },
  ],
  ["no header", { recommendation: "Do not send: server" }, { name: "", value: "", words: "Do not send: server." }],
  ["nothing", { recommendation: null }, { name: "", value: "", words: "" }],
])) {
  test(`what is recommended: ${what}`, () => assert.deepEqual(recommended(control), want));
}

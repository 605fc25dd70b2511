// @ts-check
// The TLS of a server: its certificate, its chain, and what it accepts.

import { endOf } from "../../lib/certificate.js";
import { el } from "../../lib/dom.js";
import { findingOf, toneOf } from "../../lib/findings.js";
import { askVisitor } from "../../lib/for-you.js";
import { counted, dateTime, day, duration, listed, ms, plural } from "../../lib/format.js";
import { badge, cut, facts, folded, more, none, notice, section, table, value, values } from "../../lib/parts.js";
import { timeline } from "../../lib/picture.js";
import { lookOf } from "../../lib/severity.js";
import { sh } from "../../lib/shell.js";
import { advice } from "./advice.js";
import { authority } from "./authority.js";
import { endpoints } from "./endpoints.js";
import { matrix } from "./matrix.js";
import { others } from "./others.js";
import { left, notYet, unverified } from "./facts.js";

/** @typedef {import("./suites.js").SslChecker} SslChecker */
/** @typedef {import("./facts.js").Certificate} Certificate */

/** @param {SslChecker} d */
function validity(d) {
  const c = d.certificate;
  const [from, to] = [Date.parse(c.validFrom), Date.parse(c.validTo)];
  // Two moments within two days need their time.
  const write = to - from < 2 * 86400e3 ? dateTime : day;
  // A certificate may be within its time and be refused for another reason.
  const soon = /EXPIRE/.test(d.conclusion?.code) ? toneOf(d) : findingOf(d, "CERT_EXPIRES_SOON") ? "warn" : "good";
  const path = endOf(c);
  const rest = left({ ...c, daysRemaining: path.days });
  const tone = path.days < 0 || notYet(c) ? "bad" : d.authorized ? soon : "info";
  const [begin, end] = [dateTime(c.validFrom), dateTime(c.validTo)];
  return section(
    "Validity",
    timeline(
      [
        { at: from, title: "Valid from" },
        { at: to, title: "Valid to", tone },
      ],
      { label: `The certificate is valid from ${begin} to ${end}: ${rest}.`, span: { from, to, tone }, write },
    ),
    facts([
      ["Today", badge(tone, rest)],
      ["Valid from", begin],
      ["Valid to", end],
      ["Its path ends", path.end === c.validTo ? null : dateTime(path.end)],
      ["Lifetime", duration((to - from) / 1000)],
    ]),
  );
}

/** @param {SslChecker} d */
function findings(d) {
  const list = d.findings ?? [];
  if (list.length === 0) return null;
  const rows = list.map((f) => [
    badge(...lookOf(f.severity, f.group)),
    el("div", { class: "sentence" }, f.message, f.remedy && el("div", { class: "hint" }, f.remedy)),
    codeOf(f.code),
  ]);
  return section(
    "Findings",
    table({
      caption: "Findings",
      hideCaption: true,
      columns: [{ title: "Severity" }, { title: "Finding" }, { title: "Code" }],
      rows,
    }),
  );
}

/** A code, which breaks between its words. @param {string} code */
function codeOf(code) {
  const node = value(code, { quiet: true });
  node.querySelector(".text")?.replaceChildren(...code.split(/(?<=_)/).flatMap((word) => [word, el("wbr")]));
  return node;
}

/** The common name, or all of a name without one. @param {string} name */
const short = (name) => /(?:^|[,+])CN=((?:\\.|[^,+\\])*)/.exec(name)?.[1].replace(/\\(.)/g, "$1") ?? name;

/** @param {SslChecker} d */
function chain(d) {
  /** @type {Certificate[]} */
  const sent = [d.certificate, ...d.chain];
  const path = pathOf(sent);
  return folded(
    "The chain, from the server to its root",
    chainWords(d, sent),
    el(
      "ol",
      { class: "ssl-chain" },
      ...sent.flatMap((c, i) => [station(d, sent, path, i), path.has(c) && link(d, sent, i)]),
    ),
    cut(d),
  );
}

/** @param {SslChecker} d @param {Certificate[]} sent */
const chainWords = (d, sent) =>
  `${plural(sent.length, "certificate")}, ` +
  `${d.chainComplete ? "complete" : unverified(d) ? "not verified" : "not trusted"}`;

/** The certificates that lead up from the server's, by their names, each once. @param {Certificate[]} sent */
function pathOf(sent) {
  const path = new Set(sent.slice(0, 1));
  // A loop over a set visits what is added on the way.
  for (const c of path)
    for (const other of sent) if (other.subject === c.issuer && !before(sent, other)) path.add(other);
  return path;
}

/** Whether the same certificate was sent already. @param {Certificate[]} sent @param {Certificate} c */
const before = (sent, c) => sent.findIndex((other) => other.fingerprint256 === c.fingerprint256) < sent.indexOf(c);

/**
 * A badge on a certificate that no client needs.
 * @param {SslChecker} d
 * @param {Certificate[]} sent
 * @param {Set<Certificate>} path
 * @param {Certificate} c
 */
function needless(d, sent, path, c) {
  if (before(sent, c)) return badge("off", "sent before");
  return d.chainComplete && !path.has(c) ? badge("off", "not part of the chain") : null;
}

/** @param {SslChecker} d @param {Certificate[]} sent @param {Set<Certificate>} path @param {number} i */
function station(d, sent, path, i) {
  const c = sent[i];
  const role =
    i === 0 ? "The server's certificate" : c.selfSigned ? "A root" : c.isCA ? "An intermediate" : "Not an authority";
  return el(
    "li",
    {},
    el("h3", {}, short(c.subject)),
    el(
      "p",
      {},
      `${role} `,
      needless(d, sent, path, c),
      " ",
      (c.daysRemaining < 0 || notYet(c)) && badge("bad", left(c)),
    ),
    facts([
      ["Subject", value(c.subject)],
      ["Issued by", value(c.issuer)],
      ["Valid", `${day(c.validFrom)} to ${day(c.validTo)} (${left(c)})`],
      ["Key", `${c.keyType}, ${plural(c.keyBits, "bit")}`],
      ["Signed with", value(c.signatureAlgorithm, { quiet: true })],
      ["Self-signed", yesNo(c.selfSigned)],
      ["Authority (CA)", yesNo(c.isCA)],
      ["SHA-256 fingerprint", pairs(c.fingerprint256)],
      ["Serial number", value(c.serialNumber)],
      ...(i === 0 ? issued(d.certificate) : []),
    ]),
    cut(c, "Part of this certificate was cut: it holds more than is shown."),
  );
}

/** A fingerprint, which breaks between its bytes only. @param {string} text */
function pairs(text) {
  const node = value(text, { what: "fingerprint" });
  node.querySelector(".text")?.replaceChildren(...text.split(/(?<=:)/).flatMap((pair) => [pair, el("wbr")]));
  return node;
}

/**
 * What is shown only of the server's own certificate.
 * @param {SslChecker["certificate"]} c
 * @returns {[string, Node][]}
 */
function issued({ validationLevel, ocspUrls, crlUrls }) {
  return [
    ["Validation level", validationLevel ? value(validationLevel, { quiet: true }) : none("not stated")],
    ["OCSP responders", values(ocspUrls)],
    ["Revocation lists (CRL)", values(crlUrls)],
  ];
}

/** @param {boolean} is */
const yesNo = (is) => el("span", {}, is ? "yes" : "no");

/**
 * What follows a certificate, unless the next one issued it.
 * @param {SslChecker} d
 * @param {Certificate[]} sent
 * @param {number} i
 */
function link(d, sent, i) {
  const [c, next] = [sent[i], sent[i + 1]];
  if (next?.subject === c.issuer || (next && c.selfSigned)) return null;
  const at = c.selfSigned ? -1 : sent.findIndex((other) => other.subject === c.issuer);
  if (at > i) return null;
  if (at >= 0)
    return end(
      "warn",
      `Out of order: ${short(c.issuer)}`,
      "It issued this certificate and was sent before it. Most clients reorder the certificates; " +
        "some old ones fail.",
    );
  if (d.chainComplete)
    return end(
      "good",
      "A trusted root",
      "These certificates lead to a trusted root. Clients have it, so the server need not send it.",
    );
  if (!next && unverified(d))
    return end("warn", "Not verified", "Whether these certificates lead to a trusted root is not known.");
  if (c.selfSigned)
    return end(
      "bad",
      "Not issued by a trusted authority",
      i === 0 ? "It is signed with its own key." : "This root is not trusted here.",
    );
  // More certificates may have been sent, and cut from the answer.
  if (!next && d.truncated) return null;
  return end("bad", `Missing: ${short(c.issuer)}`, "The server did not send it here, and it is not a trusted root.");
}

/** @param {"good" | "warn" | "bad"} tone @param {string} title @param {string} text */
const end = (tone, title, text) => el("li", { class: tone }, el("h3", {}, title), el("p", {}, text));

/** The meaning of a stapled status. @type {Record<string, string>} */
const staples = {
  good: "good: not revoked",
  revoked: "revoked by the authority",
  unknown: "unknown to the authority",
  invalid: "invalid: clients must not accept it",
};

/** @param {SslChecker} d */
function connection(d) {
  const { cipher, ocspStapling: o, scts } = d;
  return folded(
    "The connection",
    `${d.protocol}, ${cipher.standardName}`,
    facts([
      ["Server", value(`${d.host}:${d.port}`)],
      ["Address", value(d.address)],
      ["STARTTLS", d.starttls && `yes, by ${d.starttls.toUpperCase()}`],
      ["Version chosen", value(d.protocol, { quiet: true })],
      ["Cipher suite", values([...new Set([cipher.standardName, cipher.name])], { quiet: true })],
      ["Cipher strength", plural(cipher.bits, "bit")],
      ["Key exchange", value(d.keyExchange, { quiet: true })],
      ["Application protocol (ALPN)", d.alpn ? value(d.alpn, { quiet: true }) : none("none agreed")],
      ["Handshake", ms(d.handshakeMs)],
      [
        "OCSP stapling",
        o.present ? (staples[o.status ?? ""] ?? "sent, but not checked: its issuer is not known") : none("none sent"),
      ],
      [
        "OCSP response valid",
        o.thisUpdate && `from ${dateTime(o.thisUpdate)}${o.nextUpdate ? ` to ${dateTime(o.nextUpdate)}` : ""}`,
      ],
      ["Must-staple", yesNo(d.certificate.mustStaple)],
      [
        "Certificate transparency (SCTs)",
        scts.count
          ? `${plural(scts.count, "timestamp")} by ${listed(scts.sources)}, not verified here`
          : none("no timestamps"),
      ],
    ]),
  );
}

/** @param {SslChecker} d */
function names(d) {
  const { dns, ip, truncated } = d.certificate.subjectAltNames;
  const all = [...dns, ...ip];
  const fits = `${d.host} is ${d.hostnameMatches ? "" : "not "}covered`;
  return folded(
    "Names in the certificate",
    truncated ? fits : `${plural(all.length, "name")}; ${fits}`,
    notice(
      d.hostnameMatches ? "good" : "bad",
      `${d.host} is ${d.hostnameMatches ? "" : "not "}covered by these names.`,
    ),
    all.length > 12
      ? more(truncated ? counted(all.length, true, "name") : `All ${all.length} names`, values(all))
      : values(all),
    cut(d.certificate.subjectAltNames),
  );
}

/** @param {unknown} _ @param {SslChecker} d */
function terminal(_, d) {
  const literal = d.host.includes(":");
  const ip = literal || /^[\d.]+$/.test(d.host);
  const client = [
    sh`openssl s_client -connect ${`${literal ? `[${d.host}]` : d.host}:${d.port}`}`,
    !ip && sh`-servername ${d.host}`,
    d.starttls && sh`-starttls ${d.starttls}`,
  ]
    .filter(Boolean)
    .join(" ");
  return [
    {
      label: "The certificate, its names and dates",
      command: `${client} </dev/null | openssl x509 -noout -text -dates`,
    },
    {
      label: "The cipher suite chosen with each version; (NONE) means refused",
      command:
        `for v in tls1 tls1_1 tls1_2 tls1_3; do echo "$v: $(${client} -$v -cipher ALL:@SECLEVEL=0 </dev/null ` +
        `2>/dev/null | grep -o 'Cipher is .*')"; done`,
    },
    {
      label: "The chain as it is sent, and whether it is trusted",
      command: `${client} -showcerts ${ip ? sh`-verify_ip ${d.host}` : sh`-verify_hostname ${d.host}`} </dev/null`,
    },
  ];
}

/** @type {import("../../lib/view.js").View<SslChecker>} */
export default {
  yours: (_, asked) => askVisitor(true, asked),
  lessons: () => [
    "A certificate proves who a server is. Clients accept a certificate that is within its dates, lists the host " +
      "name, and leads to an authority that they trust.",
  ],
  terminal,
  show: (d) => [
    validity(d),
    findings(d),
    advice(d),
    endpoints(d),
    matrix(d),
    chain(d),
    authority(d),
    others(d),
    connection(d),
    names(d),
  ],
  sources: (d) => [
    { name: "The server itself", server: d.address },
    ...(d.trustStore
      ? [
          {
            name: "Trusted roots",
            server: d.trustStore.source,
            told: plural(d.trustStore.roots, "root") + (d.trustStore.date ? `, as of ${day(d.trustStore.date)}.` : "."),
          },
        ]
      : []),
  ],
};

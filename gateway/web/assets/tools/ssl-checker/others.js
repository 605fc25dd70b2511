// @ts-check
// The certificates that a server sends to other clients.

import { el } from "../../lib/dom.js";
import { day, plural } from "../../lib/format.js";
import { badge, cut, facts, folded, value } from "../../lib/parts.js";
import { fingerprint } from "./endpoints.js";
import { left } from "./facts.js";

/** @typedef {import("./suites.js").SslChecker} SslChecker */
/** @typedef {SslChecker["otherCertificates"][number]} Other */

/** The clients that each kind is for. @type {Record<Other["kind"], string>} */
const kinds = {
  rsa: "For clients that support only RSA",
  ecdsa: "For clients that prefer ECDSA",
  noSni: "For clients that send no host name (SNI)",
};

/** @param {SslChecker} d */
export function others(d) {
  const list = d.otherCertificates ?? [];
  return list.length > 0
    ? folded(
        "Other certificates",
        plural(list.length, "certificate"),
        el("div", { class: "ssl-cards" }, ...list.map((other) => card(d, other))),
      )
    : null;
}

/**
 * Whether it was not verified. At most one is for another kind of key.
 * @param {SslChecker} d
 * @param {Other["kind"]} kind
 */
const unverifiedOther = (d, kind) =>
  kind !== "noSni" && d.issues.some((i) => i.code === "OTHER_CERTIFICATE_NOT_VERIFIED");

/** @param {SslChecker} d @param {Other} other */
function card(d, { kind, authorized, authorizationError, certificate: c }) {
  const doubtful = unverifiedOther(d, kind) && badge("off", "not verified");
  // A client that names no host can get no certificate for it.
  const tone = kind === "noSni" && authorizationError === "ERR_TLS_CERT_ALTNAME_INVALID" ? "off" : "bad";
  return el(
    "article",
    { class: "ssl-card" },
    el("h3", {}, kinds[kind] ?? kind),
    facts([
      [
        "Verdict",
        authorized
          ? badge("good", "trusted")
          : doubtful ||
            el(
              "span",
              {},
              badge(tone, tone === "bad" ? "refused" : "for another host"),
              " ",
              el("span", { class: "mono" }, authorizationError),
            ),
      ],
      ["Subject", value(c.subject)],
      ["Issued by", value(c.issuer)],
      ["Valid to", el("span", {}, `${day(c.validTo)} (${left(c)})`)],
      ["Key", el("span", {}, `${c.keyType}, ${plural(c.keyBits, "bit")}`)],
      ["Certificate (SHA-256)", fingerprint(c.fingerprint256, "its fingerprint")],
    ]),
    cut(c),
  );
}

// @ts-check
// The certificates that a server keeps for other clients than the one that was judged.

import { el } from "../../lib/dom.js";
import { day, plural } from "../../lib/format.js";
import { badge, cut, facts, folded, value } from "../../lib/parts.js";
import { fingerprint } from "./endpoints.js";
import { left } from "./facts.js";

/** @typedef {{kind: string, authorized: boolean, authorizationError: string | null, certificate: any}} Other */

/** For whom each kind is. @type {Record<string, string>} */
const kinds = {
  rsa: "For clients that support only RSA",
  ecdsa: "For clients that prefer ECDSA",
  noSni: "For clients that send no host name (SNI)",
};

/** @param {any} d */
export function others(d) {
  const list = /** @type {Other[]} */ (d.otherCertificates ?? []);
  return list.length > 0
    ? folded(
        "Its other certificates",
        plural(list.length, "certificate"),
        el("div", { class: "ssl-cards" }, ...list.map((other) => card(d, other))),
      )
    : null;
}

/** Of two kinds of keys the server has one more at most. @param {any} d @param {string} kind */
const unverifiedOther = (d, kind) =>
  kind !== "noSni" && d.issues.some((/** @type {any} */ i) => i.code === "OTHER_CERTIFICATE_NOT_VERIFIED");

/** @param {any} d @param {Other} other */
function card(d, { kind, authorized, authorizationError, certificate: c }) {
  const doubtful = unverifiedOther(d, kind) && badge("off", "not verified");
  // Who names no host can get no certificate for it.
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

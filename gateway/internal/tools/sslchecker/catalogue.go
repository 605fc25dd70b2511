package sslchecker

import (
	"cmp"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"
)

// The codes of conclusions.
const (
	codeTrusted       = "CERTIFICATE_TRUSTED"
	codeExpiresSoon   = "CERTIFICATE_EXPIRES_SOON"
	codeAboutToExpire = "CERTIFICATE_ABOUT_TO_EXPIRE"
	codeOutdated      = "PROTOCOLS_OUTDATED"
	codeTrustedWeak   = "TRUSTED_WITH_WARNINGS"
	codeTrustedFault  = "TRUSTED_WITH_PROBLEMS"
	codeNotVerified   = "CERTIFICATE_NOT_VERIFIED"
	codeRefused       = "CERTIFICATE_REFUSED"
)

const (
	rfc5280 = "https://www.rfc-editor.org/rfc/rfc5280"
	rfc9525 = "https://www.rfc-editor.org/rfc/rfc9525"
	rfc7465 = "https://www.rfc-editor.org/rfc/rfc7465"
	rfc7568 = "https://www.rfc-editor.org/rfc/rfc7568"
	rfc8996 = "https://www.rfc-editor.org/rfc/rfc8996"
	rfc9155 = "https://www.rfc-editor.org/rfc/rfc9155"
	rfc9325 = "https://www.rfc-editor.org/rfc/rfc9325"
	rfc8446 = "https://www.rfc-editor.org/rfc/rfc8446"
	rfc6962 = "https://www.rfc-editor.org/rfc/rfc6962"
	rfc6960 = "https://www.rfc-editor.org/rfc/rfc6960"
	rfc7633 = "https://www.rfc-editor.org/rfc/rfc7633"
	rfc7671 = "https://www.rfc-editor.org/rfc/rfc7671"
	rfc8659 = "https://www.rfc-editor.org/rfc/rfc8659"
	mlkem   = "https://datatracker.ietf.org/doc/draft-ietf-tls-ecdhe-mlkem/"
)

// Parts of several rows. A number of days that is not there is less than one.
const (
	inDays = "[{days} {days:day|days}]{days?|less than a day}"

	nearEndArgs    = "server text, days number, chain flag"
	nearEnd        = "The certificate of {server} is trusted, but {chain?its chain }expires in " + inDays + "."
	nearEndBrief   = "Expires [in {days} {days:day|days}]{days?|within a day}"
	nearEndMeaning = "After that, clients refuse the server. {chain?" + newChain + "|" + renewNow + "}"

	renewNow = "Renew the certificate now, and check that automatic renewal works."
	newChain = "Install the certificate and the chain that the authority provides now."

	publicAuthority = "The public needs a certificate from an authority that browsers trust."
	wholeChain      = "Install the whole chain that the authority provides."
	strongSuites    = "Accept only suites with forward secrecy and authenticated encryption."
	oneSetting      = "Give every address the same certificate and settings."

	certificateEnds = "The certificate expires in " + inDays + "."
	chainEnds       = "The chain of the certificate expires in " + inDays + ", before the certificate itself."
	shortDH         = "The server's Diffie-Hellman parameters have {bits} bits; 2048 are needed (RFC 9325)."
	badStaple       = "The stapled OCSP response is unreadable, out of date or not signed for this certificate."
	matchesNone     = "The certificate matches none of the TLSA records of {name}, so clients that check DANE refuse it."
	nameless        = "a certificate without a name"
	serves          = "{addresses} {addresses:serves|serve} "
)

// rows are all that the tool reports. A defect of a certificate has the clause that it has in every tool.
var rows = finding.Join(conclusionRows, withDefects(certificateRows), withDefects(unverifiedRows), chainRows,
	serverRows, suiteRows, addressRows, otherRows, stapleRows, revocationRows, dnsRows).WithClauses(fault.Rows)

func withDefects(rows finding.Rows) finding.Rows {
	for code, row := range rows {
		row.Clause = cmp.Or(row.Clause, fault.Rows[code].Clause)
		rows[code] = row
	}
	return rows
}

// conclusionRows are the conclusions, and who refuses a certificate. The reason of one is a finding.
var conclusionRows = finding.Rows{
	codeTrusted: {
		State: finding.OK,
		Args:  "server text, days number, end day, chain flag",
		Message: "The certificate of {server} is trusted and valid for [another {days} {days:day|days}]" +
			"{days?|less than a day}.",
		Brief: "Trusted",
		Meaning: "{chain?The chain ends before the certificate. Install the certificate and the chain that the " +
			"authority provides|Renew it}[ before {end}]{chain?|; no action is needed until then}.",
	},
	codeExpiresSoon: {
		State:   finding.Warned,
		Args:    nearEndArgs,
		Message: nearEnd,
		Brief:   nearEndBrief,
		Meaning: nearEndMeaning,
	},
	codeAboutToExpire: {
		State:   finding.Failed,
		Args:    nearEndArgs,
		Message: nearEnd,
		Brief:   nearEndBrief,
		Meaning: nearEndMeaning,
	},
	codeTrustedWeak: {
		State:   finding.Warned,
		Args:    "server text, reason sentence, fix remedy",
		Message: "The certificate of {server} is trusted. {reason}",
		Brief:   "Trusted, with warnings",
		Meaning: "The chain leads to a trusted authority.[ {fix}]",
	},
	codeOutdated: {
		State: finding.Failed,
		Args:  "browser flag, server text, newest text, ssl3 flag",
		Message: "No current {browser?browser|client} can connect to {server}: the server supports nothing newer than " +
			"{newest}.{ssl3? It also accepts SSL 3.0.}",
		Brief:   "Only {newest}",
		Meaning: "A new certificate would not help. Switch on TLS 1.2 and 1.3, and switch off everything older.",
	},
	codeTrustedFault: {
		State:   finding.Failed,
		Args:    "server text, reason sentence, fix remedy",
		Message: "The certificate of {server} is trusted, but not every client can connect. {reason}",
		Brief:   "Some clients fail",
		Meaning: "Some clients show an error.[ {fix}]",
	},
	codeNotVerified: {
		State:   finding.Unknown,
		Args:    "server text, reason sentence",
		Message: "The certificate of {server} was not verified. {reason}",
		Brief:   "Not verified",
		Meaning: "This is a limit of this service: clients may well accept the certificate.",
	},
	codeRefused: {
		State: finding.Failed,
		Args: "clients code, server text, reason continued, fix remedy, address text, addresses list, refused number, " +
			"all number, tried number",
		Message: "{clients} refuse {server}[ at one of its {all} addresses ({address})][ at {refused} of its {all} " +
			"addresses ({addresses})][ at {refused} of {tried} addresses tried ({addresses})]: {reason}.",
		Brief:   "{reason}",
		Meaning: "Clients show an error instead of connecting.[ {fix}]",
	},

	"CLIENTS_BROWSERS": {Clause: "Browsers"},
	"CLIENTS_MANY":     {Clause: "Many clients"},
	"CLIENTS_CHECKING": {Clause: "Clients that check certificates"},
}

// certificateRows are why clients refuse a certificate.
var certificateRows = finding.Rows{
	certs.CodeExpired: {
		Severity: finding.Fail, Group: finding.Broken, Weight: 97,
		Args: "leaf flag, days number, today flag",
		Message: "{leaf?The certificate expired |A certificate in the chain has expired.}[{days} {days:day|days} ago.]" +
			"{today?less than a day ago.}",
		Brief:     "Expired",
		Remedy:    "Renew the certificate, and find out why it was not renewed automatically.",
		Reference: rfc5280 + "#section-4.1.2.5",
	},
	certs.CodeNotYetValid: {
		Severity: finding.Fail, Group: finding.Broken, Weight: 96,
		Args:      "from day",
		Message:   "[The certificate is not valid before {from}.]{from?|A certificate in the chain is not valid yet.}",
		Brief:     "Not valid yet",
		Remedy:    "Use the previous certificate until then, and check the clock of the machine that issued the new one.",
		Reference: rfc5280 + "#section-4.1.2.5",
	},
	certs.CodeSelfSigned: {
		Severity: finding.Fail, Group: finding.Broken, Weight: 95,
		Message:   "The certificate is self-signed, so no authority vouches for it.",
		Brief:     "Self-signed",
		Remedy:    "Anyone can make such a certificate. " + publicAuthority,
		Reference: rfc5280 + "#section-6",
	},
	certs.CodeSelfSignedInChain: {
		Severity: finding.Fail, Group: finding.Broken, Weight: 95,
		Message: "The chain ends in a root that is not trusted.",
		Brief:   "Untrusted root",
		Remedy: "Only devices set up to trust this authority accept it, as inside a company. " +
			publicAuthority,
		Reference: rfc5280 + "#section-6",
	},
	certs.CodeNoLocalIssuer: {
		Severity: finding.Fail, Group: finding.Broken, Weight: 95,
		Message:   "The chain ends in a certificate whose issuer is not a trusted authority.",
		Brief:     "Untrusted issuer",
		Remedy:    wholeChain + " " + publicAuthority,
		Reference: rfc5280 + "#section-6",
	},
	certs.CodeNotPermitted: {
		Severity: finding.Fail, Group: finding.Broken, Weight: 95,
		Message:   "An authority in the chain may not issue certificates for these names.",
		Brief:     "Issuer not permitted",
		Remedy:    "Get a certificate from an authority that may issue for this name.",
		Reference: rfc5280 + "#section-4.2.1.10",
	},
	certs.CodeCriticalExtension: {
		Severity: finding.Fail, Group: finding.Broken, Weight: 95,
		Message:   "The chain has a critical extension that clients do not understand.",
		Brief:     "Unknown extension",
		Remedy:    "Get a certificate without extensions that clients do not understand.",
		Reference: rfc5280 + "#section-4.2",
	},
	certs.CodeInvalidCA: {
		Severity: finding.Fail, Group: finding.Broken, Weight: 95,
		Message:   "The chain contains an issuer that is not a certificate authority.",
		Brief:     "Issuer is no authority",
		Remedy:    "Get a certificate that an authority has issued.",
		Reference: rfc5280 + "#section-4.2.1.9",
	},
	certs.CodeWeakDigest: {
		Severity: finding.Fail, Group: finding.Broken, Weight: 95,
		Message:   "The chain is signed with SHA-1 or MD5, which clients refuse.",
		Brief:     "Weak signature",
		Remedy:    "Get a certificate whose chain is signed with SHA-256 or better.",
		Reference: rfc9155,
	},
	certs.CodePathLength: {
		Severity: finding.Fail, Group: finding.Broken, Weight: 95,
		Message:   "The chain is longer than one of its authorities allows.",
		Brief:     "Chain too long",
		Remedy:    "Get a certificate from the authority itself: one of those between may not issue others.",
		Reference: rfc5280 + "#section-4.2.1.9",
	},
	certs.CodePurpose: {
		Severity: finding.Fail, Group: finding.Broken, Weight: 94,
		Args:    "first sentence, second sentence",
		Message: "{first}[ {second}]",
		Brief:   "Not for servers",
		Remedy: "Get a certificate that is made for servers: with digitalSignature in its keyUsage and " +
			"serverAuth in its extendedKeyUsage.",
		Reference: rfc5280 + "#section-4.2.1.12",
	},
	certs.CodeNameMismatch: {
		Severity: finding.Fail, Group: finding.Broken, Weight: 93,
		Args: "names list, more rest, wildcard text, nameless flag",
		Message: "[The certificate is for {names+more}, not for this host.][The certificate is for this host only " +
			"by {wildcard}, a wildcard for a whole public suffix, which clients do not accept.]{nameless?The " +
			"certificate is not for this host: it names no host at all.}",
		Brief:     "Wrong name",
		Remedy:    "Get a certificate that lists this name, or point the name to the right server.",
		Reference: rfc9525,
	},
	certs.CodeRevoked: {
		Severity: finding.Fail, Group: finding.Broken, Weight: 92,
		Args:      "cause text",
		Message:   "The authority has revoked the certificate[ ({cause})].",
		Brief:     "Revoked",
		Remedy:    "Get a new certificate with a new key.",
		Reference: rfc5280 + "#section-6.3",
	},
	"INTERMEDIATE_REVOKED": {
		Severity: finding.Fail, Group: finding.Broken, Weight: 91,
		Args:      "subject text",
		Message:   "The authority has revoked an intermediate certificate of the chain: {subject}.",
		Brief:     "Intermediate revoked",
		Remedy:    "Get a new certificate, and install the chain that the authority provides with it.",
		Reference: rfc5280 + "#section-6.3",
	},
	"NO_SUBJECT_ALT_NAMES": {
		Severity: finding.Fail, Group: finding.Broken, Weight: 91,
		Message:   "The certificate has no subject alternative names; clients ignore the common name.",
		Brief:     "No names",
		Remedy:    "Get a certificate that lists the host as a subject alternative name.",
		Reference: rfc9525,
	},
	certs.CodeUnverifiableLeaf: {
		Severity: finding.Fail, Group: finding.Broken, Weight: 90,
		Args: "issuer text, sent list, more rest",
		Message: "[The certificate was issued by {issuer}, but the server sends {sent+more} instead: the wrong " +
			"intermediate certificate is installed. Some browsers hide that.]{issuer?|The server does not send the " +
			"certificate of its issuer, which clients do not know.}",
		Brief: "Incomplete chain",
		Remedy: wholeChain +
			" Some browsers find the missing part by themselves, so yours may show no error.",
		Reference: rfc8446 + "#section-4.4.2",
	},

	"KEY_USAGE_LACKING": {Args: "usage code", Message: "The certificate does not allow its key to be used as this " +
		"server uses it: its keyUsage lacks {usage}."},
	"USAGE_SIGNING":   {Clause: "digitalSignature, which TLS 1.3 and all key exchange by (EC)DHE need"},
	"USAGE_TRANSPORT": {Clause: "keyEncipherment, which key exchange by RSA needs"},
	"USAGE_AGREEMENT": {Clause: "keyAgreement, which key exchange by fixed Diffie-Hellman keys needs"},
	"NOT_FOR_SERVERS": {Message: "The certificate is not for servers: its extendedKeyUsage lacks serverAuth."},
	"AUTHORITY_NOT_FOR_SERVERS": {
		Message: "An authority in the chain may not vouch for servers: its extendedKeyUsage lacks serverAuth."},
}

// unverifiedRows are why a certificate was not verified, which is no fault of the server.
var unverifiedRows = finding.Rows{
	"CHAIN_NOT_VERIFIED": {
		Severity: finding.Info, Group: finding.Note, Weight: 9,
		Message: "The chain was not verified.",
	},
	certs.DefectLongKey: {
		Severity: finding.Info, Group: finding.Note, Weight: 9,
		Message: "The chain has an RSA key of more than 8192 bits. This service verifies nothing that such a key signed.",
		Remedy: "Use a key of 2,048 to 4,096 bits, or one on an elliptic curve: longer ones cost each visitor time and " +
			"make nothing safer.",
	},
	certs.DefectUnfinished: {
		Severity: finding.Info, Group: finding.Note, Weight: 9,
		Message: "The certificates could not all be read: together they are too long, or one of them, its key or its " +
			"signature is of a kind that this service does not know.",
		Remedy: "Send the server's certificate and the few that lead to its authority, with RSA or elliptic-curve keys " +
			"of usual sizes.",
	},
	certs.DefectCostly: {
		Severity: finding.Info, Group: finding.Note, Weight: 9,
		Message: "Verifying the chain would take too long: its certificates lead to one another in too many ways, or have " +
			"keys that are slow to verify.",
		Remedy: "Send only the certificates that lead to the authority.",
	},
}

// chainRows are about a certificate that clients may accept all the same, and about how its chain was sent.
var chainRows = finding.Rows{
	"INCOMPLETE_CHAIN": {
		Severity: finding.Warn, Group: finding.Broken, Weight: 85,
		Message: "The server does not send the intermediate certificates of its authority: some browsers fill the gap " +
			"themselves, other clients fail.",
		Remedy:    wholeChain,
		Reference: rfc8446 + "#section-4.4.2",
	},
	"WEAK_SIGNATURE": {
		Severity: finding.Fail, Group: finding.Broken, Weight: 80,
		Message:   "A certificate in the chain is signed with SHA-1 or MD5, which can be forged.",
		Remedy:    "Get a certificate whose chain is signed with SHA-256 or better.",
		Reference: rfc9155,
	},
	"NO_SCTS": {
		Severity: finding.Warn, Group: finding.Broken, Weight: 80,
		Message: "The certificate came without signed certificate timestamps (SCTs), so Chrome, Firefox and Safari refuse " +
			"it.",
		Remedy:    "Get a certificate whose authority records it in Certificate Transparency logs.",
		Reference: rfc6962,
	},
	"UNSUPPORTED_KEY": {
		Severity: finding.Warn, Group: finding.Broken, Weight: 80,
		Args:      "kind text",
		Message:   "The certificate's key is of type {kind}, which no browser accepts. Some other clients do.",
		Remedy:    "Get a certificate with an RSA or ECDSA key.",
		Reference: rfc8446 + "#section-4.2.3",
	},
	"CERT_EXPIRES_SOON": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 59,
		Args:      "days number",
		Message:   certificateEnds,
		Remedy:    renewNow,
		Reference: rfc5280 + "#section-4.1.2.5",
	},
	"CERT_ABOUT_TO_EXPIRE": {
		Severity: finding.Fail, Group: finding.Broken, Weight: 76,
		Args:      "days number",
		Message:   certificateEnds,
		Remedy:    renewNow,
		Reference: rfc5280 + "#section-4.1.2.5",
	},
	"CHAIN_EXPIRES_SOON": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 59,
		Args:      "days number",
		Message:   chainEnds,
		Remedy:    newChain,
		Reference: rfc5280 + "#section-6.1",
	},
	"CHAIN_ABOUT_TO_EXPIRE": {
		Severity: finding.Fail, Group: finding.Broken, Weight: 76,
		Args:      "days number",
		Message:   chainEnds,
		Remedy:    newChain,
		Reference: rfc5280 + "#section-6.1",
	},
	"CHAIN_EXPIRES_FIRST": {
		Severity: finding.Info, Group: finding.Note, Weight: 8,
		Args:      "days number",
		Message:   chainEnds,
		Remedy:    newChain,
		Reference: rfc5280 + "#section-6.1",
	},
	"WEAK_KEY": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 57,
		Args:      "bits number",
		Message:   "The key has {bits} bits; RSA keys need 2048 and elliptic curves 256.",
		Remedy:    "Get a certificate with an RSA key of 2048 bits or an ECDSA key of 256 bits.",
		Reference: rfc9325 + "#section-4.5",
	},
	"VALIDITY_TOO_LONG": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 38,
		Args: "days number, months number",
		Message: "The certificate is valid for more than the [{days} days][{months} months] that public authorities may " +
			"issue; some clients refuse it.",
		Remedy:    "Get a certificate that is valid for a shorter time.",
		Reference: "https://cabforum.org/working-groups/server/baseline-requirements/",
	},
	"ANY_PURPOSE_ONLY": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 38,
		Message: "The certificate is for any purpose (anyExtendedKeyUsage) and does not name that of a server " +
			"(serverAuth): some browsers refuse it.",
		Remedy:    "Get a certificate with serverAuth in its extendedKeyUsage.",
		Reference: rfc5280 + "#section-4.2.1.12",
	},
	"CHAIN_TOO_LONG": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 20,
		Args: "sent number, verified number",
		Message: "The server sent {sent} certificates. Only the first {verified} are verified, up to 64 KiB in all and " +
			"three with the same name.",
		Remedy:    "Send the server's certificate and the few that lead to its authority.",
		Reference: rfc8446 + "#section-4.4.2",
	},
	"CHAIN_NOT_IN_ORDER": {
		Severity: finding.Info, Group: finding.Note, Weight: 8,
		Message: "The certificates are not in order: each should come after one that it issued. Most clients reorder " +
			"the certificates; some old ones fail.",
		Remedy:    "Put the server's certificate first, and each intermediate after the one that it issued.",
		Reference: rfc8446 + "#section-4.4.2",
	},
	"CHAIN_REPEATED": {
		Severity: finding.Info, Group: finding.Note, Weight: 4,
		Message:   "The server sends a certificate more than once. Once is enough.",
		Remedy:    "Send each certificate once.",
		Reference: rfc8446 + "#section-4.4.2",
	},
	"CHAIN_FOREIGN": {
		Severity: finding.Info, Group: finding.Note, Weight: 4,
		Args: "several number, names list, more rest",
		Message: "The server also sends [{several} certificates that are]{several?|a certificate that is} not part of the " +
			"chain: {names+more}.",
		Remedy:    "Send only the certificates of the chain.",
		Reference: rfc8446 + "#section-4.4.2",
	},
	"CHAIN_HAS_ROOT": {
		Severity: finding.Info, Group: finding.Note, Weight: 3,
		Args:      "root text",
		Message:   "The server also sends the root, {root}. Clients have their own copy and trust no other.",
		Remedy:    "Leave out the root.",
		Reference: rfc8446 + "#section-4.4.2",
	},
}

// serverRows are about how handshakes go, and STARTTLS before them.
var serverRows = finding.Rows{
	"ONLY_OUTDATED_PROTOCOLS": {
		Severity: finding.Fail, Group: finding.Broken, Weight: 89,
		Args:      "newest text",
		Message:   "The server supports nothing newer than {newest}, which current clients refuse (RFC 8996).",
		Remedy:    "Switch on TLS 1.2 and 1.3, and switch off everything older.",
		Reference: rfc8996,
	},
	"ONLY_SSL3": {
		Severity: finding.Fail, Group: finding.Broken, Weight: 89,
		Args:      "newest text",
		Message:   "The server supports nothing newer than {newest}, which is broken and which clients refuse (RFC 7568).",
		Remedy:    "Switch on TLS 1.2 and 1.3, and switch off everything older.",
		Reference: rfc7568,
	},
	"HANDSHAKE_NOT_COMPLETED": {
		Severity: finding.Fail, Group: finding.Broken, Weight: 88,
		Message:   "The server showed its certificate, but the handshake could not be completed.",
		Remedy:    "Check that the server has the private key of its certificate.",
		Reference: rfc8446,
	},
	"HELLO_INTOLERANT": {
		Severity: finding.Warn, Group: finding.Broken, Weight: 84,
		Message:   "The server answers only short TLS hellos, and current browsers send longer ones.",
		Remedy:    "Update the server or the firewall before it, so that a ClientHello may be longer than one packet.",
		Reference: rfc8446 + "#section-4.1.2",
	},
	"SSL3": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 55,
		Message:   "The server still accepts SSL 3.0, which is broken (RFC 7568).",
		Remedy:    "Switch off SSL 3.0.",
		Reference: rfc7568,
	},
	"STARTTLS_INCONSISTENT": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 50,
		Args:      "offered number, connections number",
		Message:   "The server offered STARTTLS in {offered} of {connections} connections.",
		Remedy:    "Give every server behind this address the same settings: without STARTTLS, mail goes unencrypted.",
		Reference: "https://www.rfc-editor.org/rfc/rfc3207#section-4",
	},
	"DEPRECATED_PROTOCOL": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 40,
		Args:      "versions list",
		Message:   "The server still accepts {versions} (RFC 8996).",
		Remedy:    "Accept TLS 1.2 and 1.3 only.",
		Reference: rfc8996,
	},
	"NO_TLS13": {
		Severity: finding.Info, Group: finding.Note, Weight: 8,
		Message:   "The server does not support TLS 1.3.",
		Remedy:    "Switch on TLS 1.3.",
		Reference: rfc8446,
	},
	"CONNECTIONS_REFUSED": {
		Severity: finding.Info, Group: finding.Note, Weight: 7,
		Args: "connections number, line text",
		Message: "After {connections} {connections:connection|connections} the server [refused further ones: \"{line}\"]" +
			"{line?|closed further ones before TLS could begin}. So not everything that it accepts is known.",
	},
	"HANDSHAKE_ONLY_READ": {
		Severity: finding.Info, Group: finding.Note, Weight: 6,
		Message: "This service's TLS could not complete a handshake with the server, so it read only the server's part, up " +
			"to the certificate.",
	},
	"CLIENT_CERTIFICATE_REQUESTED": {
		Severity: finding.Info, Group: finding.Note, Weight: 5,
		Message:   "The server asks for a client certificate; none was sent.",
		Reference: rfc8446 + "#section-4.3.2",
	},
}

// suiteRows are about cipher suites and key exchange.
var suiteRows = finding.Rows{
	"NULL_CIPHER": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 58,
		Args:    "suites list, more rest",
		Message: "The server accepts cipher suites that do not encrypt anything (RFC 9325): {suites+more}.",
		Remedy:  strongSuites, Reference: rfc9325 + "#section-4.1",
	},
	"ANONYMOUS_CIPHER": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 57,
		Args:    "suites list, more rest",
		Message: "The server accepts cipher suites that do not prove who the server is (RFC 9325): {suites+more}.",
		Remedy:  strongSuites, Reference: rfc9325 + "#section-4.1",
	},
	"EXPORT_CIPHER": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 56,
		Args: "suites list, more rest",
		Message: "The server accepts export cipher suites, whose deliberately short keys are quickly broken (RFC 9325): " +
			"{suites+more}.",
		Remedy: strongSuites, Reference: rfc9325 + "#section-4.1",
	},
	"DES_CIPHER": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 54,
		Args: "suites list, more rest",
		Message: "The server accepts cipher suites with DES, whose 56-bit keys are quickly broken (RFC 9325): " +
			"{suites+more}.",
		Remedy: strongSuites, Reference: rfc9325 + "#section-4.1",
	},
	"RC4_CIPHER": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 53,
		Args:    "suites list, more rest",
		Message: "The server accepts cipher suites with RC4, which is broken (RFC 7465): {suites+more}.",
		Remedy:  strongSuites, Reference: rfc7465,
	},
	"3DES_CIPHER": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 45,
		Args: "suites list, more rest",
		Message: "The server accepts cipher suites with 3DES, whose short blocks let data leak in long connections " +
			"(RFC 9325): {suites+more}.",
		Remedy: strongSuites, Reference: rfc9325 + "#section-4.1",
	},
	"VERY_WEAK_DH": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 42,
		Args:    "bits number",
		Message: shortDH,
		Remedy:  "Use ECDHE, or Diffie-Hellman parameters of 2048 bits.", Reference: rfc9325 + "#section-4.1",
	},
	"WEAK_DH": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 42,
		Args:    "bits number",
		Message: shortDH,
		Remedy:  "Use ECDHE, or Diffie-Hellman parameters of 2048 bits.", Reference: rfc9325 + "#section-4.1",
	},
	"NO_FORWARD_SECRECY": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 36,
		Message: "The key exchange has no forward secrecy: anyone who gets the server's key can read recorded traffic.",
		Remedy:  "Prefer ECDHE suites.", Reference: rfc9325 + "#section-4.1",
	},
	"CBC_CIPHER": {
		Severity: finding.Info, Group: finding.Note, Weight: 7,
		Args:    "suite text",
		Message: "The server chose {suite}; authenticated encryption (GCM, ChaCha20-Poly1305) is preferred.",
		Remedy:  strongSuites, Reference: rfc9325 + "#section-4.1",
	},
	"NOT_POST_QUANTUM": {
		Severity: finding.Info, Group: finding.Note, Weight: 2,
		Message: "Post-quantum key exchange: not yet. The server supports no group such as X25519MLKEM768, so a quantum " +
			"computer could one day read traffic that is recorded today.",
		Reference: mlkem,
	},
	"POST_QUANTUM": {
		Severity: finding.Info, Group: finding.Note, Weight: 0,
		Args: "group text",
		Message: "Post-quantum key exchange: ready. The server supports {group}, so traffic that is recorded today stays " +
			"safe from quantum computers.",
		Reference: mlkem,
	},
}

// addressRows are about the addresses of a host: those that do not work, and those that differ from the best.
var addressRows = finding.Rows{
	"ENDPOINT_WITHOUT_TLS": {
		Severity: finding.Fail, Group: finding.Broken, Weight: 82,
		Args:    "address text, failure code",
		Message: "Clients cannot use TLS at {address}: {failure}.",
		Remedy:  "Turn on TLS at this address, or take it out of DNS.",
	},
	"ENDPOINT_UNREACHABLE": {
		Severity: finding.Warn, Group: finding.Broken, Weight: 65,
		Args:    "address text, failure code",
		Message: "Clients cannot connect to {address}: {failure}.",
		Remedy:  "Make this address reachable, or take it out of DNS.",
	},
	"ENDPOINT_SKIPPED": {
		Severity: finding.Info, Group: finding.Note, Weight: 6,
		Args:    "address text, failure code",
		Message: "{address} was not checked: {failure}.",
	},

	"ENDPOINT_STILL_EXPIRED": {
		Severity: finding.Fail, Group: finding.Broken, Weight: 84,
		Args: "addresses list, expired day, best text, versions sentence",
		Message: "{addresses} still {addresses:serves|serve} the certificate that expired on {expired}; {best} serves " +
			"a valid certificate.[ {versions}]",
		Remedy: oneSetting,
	},
	"ENDPOINT_CERTIFICATE_REFUSED": {
		Severity: finding.Fail, Group: finding.Broken, Weight: 84,
		Args:    "addresses list, best text, defect code, versions sentence",
		Message: serves + "a different certificate than {best}, and clients refuse it ({defect}).[ {versions}]",
		Remedy:  oneSetting,
	},
	"ENDPOINT_CHAIN_REFUSED": {
		Severity: finding.Fail, Group: finding.Broken, Weight: 84,
		Args:    "addresses list, best text, defect code, versions sentence",
		Message: serves + "the certificate of {best} in a way that clients refuse ({defect}).[ {versions}]",
		Remedy:  oneSetting,
	},
	"ENDPOINT_VERSIONS_DIFFER": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 30,
		Args:    "addresses list, version text, best text, bestVersion text, besides sentence",
		Message: "[{besides} ]{addresses} {addresses:chooses|choose} {version}, and {best} {bestVersion}.",
		Remedy:  oneSetting,
	},
	"ENDPOINTS_NOT_VERIFIED": {
		Severity: finding.Info, Group: finding.Note, Weight: 9,
		Args:    "addresses list",
		Message: serves + "certificates that were not verified.",
		Remedy:  oneSetting,
	},
	"ENDPOINTS_DIFFER": {
		Severity: finding.Info, Group: finding.Note, Weight: 9,
		Args:    "addresses list, best text",
		Message: serves + "a different certificate than {best}.",
		Remedy:  oneSetting,
	},
}

// otherRows are about the certificates that a server gives to other clients, and what is wrong with them.
var otherRows = finding.Rows{
	"OTHER_CERTIFICATE_REFUSED": {
		Severity: finding.Fail, Group: finding.Broken, Weight: 70,
		Args: "kind text, problem code",
		Message: "The server has a second certificate, with an {kind} key, for clients that prefer it: it " +
			"{problem}.",
		Remedy: "Replace the second certificate as well.",
	},
	"OTHER_CERTIFICATE_NOT_VERIFIED": {
		Severity: finding.Info, Group: finding.Note, Weight: 7,
		Args:    "kind text",
		Message: "The server has a second certificate, with an {kind} key, which was not verified.",
	},
	"OTHER_CERTIFICATE_WITHOUT_SNI": {
		Severity: finding.Info, Group: finding.Note, Weight: 2,
		Args:    "problem code",
		Message: "Clients that do not name the host (SNI) get a different certificate[, which {problem}].",
	},

	"OTHER_EXPIRED":       {Args: "expired day", Clause: "expired on {expired}"},
	"OTHER_NOT_YET_VALID": {Clause: "is not valid yet"},
	"OTHER_OF_OTHER_HOST": {Clause: "is not for this host"},
	"OTHER_SELF_SIGNED":   {Clause: "is self-signed"},
	"OTHER_NOT_VERIFIED":  {Clause: "was not verified"},
	"OTHER_NOT_ACCEPTED":  {Args: "defect code", Clause: "is not accepted ({defect})"},
}

// stapleRows are about the OCSP answer that comes with a handshake.
var stapleRows = finding.Rows{
	"MUST_STAPLE_MISSING": {
		Severity: finding.Warn, Group: finding.Broken, Weight: 75,
		Message:   "The certificate requires a stapled OCSP response, but the server sent none.",
		Remedy:    "Turn on OCSP stapling, or get a certificate that does not require it.",
		Reference: rfc7633,
	},
	"MUST_STAPLE_INVALID": {
		Severity: finding.Fail, Group: finding.Broken, Weight: 74,
		Message:   badStaple,
		Remedy:    "Check that the server renews the OCSP response that it sends.",
		Reference: rfc6960,
	},
	"OCSP_STAPLE_INVALID": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 35,
		Message:   badStaple,
		Remedy:    "Check that the server renews the OCSP response that it sends.",
		Reference: rfc6960,
	},
	"OCSP_STATUS_UNKNOWN": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 32,
		Message:   "The authority's responder does not know the certificate.",
		Remedy:    "Ask the authority whether it has recorded the certificate.",
		Reference: rfc6960,
	},
}

// revocationRows are about the check of revocation, and why it could not be made.
var revocationRows = finding.Rows{
	"REVOCATION_UNKNOWN": {
		Severity: finding.Info, Group: finding.Note, Weight: 3,
		Args:      "reason sentence, also sentence",
		Message:   "It is not known whether the certificate is revoked.[ {reason}][ {also}]",
		Reference: rfc5280 + "#section-6.3",
	},
	"REVOCATION_NOT_CHECKED": {
		Severity: finding.Info, Group: finding.Note, Weight: 1,
		Args:      "reason sentence",
		Message:   "Revocation was not checked.[ {reason}]",
		Reference: rfc5280 + "#section-6.3",
	},

	codeUntrusted: {Message: "Revocation is checked only for certificates that lead to a trusted root."},
	codeNoURLs: {
		Message: "The certificate names neither a list of revoked certificates (CRL) nor an OCSP responder."},
	codeNoURL: {
		Message: "None of the addresses at which the certificate's revocation could be checked can be used."},
	codeLate: {Message: "This address showed its certificate too late for its revocation to be checked."},
	codeTime: {Message: "The check of revocation did not finish within 2 seconds."},
	codeRedirect: {
		Message: "The address for checking revocation redirects twice, or to one that this service does not query."},
	codeEncoded: {Message: "The authority's answer has a content encoding that was not requested."},
	codeNotAsked: {
		Message: "This service does not connect to the address at which the certificate's revocation could be checked."},

	"CRL_UNREADABLE":         {Message: "The authority's answer is not a list of revoked certificates in DER."},
	"CRL_TOO_LONG":           {Message: "The list of revoked certificates is longer than 4 MiB."},
	"CRL_OF_OTHER_AUTHORITY": {Message: "The list of revoked certificates belongs to another authority."},
	"CRL_SIGNER_MAY_NOT": {
		Message: "The authority's certificate does not permit it to sign lists of revoked certificates."},
	"CRL_NOT_SIGNED_BY_AUTHORITY": {
		Message: "The list of revoked certificates is not signed by the certificate's authority."},
	"CRL_ALGORITHM": {
		Message: "The list of revoked certificates has a signature that this service does not verify."},
	"CRL_NOT_YET_VALID": {Message: "The list of revoked certificates is not valid yet."},
	"CRL_OUT_OF_DATE":   {Message: "The list of revoked certificates is out of date."},
	"CRL_WITHOUT_END":   {Message: "The list of revoked certificates does not state when the next one is due."},
	"CRL_CRITICAL_EXTENSION": {
		Message: "The list of revoked certificates has a critical extension that is not implemented here."},
	"CRL_IS_DELTA":           {Message: "The authority sent only a list of changes (delta CRL)."},
	"CRL_IS_INDIRECT":        {Message: "The list of revoked certificates is for several authorities (indirect CRL)."},
	"CRL_DOES_NOT_COVER":     {Message: "The list of revoked certificates does not cover this certificate."},
	"AUTHORITY_KEY_TOO_LONG": {Message: "The authority's key is too long for its signatures to be verified."},

	"OCSP_UNREADABLE":           {Message: "The authority's answer is not an OCSP response."},
	"OCSP_OF_OTHER_CERTIFICATE": {Message: "The OCSP answer is about another certificate."},
	"OCSP_OF_OTHER_AUTHORITY":   {Message: "The OCSP answer is about a certificate of another authority."},
	"OCSP_NOT_SIGNED_BY_AUTHORITY": {
		Message: "The OCSP answer is not signed by the certificate's authority."},
	"OCSP_SIGNER_MAY_NOT": {
		Message: "The OCSP answer is signed by a certificate that may not sign such answers."},
	"OCSP_KEY_TOO_LONG":  {Message: "The OCSP answer is signed by a key that is too long to be verified."},
	"OCSP_NOT_YET_VALID": {Message: "The OCSP answer is not valid yet."},
	"OCSP_OUT_OF_DATE":   {Message: "The OCSP answer is out of date."},
	"OCSP_TRY_LATER":     {Message: "The OCSP responder cannot answer at present."},
	"OCSP_NOT_RECORDED":  {Message: "The OCSP responder does not know the certificate."},
}

// dnsRows are about the records of CAA and TLSA.
var dnsRows = finding.Rows{
	"CAA_NOT_PERMITTED": {
		Severity: finding.Info, Group: finding.Note, Weight: 12,
		Args: "name text, issuers list, more rest, wildcard flag",
		Message: "The CAA records of {name} permit [only {issuers+more}]{issuers?|no authority} to issue " +
			"{wildcard?wildcard }certificates now, and not the authority of this one. They bind new certificates only.",
		Remedy: "Before the certificate is renewed, add its authority to the CAA records, or choose an authority " +
			"that they name.",
		Reference: rfc8659 + "#section-4.2",
	},
	"CAA_NOT_KNOWN": {
		Severity: finding.Info, Group: finding.Note, Weight: 10,
		Args:      "name text, reason code",
		Message:   "It is not known who may issue certificates for {name}: {reason}.",
		Remedy:    "Check the name servers of the domain before the certificate has to be renewed.",
		Reference: rfc8659 + "#section-3",
	},
	"TLSA_STOPS_MAIL": {
		Severity: finding.Warn, Group: finding.Broken, Weight: 72,
		Args:      "name text",
		Message:   matchesNone,
		Remedy:    "Publish the digest of the server's public key, or remove the records.",
		Reference: rfc7671 + "#section-5",
	},
	"TLSA_MATCHES_NOTHING": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 37,
		Args:      "name text",
		Message:   matchesNone,
		Remedy:    "Publish the digest of the server's public key, or remove the records.",
		Reference: rfc7671 + "#section-5",
	},
	"TLSA_NOT_AUTHENTICATED": {
		Severity: finding.Info, Group: finding.Note, Weight: 5,
		Args: "name text",
		Message: "This service's resolver does not vouch for the TLSA records of {name} by DNSSEC. Clients ignore records " +
			"that are not authenticated.",
		Remedy:    "Sign the zone with DNSSEC, if clients are to use them.",
		Reference: rfc7671 + "#section-4",
	},
	"TLSA_LOOKUP_FAILED": {
		Severity: finding.Info, Group: finding.Note, Weight: 6,
		Args:      "name text",
		Message:   "The TLSA records of {name} could not be looked up, so it is not known whether there are any.",
		Reference: rfc7671 + "#section-4",
	},

	"CAA_TOO_MANY_LABELS": {Clause: "the name has too many labels"},
	"CAA_TOO_MANY":        {Clause: "there are more CAA records than are read"},
	"CAA_LOOKUP_LATE":     {Clause: "the CAA records could not be looked up in time"},
	"CAA_LOOKUP_FAILED":   {Clause: "this service could not look up the CAA records"},
	"CAA_SERVERS_FAILED": {Args: "at text, rcode text", Clause: "the lookup of the CAA records of {at} failed " +
		"({rcode}). While that lasts, authorities issue no certificate"},
}

package sslchecker

import (
	"fmt"
	"slices"
	"strings"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/egress/tlsscan"
	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/tool/finding"
)

// refusal is whether clients refuse what a finding reports.
type refusal string

const (
	refusedYes     refusal = "yes"
	refusedNo      refusal = "no"
	refusedUnknown refusal = "unknown" // some do, or it was not found out
)

// row is one row of the table of findings. Its code is that of an issue, whose sentence the finding has.
type row struct {
	refused     refusal
	certificate bool // its subject is the certificate
	severity    finding.Severity
	group       finding.Group
	weight      int
	remedy      string
	reference   string
}

const (
	rfc5280 = "https://www.rfc-editor.org/rfc/rfc5280"
	rfc9525 = "https://www.rfc-editor.org/rfc/rfc9525"
	rfc7465 = "https://www.rfc-editor.org/rfc/rfc7465"
	rfc7568 = "https://www.rfc-editor.org/rfc/rfc7568"
	rfc8996 = "https://www.rfc-editor.org/rfc/rfc8996"
	rfc9325 = "https://www.rfc-editor.org/rfc/rfc9325"
	rfc8446 = "https://www.rfc-editor.org/rfc/rfc8446"
	rfc6962 = "https://www.rfc-editor.org/rfc/rfc6962"
	rfc6960 = "https://www.rfc-editor.org/rfc/rfc6960"
	rfc7633 = "https://www.rfc-editor.org/rfc/rfc7633"
	rfc7671 = "https://www.rfc-editor.org/rfc/rfc7671"
	rfc8659 = "https://www.rfc-editor.org/rfc/rfc8659"

	publicAuthority = "The public needs a certificate from an authority that browsers trust."
	wholeChain      = "Install the whole chain that the authority provides."
	strongSuites    = "Accept only suites with forward secrecy and authenticated encryption."
)

// rows are all findings.
var rows = map[string]row{
	certs.CodeExpired: {refusedYes, true, finding.Fail, finding.Broken, 97,
		"Renew the certificate, and find out why it was not renewed automatically.", rfc5280 + "#section-4.1.2.5"},
	certs.CodeNotYetValid: {refusedYes, true, finding.Fail, finding.Broken, 96,
		"Use the previous certificate until then, and check the clock of the machine that issued this one.",
		rfc5280 + "#section-4.1.2.5"},
	certs.CodeSelfSigned: {refusedYes, true, finding.Fail, finding.Broken, 95,
		"It encrypts, but anyone can make one like it. " + publicAuthority, rfc5280 + "#section-6"},
	certs.CodeSelfSignedInChain: {refusedYes, true, finding.Fail, finding.Broken, 95,
		"Only devices set up to trust this authority accept it, as inside a company. " + publicAuthority,
		rfc5280 + "#section-6"},
	certs.CodeNoLocalIssuer: {refusedYes, true, finding.Fail, finding.Broken, 95, wholeChain + " " + publicAuthority,
		rfc5280 + "#section-6"},
	certs.CodeNotPermitted: {refusedYes, true, finding.Fail, finding.Broken, 95,
		"Get a certificate from an authority that may issue for this name.", rfc5280 + "#section-4.2.1.10"},
	certs.CodeCriticalExtension: {refusedYes, true, finding.Fail, finding.Broken, 95,
		"Get a certificate without extensions that clients do not understand.", rfc5280 + "#section-4.2"},
	certs.CodeInvalidCA: {refusedYes, true, finding.Fail, finding.Broken, 95,
		"Get a certificate that an authority has issued, and not another certificate.", rfc5280 + "#section-4.2.1.9"},
	certs.CodeWeakDigest: {refusedYes, true, finding.Fail, finding.Broken, 95,
		"Get a certificate whose chain is signed with SHA-256 or better.", "https://www.rfc-editor.org/rfc/rfc9155"},
	certs.CodePathLength: {refusedYes, true, finding.Fail, finding.Broken, 95,
		"Get a certificate from the authority itself: one of those between may not issue others.",
		rfc5280 + "#section-4.2.1.9"},
	certs.CodePurpose: {refusedYes, true, finding.Fail, finding.Broken, 94,
		"Get a certificate that is made for servers: with digitalSignature in its keyUsage and serverAuth in its " +
			"extendedKeyUsage.", rfc5280 + "#section-4.2.1.12"},
	certs.CodeNameMismatch: {refusedYes, true, finding.Fail, finding.Broken, 93,
		"Get a certificate that lists this name, or point the name to the right server.", rfc9525},
	codeRevoked: {refusedYes, true, finding.Fail, finding.Broken, 92,
		"Get a new certificate with a new key.", rfc5280 + "#section-6.3"},
	"INTERMEDIATE_REVOKED": {refusedYes, true, finding.Fail, finding.Broken, 91,
		"Get a new certificate, and install the chain that the authority provides with it.", rfc5280 + "#section-6.3"},
	certs.CodeUnverifiableLeaf: {refusedUnknown, true, finding.Fail, finding.Broken, 90,
		wholeChain + " Some browsers find the missing part by themselves, so yours may show no error.",
		rfc8446 + "#section-4.4.2"},
	"INCOMPLETE_CHAIN": {refusedUnknown, true, finding.Warn, finding.Broken, 85, wholeChain, rfc8446 + "#section-4.4.2"},
	"MUST_STAPLE_MISSING": {refusedUnknown, true, finding.Warn, finding.Broken, 75,
		"Turn on OCSP stapling, or get a certificate that does not require it.", rfc7633},
	"NO_SUBJECT_ALT_NAMES": {refusedYes, true, finding.Fail, finding.Broken, 91,
		"Get a certificate that lists the host as a subject alternative name.", rfc9525},
	"NO_SCTS": {refusedYes, false, finding.Warn, finding.Broken, 80,
		"Get a certificate whose authority records it in Certificate Transparency logs.", rfc6962},
	"WEAK_SIGNATURE": {refusedYes, false, finding.Fail, finding.Broken, 80,
		"Get a certificate whose chain is signed with SHA-256 or better.", "https://www.rfc-editor.org/rfc/rfc9155"},
	"UNSUPPORTED_KEY": {refusedYes, false, finding.Warn, finding.Broken, 80,
		"Get a certificate with an RSA or ECDSA key.", rfc8446 + "#section-4.2.3"},

	"HANDSHAKE_NOT_COMPLETED": {refusedUnknown, false, finding.Fail, finding.Broken, 88,
		"Check that the server has the private key of its certificate.", rfc8446},
	"STARTTLS_INCONSISTENT": {refusedNo, false, finding.Warn, finding.Safer, 50,
		"Give every server behind this address the same settings: mail goes unencrypted over those without STARTTLS.",
		"https://www.rfc-editor.org/rfc/rfc3207#section-4"},
	"CONNECTIONS_REFUSED": {refusedUnknown, false, finding.Info, finding.Note, 7, "", ""},
	"HELLO_INTOLERANT": {refusedUnknown, false, finding.Warn, finding.Broken, 84,
		"Update the server or the firewall before it, so that a ClientHello may be longer than one packet.",
		rfc8446 + "#section-4.1.2"},
	"ENDPOINT_WITHOUT_TLS": {refusedYes, false, finding.Fail, finding.Broken, 82,
		"Turn on TLS at this address, or take it out of DNS.", ""},
	"ENDPOINT_UNREACHABLE": {refusedUnknown, false, finding.Warn, finding.Broken, 65,
		"Make this address reachable, or take it out of DNS.", ""},
	"OTHER_CERTIFICATE_REFUSED": {refusedYes, false, finding.Fail, finding.Broken, 70,
		"Replace the second certificate as well.", ""},
	"ENDPOINTS_DIFFER": {refusedNo, false, finding.Info, finding.Note, 9,
		"Give every address the same certificate and settings.", ""},

	"CERT_EXPIRES_SOON": {refusedNo, true, finding.Warn, finding.Safer, 59,
		"Renew it now, and check that automatic renewal works.", rfc5280 + "#section-4.1.2.5"},
	"CHAIN_EXPIRES_FIRST": {refusedNo, true, finding.Warn, finding.Safer, 59,
		"Install the certificate and the chain that the authority provides now.", rfc5280 + "#section-6.1"},
	"NULL_CIPHER":         {refusedNo, false, finding.Fail, finding.Safer, 58, strongSuites, rfc9325 + "#section-4.1"},
	"ANONYMOUS_CIPHER":    {refusedNo, false, finding.Fail, finding.Safer, 57, strongSuites, rfc9325 + "#section-4.1"},
	"EXPORT_CIPHER":       {refusedNo, false, finding.Fail, finding.Safer, 56, strongSuites, rfc9325 + "#section-4.1"},
	"DES_CIPHER":          {refusedNo, false, finding.Fail, finding.Safer, 54, strongSuites, rfc9325 + "#section-4.1"},
	"RC4_CIPHER":          {refusedNo, false, finding.Fail, finding.Safer, 53, strongSuites, rfc7465},
	"3DES_CIPHER":         {refusedNo, false, finding.Fail, finding.Safer, 45, strongSuites, rfc9325 + "#section-4.1"},
	"SSL3":                {refusedNo, false, finding.Fail, finding.Safer, 55, "Switch off SSL 3.0.", rfc7568},
	"DEPRECATED_PROTOCOL": {refusedNo, false, finding.Warn, finding.Safer, 40, "Accept TLS 1.2 and 1.3 only.", rfc8996},
	"WEAK_KEY": {refusedUnknown, false, finding.Fail, finding.Safer, 57,
		"Get a certificate with an RSA key of 2048 bits or an ECDSA key of 256 bits.", rfc9325 + "#section-4.5"},
	"WEAK_DH": {refusedUnknown, false, finding.Warn, finding.Safer, 42,
		"Use ECDHE, or Diffie-Hellman parameters of 2048 bits.", rfc9325 + "#section-4.1"},
	"OCSP_STAPLE_INVALID": {refusedUnknown, false, finding.Warn, finding.Safer, 35,
		"Check that the server renews the OCSP response that it sends.", rfc6960},
	"OCSP_STATUS_UNKNOWN": {refusedUnknown, false, finding.Warn, finding.Safer, 32,
		"Ask the authority whether it has recorded the certificate.", rfc6960},
	"VALIDITY_TOO_LONG": {refusedUnknown, false, finding.Warn, finding.Safer, 38,
		"Get a certificate that is valid for a shorter time.",
		"https://cabforum.org/working-groups/server/baseline-requirements/"},
	"ANY_PURPOSE_ONLY": {refusedUnknown, false, finding.Warn, finding.Safer, 38,
		"Get a certificate with serverAuth in its extendedKeyUsage.", rfc5280 + "#section-4.2.1.12"},
	"NO_FORWARD_SECRECY": {refusedNo, false, finding.Warn, finding.Safer, 36, "Prefer ECDHE suites.",
		rfc9325 + "#section-4.1"},
	"CHAIN_TOO_LONG": {refusedUnknown, false, finding.Warn, finding.Safer, 20,
		"Send the server's certificate and the few that lead to its authority.", rfc8446 + "#section-4.4.2"},

	certs.DefectLongKey: {refusedUnknown, true, finding.Info, finding.Note, 9,
		"Use a key of 2,048 to 4,096 bits, or one on an elliptic curve: longer ones cost each visitor time and make " +
			"nothing safer.", ""},
	certs.DefectUnfinished: {refusedUnknown, true, finding.Info, finding.Note, 9,
		"Send the server's certificate and the few that lead to its authority, with RSA or elliptic-curve keys of usual " +
			"sizes.", ""},
	certs.DefectCostly: {refusedUnknown, true, finding.Info, finding.Note, 9,
		"Send only the certificates that lead to the authority.", ""},
	"OTHER_CERTIFICATE_NOT_VERIFIED": {refusedUnknown, false, finding.Info, finding.Note, 7, "", ""},
	"ENDPOINT_SKIPPED":               {refusedUnknown, false, finding.Info, finding.Note, 6, "", ""},
	"HANDSHAKE_ONLY_READ":            {refusedUnknown, false, finding.Info, finding.Note, 6, "", ""},
	"CLIENT_CERTIFICATE_REQUESTED":   {refusedNo, false, finding.Info, finding.Note, 5, "", rfc8446 + "#section-4.3.2"},
	"CHAIN_NOT_IN_ORDER": {refusedUnknown, false, finding.Info, finding.Note, 8,
		"Put the server's certificate first, and each intermediate after the one that it issued.",
		rfc8446 + "#section-4.4.2"},
	"CHAIN_REPEATED": {refusedNo, false, finding.Info, finding.Note, 4, "Send each certificate once.",
		rfc8446 + "#section-4.4.2"},
	"CHAIN_FOREIGN": {refusedNo, false, finding.Info, finding.Note, 4, "Send only the certificates of the chain.",
		rfc8446 + "#section-4.4.2"},
	"CHAIN_HAS_ROOT": {refusedNo, false, finding.Info, finding.Note, 3, "Leave out the root.",
		rfc8446 + "#section-4.4.2"},
	"NO_TLS13":   {refusedNo, false, finding.Info, finding.Note, 8, "Switch on TLS 1.3.", rfc8446},
	"CBC_CIPHER": {refusedNo, false, finding.Info, finding.Note, 7, strongSuites, rfc9325 + "#section-4.1"},
	"NOT_POST_QUANTUM": {refusedNo, false, finding.Info, finding.Note, 2, "",
		"https://datatracker.ietf.org/doc/draft-ietf-tls-ecdhe-mlkem/"},
	"POST_QUANTUM": {refusedNo, false, finding.Info, finding.Note, 0, "",
		"https://datatracker.ietf.org/doc/draft-ietf-tls-ecdhe-mlkem/"},
	"OTHER_CERTIFICATE_WITHOUT_SNI": {refusedNo, false, finding.Info, finding.Note, 2, "", ""},
	"REVOCATION_NOT_CHECKED":        {refusedUnknown, false, finding.Info, finding.Note, 1, "", rfc5280 + "#section-6.3"},
	"REVOCATION_UNKNOWN":            {refusedUnknown, false, finding.Info, finding.Note, 3, "", rfc5280 + "#section-6.3"},
	"CAA_NOT_PERMITTED": {refusedNo, false, finding.Info, finding.Note, 12,
		"Before the certificate is renewed, add its authority to the CAA records, or choose one that they name.",
		rfc8659 + "#section-4.2"},
	"CAA_NOT_KNOWN": {refusedNo, false, finding.Info, finding.Note, 10,
		"Look at the name servers of the domain before the certificate has to be renewed.", rfc8659 + "#section-3"},
	"TLSA_MATCHES_NOTHING": {refusedUnknown, false, finding.Warn, finding.Safer, 37,
		"Publish the digest of the server's public key, or remove the records.", rfc7671 + "#section-5"},
	"TLSA_NOT_AUTHENTICATED": {refusedNo, false, finding.Info, finding.Note, 5,
		"Sign the zone with DNSSEC, if clients are to use them.", rfc7671 + "#section-4"},
	"TLSA_LOOKUP_FAILED": {refusedUnknown, false, finding.Info, finding.Note, 4, "", rfc7671 + "#section-4"},
}

// The codes of conclusions.
const (
	codeTrusted      = "CERTIFICATE_TRUSTED"
	codeExpiresSoon  = "CERTIFICATE_EXPIRES_SOON"
	codeTrustedWeak  = "TRUSTED_WITH_WARNINGS"
	codeTrustedFault = "TRUSTED_WITH_PROBLEMS"
	codeNotVerified  = "CERTIFICATE_NOT_VERIFIED"
	codeRefused      = "CERTIFICATE_REFUSED"
)

var catalogue = finding.Catalogue{
	Conclusions: map[string]finding.Outcome{
		codeTrusted:      {State: finding.OK, Message: "The %[1]s is trusted and valid for another %[2]s."},
		codeExpiresSoon:  {State: finding.Warned, Message: "The %[1]s is trusted, but expires in %[2]s."},
		codeTrustedWeak:  {State: finding.Warned, Message: "The %[1]s is trusted. %[2]s"},
		codeTrustedFault: {State: finding.Failed, Message: "The %[1]s is trusted, but not every client can connect. %[2]s"},
		codeNotVerified:  {State: finding.Unknown, Message: "The %[1]s was not verified. %[2]s"},
		codeRefused:      {State: finding.Failed, Message: "%[1]s%[2]s: %[3]s"},
	},
	Findings: entries(),
}

func entries() map[string]finding.Entry {
	list := make(map[string]finding.Entry, len(rows))
	for code, r := range rows {
		list[code] = finding.Entry{Severity: r.severity, Group: r.group, Weight: r.weight, Message: "%[1]s",
			Remedy: r.remedy, Reference: r.reference}
	}
	return list
}

// report makes the conclusion and the findings of a result; subject is "certificate of" the host.
func report(r Result, subject string) finding.Report {
	found := finding.NewReport(finding.Conclusion{}, findingsOf(r, subject)...)
	found.Conclusion = conclusionOf(r, subject, found.Findings)
	return found
}

// findingsOf has a finding for each issue; those about one address have it as their subject.
func findingsOf(r Result, subject string) []finding.Finding {
	var list []finding.Finding
	add := func(i issue) *finding.Finding {
		list = append(list, findingOf(i))
		return &list[len(list)-1]
	}
	outdated := onlyOutdated(r.SupportedProtocols)
	for _, i := range r.Issues {
		switch {
		case ofEndpoint(i.Code):
		case i.Code == certs.CodeNoLocalIssuer && i.Severity == severityInfo: // the defect says why
		default:
			f := add(i)
			if rows[i.Code].certificate {
				f.Subject = &subject
			}
			if outdated && (i.Code == "SSL3" || i.Code == "DEPRECATED_PROTOCOL") {
				f.Group, f.Weight = finding.Broken, 89
			}
			if i.Code == "TLSA_MATCHES_NOTHING" && isMail(r.Port) { // whose clients check DANE, as browsers do not
				f.Group, f.Weight = finding.Broken, 72
			}
		}
	}
	for _, e := range r.Endpoints {
		for _, i := range e.Issues {
			if ofEndpoint(i.Code) {
				add(i).Subject = &e.Address
			}
		}
	}
	return list
}

// findingOf is the finding of an issue. Its severity is the issue's: some codes have several.
func findingOf(i issue) finding.Finding {
	f := catalogue.Find(i.Code, i.Message)
	severity := finding.Severity(i.Severity)
	if worsened := severity != f.Severity; worsened && i.Code == "ENDPOINTS_DIFFER" {
		f.Group, f.Weight = finding.Safer, 30
		if severity == finding.Fail {
			f.Group, f.Weight = finding.Broken, 84
		}
	} else if worsened && i.Code == "CHAIN_EXPIRES_FIRST" {
		f.Group, f.Weight = finding.Note, 8
	} else if worsened && i.Code == "OCSP_STAPLE_INVALID" {
		f.Group, f.Weight = finding.Broken, 74 // the certificate requires a valid one
	}
	f.Severity = severity
	return f
}

func ofEndpoint(code string) bool {
	return code == "ENDPOINT_SKIPPED" || code == "ENDPOINT_UNREACHABLE" || code == "ENDPOINT_WITHOUT_TLS"
}

// conclusionOf is whether clients accept the certificate; list is sorted.
func conclusionOf(r Result, subject string, list []finding.Finding) finding.Conclusion {
	var worst finding.Finding
	if len(list) > 0 {
		worst = list[0]
	}
	broken := worst.Group == finding.Broken && worst.Severity == finding.Fail
	switch {
	case broken && rows[worst.Code].certificate:
		return catalogue.Conclude(codeRefused, refusers(r, subject, worst.Code), refusedAt(r), lowerFirst(worst.Message))
	case r.notVerified():
		return catalogue.Conclude(codeNotVerified, subject, defectOf(r))
	case broken:
		return catalogue.Conclude(codeTrustedFault, subject, worst.Message)
	case worst.Code == "CERT_EXPIRES_SOON":
		return catalogue.Conclude(codeExpiresSoon, subject, inDays(r.Certificate.DaysRemaining))
	case worst.Severity == finding.Fail || worst.Severity == finding.Warn:
		return catalogue.Conclude(codeTrustedWeak, subject, worst.Message)
	}
	return catalogue.Conclude(codeTrusted, subject, inDays(r.daysLeft()))
}

// daysLeft is for how many days clients go on accepting a certificate that they accept now.
func (r Result) daysLeft() int64 {
	if slices.ContainsFunc(r.Issues, func(i issue) bool { return i.Code == "CHAIN_EXPIRES_FIRST" }) {
		return r.pathDays
	}
	return r.Certificate.DaysRemaining
}

// defectOf is the sentence on why the certificate was not verified.
func defectOf(r Result) string {
	for _, i := range r.Issues {
		if _, is := defectMessages[i.Code]; is {
			return i.Message
		}
	}
	return ""
}

// refusers names the clients that refuse the server.
func refusers(r Result, subject, code string) string {
	host := strings.TrimPrefix(subject, "certificate of ")
	switch {
	case rows[code].refused != refusedYes:
		return "Many clients refuse " + host
	case r.Port == 443:
		return "Browsers refuse " + host
	}
	return "Clients that check certificates refuse " + host
}

// refusedAt names the addresses at which clients refuse the certificate, where they accept it at others.
func refusedAt(r Result) string {
	var sound, refused []string
	for _, e := range r.Endpoints {
		switch {
		case e.Authorized:
			sound = append(sound, e.Address)
		case e.refusal != "":
			refused = append(refused, e.Address)
		}
	}
	switch {
	case len(sound) == 0 || len(refused) == 0:
		return ""
	case len(refused) > 1:
		return fmt.Sprintf(" at %d of %d addresses", len(refused), len(r.Endpoints))
	}
	return fmt.Sprintf(" at %s, but not at %s", refused[0], text.Number(len(sound), sound[0],
		fmt.Sprintf("%d others", len(sound))))
}

// onlyOutdated reports whether the server supports no version that clients still accept.
func onlyOutdated(supported map[string]*bool) bool {
	return len(taken(supported, tlsscan.SSL30, tlsscan.TLS10, tlsscan.TLS11)) > 0 &&
		len(taken(supported, tlsscan.TLS12, tlsscan.TLS13)) == 0
}

// lowerFirst makes a sentence of this package go on after a colon.
func lowerFirst(sentence string) string {
	if sentence == "" {
		return ""
	}
	return strings.ToLower(sentence[:1]) + sentence[1:]
}

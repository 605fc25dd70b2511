package sslchecker

import (
	"crypto/x509"
	"fmt"
	"slices"
	"strings"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/egress/tlsscan"
	"diagnostics/gateway/internal/text"
)

// issue is a fact about a server. Its code is one of package certs or of this package.
type issue struct {
	Code     string `json:"code"`
	Severity string `json:"severity" wire:"enum=fail|warn|info"`
	Message  string `json:"message"`
}

// The severities: fail is what clients refuse or should, warn what will break or is weak, info what is good to know.
const (
	severityFail = "fail"
	severityWarn = "warn"
	severityInfo = "info"
)

// expiresSoonDays is when the end is reported; certificates that live for less are given a third of their life.
const expiresSoonDays = 14

const daySeconds = 24 * 60 * 60

// validityLimit is the longest validity of a certificate that is valid from a day on.
type validityLimit struct {
	from         time.Time
	months, days int
}

// validityLimits are the longest validities that public authorities may issue (Baseline Requirements section 6.3.2), by
// the day on which the validity begins, latest first.
var validityLimits = []validityLimit{
	{from: date(2029, 3, 15), days: 47},
	{from: date(2027, 3, 15), days: 100},
	{from: date(2026, 3, 15), days: 200},
	{from: date(2020, 9, 1), days: 398},
	{from: date(2018, 3, 1), days: 825},
	{from: date(2015, 4, 1), months: 39},
	{months: 60},
}

func date(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// findIssues lists all that holds, the verdict first.
func findIssues(r Result, verdict certs.Verdict, seen observation, now time.Time) []issue {
	sent := seen.state.PeerCertificates
	issues := slices.Concat(verdictIssues(verdict, now), chainIssues(len(sent), verdict),
		leafIssues(r.Certificate, sent[0], verdict.Public, now), pathIssues(verdict, sent[0], now), browserIssues(sent[0]),
		stapleIssues(r))
	if seen.failure == nil { // else those that come with the handshake may have been missed
		issues = append(issues, timestampIssues(verdict, r.Port, r.SCTs)...)
	}
	return append(append([]issue{}, issues...), handshakeIssues(seen)...)
}

// leafIssues are about the server's own certificate; public is that a public authority issued it.
func leafIssues(cert certificate, leaf *x509.Certificate, public bool, now time.Time) []issue {
	var issues []issue
	life := leaf.NotAfter.Unix() - leaf.NotBefore.Unix() + 1 // both ends are inside it
	soon := min(expiresSoonDays, life/daySeconds/3)
	if cert.DaysRemaining >= 0 && cert.DaysRemaining <= soon && !now.Before(leaf.NotBefore) {
		issues = append(issues, issue{"CERT_EXPIRES_SOON", severityWarn,
			fmt.Sprintf("The certificate expires in %s.", inDays(cert.DaysRemaining))})
	}
	if cert.KeyType == "RSA" && cert.KeyBits < 2048 || cert.KeyType == "ECDSA" && cert.KeyBits < 256 {
		issues = append(issues, issue{"WEAK_KEY", severityFail,
			fmt.Sprintf("The key has %d bits; RSA keys need 2048 and elliptic curves 256.", cert.KeyBits)})
	}
	if len(cert.SubjectAltNames.DNS)+len(cert.SubjectAltNames.IP) == 0 {
		issues = append(issues, issue{"NO_SUBJECT_ALT_NAMES", severityFail,
			"The certificate has no subject alternative names; clients ignore the common name."})
	}
	return append(issues, validityIssues(leaf, public)...)
}

// pathIssues are about a certificate that clients accept, and for less time than it is valid itself.
func pathIssues(verdict certs.Verdict, leaf *x509.Certificate, now time.Time) []issue {
	if !verdict.Authorized || !verdict.Ends.Before(leaf.NotAfter) {
		return nil
	}
	days, severity := daysRemaining(verdict.Ends, now), severityInfo
	if days <= expiresSoonDays {
		severity = severityWarn
	}
	return []issue{{"CHAIN_EXPIRES_FIRST", severity, fmt.Sprintf(
		"The chain of the certificate expires in %s, before the certificate itself.", inDays(days))}}
}

// validityIssues hold the leaf of a public authority against the limit of its time. Other authorities have no limit.
func validityIssues(leaf *x509.Certificate, public bool) []issue {
	if !public {
		return nil
	}
	i := slices.IndexFunc(validityLimits, func(l validityLimit) bool { return !leaf.NotBefore.Before(l.from) })
	limit := validityLimits[i]
	if leaf.NotAfter.Before(leaf.NotBefore.AddDate(0, limit.months, limit.days)) { // both ends are inside it
		return nil
	}
	longest := fmt.Sprintf("%d days", limit.days)
	if limit.months > 0 {
		longest = fmt.Sprintf("%d months", limit.months)
	}
	return []issue{{"VALIDITY_TOO_LONG", severityWarn,
		fmt.Sprintf("The certificate is valid for more than the %s that public authorities may issue; some clients "+
			"refuse it.", longest)}}
}

func inDays(n int64) string {
	if n == 0 {
		return "less than a day"
	}
	return fmt.Sprintf("%d %s", n, text.Number(int(n), "day", "days"))
}

// stapleIssues are about the revocation status that was sent along.
func stapleIssues(r Result) []issue {
	if !r.OCSPStapling.Present {
		if r.Certificate.MustStaple {
			return []issue{{"MUST_STAPLE_MISSING", severityWarn,
				"The certificate requires a stapled OCSP response, but the server sent none."}}
		}
		return nil
	}
	if r.OCSPStapling.Status == nil {
		return nil
	}
	switch *r.OCSPStapling.Status {
	case stapleRevoked:
		return []issue{{codeRevoked, severityFail, "The authority has revoked the certificate."}}
	case stapleUnknown:
		return []issue{{"OCSP_STATUS_UNKNOWN", severityWarn, "The authority's responder does not know the certificate."}}
	case stapleInvalid:
		severity := severityWarn
		if r.Certificate.MustStaple {
			severity = severityFail
		}
		return []issue{{"OCSP_STAPLE_INVALID", severity,
			"The stapled OCSP response is unreadable, out of date or not signed for this certificate."}}
	}
	return nil
}

// handshakeIssues are about how the handshake went.
func handshakeIssues(seen observation) []issue {
	if seen.clientRequested {
		return []issue{{"CLIENT_CERTIFICATE_REQUESTED", severityInfo,
			"The server asks for a client certificate; none was sent."}}
	}
	if seen.read {
		return []issue{{"HANDSHAKE_ONLY_READ", severityInfo,
			"This service's TLS could not complete a handshake with the server, so it read only the server's part, up to the " +
				"certificate."}}
	}
	if seen.failure != nil {
		return []issue{{"HANDSHAKE_NOT_COMPLETED", severityFail,
			"The server showed its certificate, but the handshake could not be completed."}}
	}
	return nil
}

// browserIssues are about what browsers in particular do not take.
func browserIssues(leaf *x509.Certificate) []issue {
	var issues []issue
	if certs.AnyPurposeOnly(leaf) {
		issues = append(issues, issue{"ANY_PURPOSE_ONLY", severityWarn,
			"The certificate is for any purpose (anyExtendedKeyUsage) and does not name that of a server (serverAuth): some " +
				"browsers refuse it."})
	}
	if kind, _ := describeKey(leaf); slices.Contains(keysOfNoBrowser, kind) {
		issues = append(issues, issue{"UNSUPPORTED_KEY", severityWarn,
			fmt.Sprintf("The certificate's key is of type %s. No browser accepts such certificates, though some other "+
				"clients do.", kind)})
	}
	return issues
}

// keysOfNoBrowser are the kinds of keys that TLS defines and browsers do not offer.
var keysOfNoBrowser = []string{"Ed25519", "Ed448", "DSA"}

// helloIssues are about a server that answers short hellos alone.
func helloIssues(tooLong bool) []issue {
	if !tooLong {
		return nil
	}
	return []issue{{"HELLO_INTOLERANT", severityWarn,
		"The server does not answer a TLS hello as long as that of a current browser, only a shorter one."}}
}

// mailPorts are those whose clients do not require timestamps.
var mailPorts = []uint16{25, 110, 143, 465, 587, 993, 995, 2525, 4190}

// timestampIssues are about signed certificate timestamps, which browsers demand of authorities that they trust
// themselves, and of no others.
func timestampIssues(verdict certs.Verdict, port uint16, found timestamps) []issue {
	if found.Count > 0 || !verdict.Public || slices.Contains(mailPorts, port) {
		return nil
	}
	return []issue{{"NO_SCTS", severityWarn,
		"The certificate came without signed certificate timestamps (SCTs), which browsers require of a public " +
			"authority's certificate: Chrome, Firefox and Safari refuse it."}}
}

// protocolIssues are about the versions of the protocol.
func protocolIssues(r Result) []issue {
	var issues []issue
	old := taken(r.SupportedProtocols, tlsscan.TLS10, tlsscan.TLS11)
	modern := taken(r.SupportedProtocols, tlsscan.TLS12, tlsscan.TLS13)
	if ssl3 := taken(r.SupportedProtocols, tlsscan.SSL30); len(ssl3) > 0 {
		text := "The server still accepts SSL 3.0, which is broken (RFC 7568)."
		if len(old)+len(modern) == 0 {
			text = "The server supports nothing better than SSL 3.0, which is broken and which clients refuse (RFC 7568)."
		}
		issues = append(issues, issue{"SSL3", severityFail, text})
	}
	switch {
	case len(old) == 0:
	case len(modern) == 0:
		issues = append(issues, issue{"DEPRECATED_PROTOCOL", severityFail,
			fmt.Sprintf("The server supports nothing better than %s, which clients refuse (RFC 8996).",
				text.Listed(old))})
	default:
		issues = append(issues, issue{"DEPRECATED_PROTOCOL", severityWarn,
			fmt.Sprintf("The server still accepts %s (RFC 8996).", text.Listed(old))})
	}
	if newest := r.SupportedProtocols[tlsscan.TLS13.String()]; newest != nil && !*newest {
		issues = append(issues, issue{"NO_TLS13", severityInfo, "The server does not support TLS 1.3."})
	}
	return issues
}

// taken gives the names of those of the versions that the server takes.
func taken(supported map[string]*bool, versions ...tlsscan.Version) []string {
	var names []string
	for _, version := range versions {
		if yes := supported[version.String()]; yes != nil && *yes {
			names = append(names, version.String())
		}
	}
	return names
}

// issues are about what the server takes, and what it chose in its handshake with this service.
func (p probed) issues(seen observation) []issue {
	chosen, _ := tlsscan.SuiteByID(seen.state.CipherSuite)
	return slices.Concat(insecureIssues(p.all(chosen)), chosenIssues(chosen), weakDHIssues(p, seen),
		p.quantumIssues(seen))
}

// all are the suites that are taken, each once, and the chosen one, which is one of them whatever the probing found.
func (p probed) all(chosen tlsscan.Suite) []tlsscan.Suite {
	var suites []tlsscan.Suite
	add := func(s tlsscan.Suite) {
		if !slices.ContainsFunc(suites, func(t tlsscan.Suite) bool { return t.ID == s.ID }) {
			suites = append(suites, s)
		}
	}
	for _, s := range p.Suites {
		suite, _ := tlsscan.SuiteByID(s.ID)
		add(suite)
	}
	add(chosen)
	return suites
}

// insecureKinds are the suites that no server should take, the worst first. A suite is reported once, by the first that
// it is of.
var insecureKinds = []struct {
	code string
	is   func(tlsscan.Suite) bool
	text string
}{
	{"NULL_CIPHER", named("NULL"),
		"The server accepts cipher suites that do not encrypt anything (RFC 9325): %s."},
	{"ANONYMOUS_CIPHER", func(s tlsscan.Suite) bool { return s.Authentication == "anon" },
		"The server accepts cipher suites that do not prove who the server is (RFC 9325): %s."},
	// All that there are with RC2 are among them.
	{"EXPORT_CIPHER", named("EXPORT", "EXPORT1024"),
		"The server accepts export cipher suites, whose deliberately short keys are quickly broken (RFC 9325): %s."},
	{"DES_CIPHER", named("DES", "DES40"),
		"The server accepts cipher suites with DES, whose 56-bit keys are quickly broken (RFC 9325): %s."},
	{"RC4_CIPHER", named("RC4"), "The server accepts cipher suites with RC4, which is broken (RFC 7465): %s."},
	{"3DES_CIPHER", named("3DES"),
		"The server accepts cipher suites with 3DES, whose short blocks let data leak in long connections (RFC 9325): %s."},
}

// named lists the suites that have one of the words between the underscores of their name.
func named(words ...string) func(tlsscan.Suite) bool {
	return func(s tlsscan.Suite) bool {
		return slices.ContainsFunc(strings.Split(s.Name, "_"), func(part string) bool { return slices.Contains(words, part) })
	}
}

// maxNamed is how many suites a sentence names.
const maxNamed = 4

func insecureIssues(suites []tlsscan.Suite) []issue {
	var issues []issue
	for _, kind := range insecureKinds {
		var found, others []tlsscan.Suite
		for _, s := range suites {
			if kind.is(s) {
				found = append(found, s)
			} else {
				others = append(others, s)
			}
		}
		if suites = others; len(found) > 0 {
			names := text.ListedUpTo(maxNamed, found, func(s tlsscan.Suite) string { return s.Name })
			issues = append(issues, issue{kind.code, severityFail, fmt.Sprintf(kind.text, names)})
		}
	}
	return issues
}

// chosenIssues are about the cipher suite that the server chose.
func chosenIssues(suite tlsscan.Suite) []issue {
	var issues []issue
	if !hasForwardSecrecy(suite) {
		issues = append(issues, issue{"NO_FORWARD_SECRECY", severityWarn,
			"The key exchange has no forward secrecy: anyone who gets the server's key can read recorded traffic."})
	}
	if suite.Strength != tlsscan.Insecure && named("CBC")(suite) {
		issues = append(issues, issue{"CBC_CIPHER", severityInfo,
			fmt.Sprintf("The server chose %s; authenticated encryption (GCM, ChaCha20-Poly1305) is preferred.", suite.Name)})
	}
	return issues
}

// The sizes of Diffie-Hellman parameters: what RFC 9325 section 4.1 requires at least, and what is within the reach of
// states.
const (
	enoughDHBits = 2048
	brokenDHBits = 1024
)

func weakDHIssues(p probed, seen observation) []issue {
	bits := p.DHBits
	if bits == 0 || seen.dhBits > 0 && seen.dhBits < bits {
		bits = seen.dhBits
	}
	if bits == 0 || bits >= enoughDHBits {
		return nil
	}
	severity := severityWarn
	if bits <= brokenDHBits {
		severity = severityFail
	}
	return []issue{{"WEAK_DH", severity,
		fmt.Sprintf("The server's Diffie-Hellman parameters have %d bits; %d are needed (RFC 9325).", bits, enoughDHBits)}}
}

// quantumGroups are the groups with ML-KEM, alone and together with a curve (IANA's registry of TLS
// supported groups).
var quantumGroups = []uint16{0x11EC, 0x11EB, 0x11ED, 0x0200, 0x0201, 0x0202}

// quantumIssues judge the key exchange by whether traffic that is recorded today can be read with a quantum computer.
// Nothing is said where the groups are not known.
func (p probed) quantumIssues(seen observation) []issue {
	groups := append([]uint16{uint16(seen.state.CurveID)}, p.Groups...)
	for _, group := range groups {
		if slices.Contains(quantumGroups, group) {
			return []issue{{"POST_QUANTUM", severityInfo,
				fmt.Sprintf("Post-quantum key exchange: ready. The server supports %s, so traffic that is recorded today stays "+
					"safe from quantum computers.", tlsscan.GroupName(group))}}
		}
	}
	if !p.Complete || len(p.Suites) == 0 {
		return nil
	}
	return []issue{{"NOT_POST_QUANTUM", severityInfo,
		"Post-quantum key exchange: not yet. The server supports no group such as X25519MLKEM768, so a quantum computer " +
			"could one day read traffic that is recorded today."}}
}

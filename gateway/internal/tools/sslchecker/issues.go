package sslchecker

import (
	"crypto/x509"
	"fmt"
	"slices"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/text"
)

// issue is one thing to know about a server. The code is certcheck's or one of this file's.
type issue struct {
	Code     string `json:"code"`
	Severity string `json:"severity"`
	Message  string `json:"message"`
}

// The severities: fail is what clients refuse or should, warn what will break or is weak, info what is good to know.
const (
	severityFail = "fail"
	severityWarn = "warn"
	severityInfo = "info"
)

// expiresSoonDays is when people want to hear of it; certificates that live for less are given a third of their life.
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
	issues := slices.Concat(verdictIssues(verdict), chainIssues(len(sent), verdict),
		leafIssues(r.Certificate, sent[0], verdict.Public, now), browserIssues(sent[0]), stapleIssues(r))
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
			return []issue{{"MUST_STAPLE_MISSING", severityFail,
				"The certificate requires a stapled OCSP response, but the server sent none."}}
		}
		if !r.ChainComplete {
			return nil // nobody is known who could revoke it
		}
		return []issue{{"REVOCATION_NOT_CHECKED", severityInfo,
			"Revocation was not checked: the server sent no stapled OCSP response, and nobody else is asked."}}
	}
	if r.OCSPStapling.Status == nil {
		return nil
	}
	switch *r.OCSPStapling.Status {
	case stapleRevoked:
		return []issue{{"CERT_REVOKED", severityFail, "The authority has revoked the certificate."}}
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

// keysOfNoBrowser are the kinds of keys that TLS knows and browsers do not offer.
var keysOfNoBrowser = []string{"Ed25519", "Ed448", "DSA"}

// mailPorts are those whose clients do not ask for timestamps.
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

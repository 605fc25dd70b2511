package sslchecker

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"strings"
	"time"

	"diagnostics/gateway/internal/certcheck"
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

// validityLimits are the most days that a certificate of a public authority may be valid, by the day from which it is
// (Baseline Requirements section 6.3.2), the latest first.
var validityLimits = []struct {
	from time.Time
	days int64
}{
	{time.Date(2029, 3, 15, 0, 0, 0, 0, time.UTC), 47},
	{time.Date(2027, 3, 15, 0, 0, 0, 0, time.UTC), 100},
	{time.Date(2026, 3, 15, 0, 0, 0, 0, time.UTC), 200},
	{time.Time{}, 398},
}

// findIssues lists all that holds, the verdict first.
func findIssues(r Result, verdict certcheck.Verdict, seen observation, now time.Time) []issue {
	issues := append([]issue{}, verdictIssues(verdict)...)
	issues = append(issues, chainIssues(len(seen.state.PeerCertificates), verdict)...)
	issues = append(issues, leafIssues(r.Certificate, seen.state.PeerCertificates[0], now)...)
	issues = append(issues, browserIssues(seen.state.PeerCertificates[0])...)
	issues = append(issues, stapleIssues(r)...)
	if seen.failure == nil { // else those that come with the handshake may have been missed
		issues = append(issues, timestampIssues(verdict, r.Port, r.SCTs)...)
	}
	issues = append(issues, protocolIssues(r, seen.state.Version)...)
	issues = append(issues, cipherIssues(seen.state.CipherSuite)...)
	return append(issues, handshakeIssues(seen)...)
}

// leafIssues are about the server's own certificate.
func leafIssues(cert certificate, leaf *x509.Certificate, now time.Time) []issue {
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
	if limit := validityLimit(leaf.NotBefore); life > limit*daySeconds {
		issues = append(issues, issue{"VALIDITY_TOO_LONG", severityWarn,
			fmt.Sprintf("The certificate is valid for more than the %d days that public authorities may give; some clients "+
				"refuse it.", limit)})
	}
	return issues
}

func validityLimit(from time.Time) int64 {
	for _, limit := range validityLimits {
		if !from.Before(limit.from) {
			return limit.days
		}
	}
	return validityLimits[0].days
}

func inDays(n int64) string {
	switch n {
	case 0:
		return "less than a day"
	case 1:
		return "1 day"
	}
	return fmt.Sprintf("%d days", n)
}

// stapleIssues are about the revocation status that was sent along.
func stapleIssues(r Result) []issue {
	if !r.OCSPStapling.Present {
		if r.Certificate.MustStaple {
			return []issue{{"MUST_STAPLE_MISSING", severityFail,
				"The certificate demands a stapled OCSP response, and the server sent none."}}
		}
		if !r.ChainComplete {
			return nil // nobody is known who could revoke it
		}
		return []issue{{"REVOCATION_NOT_CHECKED", severityInfo,
			"Whether the certificate was revoked is not checked: the server sent no stapled OCSP response, and nobody else is " +
				"asked."}}
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

// protocolIssues are about the versions of TLS.
func protocolIssues(r Result, chosen uint16) []issue {
	var issues []issue
	if chosen < tls.VersionTLS12 {
		issues = append(issues, issue{"DEPRECATED_PROTOCOL", severityFail,
			fmt.Sprintf("The best version that the server has is %s, which clients refuse (RFC 8996).", r.Protocol)})
	} else if old := offered(r.SupportedProtocols, tls.VersionTLS10, tls.VersionTLS11); len(old) > 0 {
		issues = append(issues, issue{"DEPRECATED_PROTOCOL", severityWarn,
			fmt.Sprintf("The server still takes %s (RFC 8996).", strings.Join(old, " and "))})
	}
	if modern := r.SupportedProtocols[protocolName(tls.VersionTLS13)]; modern != nil && !*modern {
		issues = append(issues, issue{"NO_TLS13", severityInfo, "The server does not take TLS 1.3."})
	}
	return issues
}

func offered(supported map[string]*bool, versions ...uint16) []string {
	var names []string
	for _, version := range versions {
		name := protocolName(version)
		if taken := supported[name]; taken != nil && *taken {
			names = append(names, name)
		}
	}
	return names
}

// cipherIssues are about the cipher suite that the server chose.
func cipherIssues(suite uint16) []issue {
	var issues []issue
	name := tls.CipherSuiteName(suite)
	if isRSAKeyExchange(suite) {
		issues = append(issues, issue{"NO_FORWARD_SECRECY", severityWarn,
			"The key exchange has no forward secrecy: whoever gets the server's key can read recorded traffic."})
	}
	switch {
	case strings.Contains(name, "_RC4_"), strings.Contains(name, "_3DES_"):
		issues = append(issues, issue{"WEAK_CIPHER", severityFail,
			fmt.Sprintf("The server chose %s, which is broken (RFC 7465, RFC 9325).", name)})
	case strings.Contains(name, "_CBC_"):
		issues = append(issues, issue{"CBC_CIPHER", severityInfo,
			fmt.Sprintf("The server chose %s; authenticated encryption (GCM, ChaCha20-Poly1305) is preferred.", name)})
	}
	return issues
}

// handshakeIssues are about how the handshake went.
func handshakeIssues(seen observation) []issue {
	if seen.clientRequested {
		return []issue{{"CLIENT_CERTIFICATE_REQUESTED", severityInfo,
			"The server asks for a client certificate; none was sent."}}
	}
	if seen.failure != nil {
		return []issue{{"HANDSHAKE_NOT_COMPLETED", severityFail,
			"The server showed its certificate, but the handshake could not be completed."}}
	}
	return nil
}

package sslchecker

import (
	"crypto/x509"
	"fmt"
	"slices"

	"diagnostics/gateway/internal/certcheck"
)

// browserIssues are about what browsers in particular do not take.
func browserIssues(leaf *x509.Certificate) []issue {
	var issues []issue
	if certcheck.AnyPurposeOnly(leaf) {
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
func timestampIssues(verdict certcheck.Verdict, port uint16, found timestamps) []issue {
	if found.Count > 0 || !verdict.Public || slices.Contains(mailPorts, port) {
		return nil
	}
	return []issue{{"NO_SCTS", severityWarn,
		"The certificate came without signed certificate timestamps (SCTs), which browsers require of a public " +
			"authority's certificate: Chrome, Firefox and Safari refuse it."}}
}

package sslchecker

import (
	"crypto/x509"
	"fmt"
	"slices"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/text"
)

// chainIssues are about the certificates as they were sent; sent is how many.
func chainIssues(sent int, verdict certs.Verdict) []issue {
	var issues []issue
	if slices.Contains(verdict.Codes, certs.CodeUnverifiableLeaf) && len(verdict.Sent.Wrong) == 0 {
		issues = append(issues, issue{"INCOMPLETE_CHAIN", severityWarn,
			"Install the intermediate certificates of your authority, so that the server sends them: some browsers fill the " +
				"gap themselves, other clients fail."})
	}
	issues = append(issues, arrangementIssues(verdict)...)
	if verdict.Cut {
		issues = append(issues, issue{"CHAIN_TOO_LONG", severityWarn,
			fmt.Sprintf("The server sent %d certificates. Only the first %d are verified, up to 64 KiB in all and three with "+
				"the same name.", sent, certs.MaxCertificates)})
	}
	if slices.ContainsFunc(verdict.Chain, weaklySigned) {
		issues = append(issues, issue{"WEAK_SIGNATURE", severityFail,
			"A certificate in the chain is signed with SHA-1 or MD5, which can be forged."})
	}
	return issues
}

// arrangementIssues tell what is more than the chain, or stands in the wrong place.
func arrangementIssues(verdict certs.Verdict) []issue {
	var issues []issue
	info := func(code, message string) { issues = append(issues, issue{code, severityInfo, message}) }
	if verdict.Sent.OutOfOrder {
		info("CHAIN_NOT_IN_ORDER", "The certificates are not in order: each should come after one that it issued. Most "+
			"clients sort them, some old ones fail.")
	}
	if verdict.Sent.Repeated {
		info("CHAIN_REPEATED", "The server sends a certificate more than once. Once is enough.")
	}
	if foreign := verdict.Sent.Foreign; len(foreign) > 0 {
		several := fmt.Sprintf("%d certificates that are", len(foreign))
		info("CHAIN_FOREIGN", fmt.Sprintf("The server also sends %s not part of the chain: %s.",
			text.Number(len(foreign), "a certificate that is", several), subjects(foreign)))
	}
	if verdict.Sent.Root {
		info("CHAIN_HAS_ROOT", fmt.Sprintf("The server also sends the root, %s. Clients have their own copy and trust no "+
			"other.", shortName(verdict.Chain[len(verdict.Chain)-1].Subject)))
	}
	return issues
}

// weaklySigned reports whether a certificate has a weak signature. It leaves roots out: their own signature proves
// nothing to anybody.
func weaklySigned(cert *x509.Certificate) bool {
	return certs.WeakDigest(cert) && !certs.SelfSigned(cert)
}

package sslchecker

import (
	"cmp"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"slices"
	"strings"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/text"
)

// verdictMessages explain the codes of package certs, but for those that depend on the verdict.
var verdictMessages = map[string]string{
	certs.CodeExpired:           "A certificate in the chain has expired.",
	certs.CodeNotYetValid:       "A certificate in the chain is not valid yet.",
	certs.CodeSelfSigned:        "The certificate is self-signed: no authority vouches for it.",
	certs.CodeSelfSignedInChain: "The chain ends in a root that is not trusted.",
	certs.CodeNoLocalIssuer:     "The chain ends in a certificate whose issuer is not a trusted authority.",
	certs.CodeUnverifiableLeaf: "The certificate's issuer is not known and was not sent: an intermediate " +
		"certificate is missing.",
	certs.CodeNotPermitted:      "An authority in the chain may not issue certificates for these names.",
	certs.CodeCriticalExtension: "The chain has a critical extension that clients do not understand.",
	certs.CodeInvalidCA:         "The chain contains an issuer that is not a certificate authority.",
	certs.CodeWeakDigest:        "The chain is signed with SHA-1 or MD5, which clients refuse.",
	certs.CodePathLength:        "The chain is longer than one of its authorities allows.",
}

// defectMessages explain the defects of package certs.
var defectMessages = map[string]string{
	certs.DefectLongKey: fmt.Sprintf("The chain has an RSA key of more than %d bits. This service verifies nothing that "+
		"such a key signed.", certs.MaxKeyBits),
	certs.DefectUnfinished: "The certificates could not all be read: together they are too long, or one of them, " +
		"its key or its signature is of a kind that this service does not know.",
	certs.DefectCostly: "Verifying the chain would take too long: its certificates lead to one another in too many " +
		"ways, or have keys that are slow to verify.",
}

// verdictIssues are why clients refuse the certificate, and why it was not verified. The latter is no fault of the
// server.
func verdictIssues(verdict certs.Verdict, now time.Time) []issue {
	var issues []issue
	for _, code := range verdict.Codes {
		if code == certs.CodeNoLocalIssuer && len(verdict.Defects) > 0 {
			issues = append(issues, issue{code, severityInfo, "The chain was not verified."})
			continue
		}
		issues = append(issues, issue{code, severityFail, verdictMessage(code, verdict, now)})
	}
	for _, defect := range verdict.Defects {
		issues = append(issues, issue{defect, severityInfo, defectMessages[defect]})
	}
	return issues
}

func verdictMessage(code string, verdict certs.Verdict, now time.Time) string {
	switch {
	case len(verdict.Chain) == 0:
	case code == certs.CodeExpired && now.After(verdict.Chain[0].NotAfter):
		return fmt.Sprintf("The certificate expired %s ago.", inDays(-daysRemaining(verdict.Chain[0].NotAfter, now)-1))
	case code == certs.CodeNotYetValid && now.Before(verdict.Chain[0].NotBefore):
		return fmt.Sprintf("The certificate is not valid before %s.", dayOf(verdict.Chain[0].NotBefore))
	case code == certs.CodeUnverifiableLeaf && len(verdict.Sent.Wrong) > 0:
		return fmt.Sprintf("The certificate was issued by %s, but the server sends %s instead: the wrong intermediate "+
			"certificate is installed. Some browsers hide that.", shortName(verdict.Chain[0].Issuer),
			subjects(verdict.Sent.Wrong))
	case code == certs.CodePurpose:
		return strings.Join(purposeSentences(verdict), " ")
	case code == certs.CodeNameMismatch:
		return mismatchMessage(verdict)
	}
	return verdictMessages[code]
}

// exchangeNeeds are what keyUsage has to hold, and for what.
var exchangeNeeds = map[certs.KeyExchange]string{
	certs.Signing:   "digitalSignature, which TLS 1.3 and all key exchange by (EC)DHE need",
	certs.Transport: "keyEncipherment, which key exchange by RSA needs",
	certs.Agreement: "keyAgreement, which key exchange by fixed Diffie-Hellman keys needs",
}

// purposeSentences say what the certificate or its chain may not do.
func purposeSentences(verdict certs.Verdict) []string {
	leaf := verdict.Chain[0]
	var sentences []string
	if !certs.KeyUsageFits(leaf, verdict.Exchange) {
		sentences = append(sentences, fmt.Sprintf("The certificate does not allow its key to be used as this server uses "+
			"it: its keyUsage lacks %s.", exchangeNeeds[verdict.Exchange]))
	}
	if !certs.ServesTLS(leaf) {
		sentences = append(sentences, "The certificate is not for servers: its extendedKeyUsage lacks serverAuth.")
	}
	if len(sentences) == 0 {
		return []string{"An authority in the chain may not vouch for servers: its extendedKeyUsage lacks serverAuth."}
	}
	return sentences
}

// maxListedNames is how many names a sentence has, and maxFitName how long one may be.
const (
	maxListedNames = 3
	maxFitName     = 64
)

// mismatchMessage names the hosts that the certificate is for.
func mismatchMessage(verdict certs.Verdict) string {
	if verdict.PublicWildcard != "" {
		return fmt.Sprintf("The certificate is for this host only by %s, a wildcard for a whole public suffix, which "+
			"clients do not accept.", fitName(verdict.PublicWildcard))
	}
	leaf := verdict.Chain[0]
	names := slices.Clone(leaf.DNSNames)
	for _, ip := range leaf.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		return "The certificate is not for this host: it names no host at all."
	}
	return fmt.Sprintf("The certificate is for %s, not for this host.", text.ListedUpTo(maxListedNames, names, fitName))
}

// fitName is a stranger's name, fit for a sentence.
func fitName(name string) string { return text.Marked(name, maxFitName) }

// subjects names certificates.
func subjects(certs []*x509.Certificate) string {
	return text.ListedUpTo(maxListedNames, certs, func(c *x509.Certificate) string { return shortName(c.Subject) })
}

// shortName is what people call an authority by: its common name, or all of its name without one.
func shortName(name pkix.Name) string {
	return cmp.Or(fitName(cmp.Or(name.CommonName, name.String())), "a certificate without a name")
}

// chainIssues are about the certificates as they were sent; sent is how many.
func chainIssues(sent int, verdict certs.Verdict) []issue {
	var issues []issue
	if slices.Contains(verdict.Codes, certs.CodeUnverifiableLeaf) && len(verdict.Sent.Wrong) == 0 {
		issues = append(issues, issue{"INCOMPLETE_CHAIN", severityWarn,
			"The server does not send the intermediate certificates of its authority: some browsers fill the gap " +
				"themselves, other clients fail."})
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

// arrangementIssues report certificates beside the chain and those in the wrong place.
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
// nothing to any client.
func weaklySigned(cert *x509.Certificate) bool {
	return certs.WeakDigest(cert) && !certs.SelfSigned(cert)
}

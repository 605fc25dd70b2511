package sslchecker

import (
	"cmp"
	"crypto/x509"
	"crypto/x509/pkix"
	"slices"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/tool/finding"
)

// verdictFindings are why clients refuse the certificate, and why it was not verified. The latter is no fault of the
// server.
func verdictFindings(verdict certs.Verdict, now time.Time) []finding.Finding {
	draft := rows.Draft()
	for _, code := range verdict.Codes {
		if code == certs.CodeNoLocalIssuer && len(verdict.Defects) > 0 {
			code = "CHAIN_NOT_VERIFIED"
		}
		draft.Add(code, "", verdictArgs(code, verdict, now))
	}
	for _, defect := range verdict.Defects {
		draft.Add(defect, "", nil)
	}
	return draft.Findings()
}

func verdictArgs(code string, verdict certs.Verdict, now time.Time) finding.Args {
	if len(verdict.Chain) == 0 {
		return nil
	}
	leaf := verdict.Chain[0]
	switch {
	case code == certs.CodeExpired && now.After(leaf.NotAfter):
		ago := -daysRemaining(leaf.NotAfter, now) - 1
		return days(ago).With(finding.Args{"leaf": true, "today": ago == 0})
	case code == certs.CodeNotYetValid && now.Before(leaf.NotBefore):
		return finding.Args{"from": leaf.NotBefore}
	case code == certs.CodeUnverifiableLeaf && len(verdict.Sent.Wrong) > 0:
		return subjects("sent", verdict.Sent.Wrong).With(finding.Args{"issuer": shortName(leaf.Issuer)})
	case code == certs.CodePurpose:
		return purposeArgs(verdict)
	case code == certs.CodeNameMismatch:
		return mismatchArgs(verdict)
	}
	return nil
}

// lackingUsages are the clauses on what keyUsage has to hold, and for what.
var lackingUsages = map[certs.KeyExchange]string{
	certs.Signing: "USAGE_SIGNING", certs.Transport: "USAGE_TRANSPORT", certs.Agreement: "USAGE_AGREEMENT",
}

// purposeArgs name what the certificate or its chain may not do.
func purposeArgs(verdict certs.Verdict) finding.Args {
	leaf, args := verdict.Chain[0], finding.Args{}
	if !certs.KeyUsageFits(leaf, verdict.Exchange) {
		args = finding.Args{"first": "KEY_USAGE_LACKING", "usage": lackingUsages[verdict.Exchange]}
	}
	switch serves := certs.ServesTLS(leaf); {
	case args["first"] == nil && serves:
		args["first"] = "AUTHORITY_NOT_FOR_SERVERS"
	case args["first"] == nil:
		args["first"] = "NOT_FOR_SERVERS"
	case !serves:
		args["second"] = "NOT_FOR_SERVERS"
	}
	return args
}

// maxListedNames is how many names a sentence has, and maxFitName how long one may be.
const (
	maxListedNames = 3
	maxFitName     = 64
)

// mismatchArgs name the hosts that the certificate is for.
func mismatchArgs(verdict certs.Verdict) finding.Args {
	if verdict.PublicWildcard != "" {
		return finding.Args{"wildcard": fitName(verdict.PublicWildcard)}
	}
	leaf := verdict.Chain[0]
	names := slices.Clone(leaf.DNSNames)
	for _, ip := range leaf.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		return finding.Args{"nameless": true}
	}
	return listed("names", maxListedNames, names, fitName)
}

// fitName is a stranger's name, fit for a sentence.
func fitName(name string) string { return text.Marked(name, maxFitName) }

// subjects lists certificates by their names.
func subjects(name string, certs []*x509.Certificate) finding.Args {
	return listed(name, maxListedNames, certs, func(c *x509.Certificate) string { return shortName(c.Subject) })
}

// shortName is what people call an authority by: its common name, or all of its name without one.
func shortName(name pkix.Name) string {
	return cmp.Or(fitName(cmp.Or(name.CommonName, name.String())), nameless)
}

// chainFindings are about the certificates as they were sent; sent is how many.
func chainFindings(sent int, verdict certs.Verdict) []finding.Finding {
	draft := rows.Draft()
	if slices.Contains(verdict.Codes, certs.CodeUnverifiableLeaf) && len(verdict.Sent.Wrong) == 0 {
		draft.Add("INCOMPLETE_CHAIN", "", nil)
	}
	if verdict.Sent.OutOfOrder {
		draft.Add("CHAIN_NOT_IN_ORDER", "", nil)
	}
	if verdict.Sent.Repeated {
		draft.Add("CHAIN_REPEATED", "", nil)
	}
	if foreign := verdict.Sent.Foreign; len(foreign) > 0 {
		args := subjects("names", foreign)
		if len(foreign) > 1 {
			args["several"] = len(foreign)
		}
		draft.Add("CHAIN_FOREIGN", "", args)
	}
	if verdict.Sent.Root {
		draft.Add("CHAIN_HAS_ROOT", "", finding.Args{"root": shortName(verdict.Chain[len(verdict.Chain)-1].Subject)})
	}
	if verdict.Cut {
		draft.Add("CHAIN_TOO_LONG", "", finding.Args{"sent": sent, "verified": certs.MaxCertificates})
	}
	if slices.ContainsFunc(verdict.Chain, weaklySigned) {
		draft.Add("WEAK_SIGNATURE", "", nil)
	}
	return draft.Findings()
}

// weaklySigned reports whether a certificate has a weak signature. It leaves roots out: their own signature proves
// nothing to any client.
func weaklySigned(cert *x509.Certificate) bool {
	return certs.WeakDigest(cert) && !certs.SelfSigned(cert)
}

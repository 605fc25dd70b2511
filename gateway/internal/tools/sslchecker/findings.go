package sslchecker

import (
	"cmp"
	"slices"
	"strings"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/tool/finding"
)

// issue is a finding as older clients read it.
type issue struct {
	Code     string `json:"code"`
	Severity string `json:"severity" wire:"enum=fail|warn|info"`
	Message  string `json:"message"`
}

// olderCodes are the codes that issues have for findings whose own code tells what they weigh.
var olderCodes = map[string]string{
	"CHAIN_NOT_VERIFIED":           certs.CodeNoLocalIssuer,
	"CERT_ABOUT_TO_EXPIRE":         "CERT_EXPIRES_SOON",
	"CHAIN_EXPIRES_SOON":           "CHAIN_EXPIRES_FIRST",
	"CHAIN_ABOUT_TO_EXPIRE":        "CHAIN_EXPIRES_FIRST",
	"ONLY_OUTDATED_PROTOCOLS":      "DEPRECATED_PROTOCOL",
	"ONLY_SSL3":                    "SSL3",
	"VERY_WEAK_DH":                 "WEAK_DH",
	"MUST_STAPLE_INVALID":          "OCSP_STAPLE_INVALID",
	"TLSA_STOPS_MAIL":              "TLSA_MATCHES_NOTHING",
	"ENDPOINT_STILL_EXPIRED":       "ENDPOINTS_DIFFER",
	"ENDPOINT_CERTIFICATE_REFUSED": "ENDPOINTS_DIFFER",
	"ENDPOINT_CHAIN_REFUSED":       "ENDPOINTS_DIFFER",
	"ENDPOINT_VERSIONS_DIFFER":     "ENDPOINTS_DIFFER",
	"ENDPOINTS_NOT_VERIFIED":       "ENDPOINTS_DIFFER",
}

// issuesOf returns the issues that findings are.
func issuesOf(found []finding.Finding) []issue {
	list := make([]issue, 0, len(found))
	for _, f := range found {
		list = append(list, issue{cmp.Or(olderCodes[f.Code], f.Code), string(f.Severity), f.Message})
	}
	return list
}

// only returns a list of one finding, whose subject report sets if it is the certificate.
func only(code string, args finding.Args) []finding.Finding {
	return []finding.Finding{rows.Find(code, "", args)}
}

// days are the arguments of a number of days, of which the rows write 0 as less than one.
func days(n int64) finding.Args {
	if n == 0 {
		return nil
	}
	return finding.Args{"days": n}
}

// acceptedCertificate are the findings about a certificate that clients may accept. With those of certificateRows and
// unverifiedRows their subject is the certificate.
var acceptedCertificate = append([]string{"INCOMPLETE_CHAIN", "MUST_STAPLE_MISSING", "CHAIN_EXPIRES_FIRST"},
	nearEnds...)

// nearEnds are the findings about a certificate or a chain that soon ends.
var nearEnds = []string{"CERT_EXPIRES_SOON", "CHAIN_EXPIRES_SOON", "CERT_ABOUT_TO_EXPIRE", "CHAIN_ABOUT_TO_EXPIRE"}

func isAboutCertificate(code string) bool {
	return isRefusal(code) || unverifiedRows[code].Severity != "" || slices.Contains(acceptedCertificate, code)
}

// isRefusal reports whether a finding is why clients refuse the certificate.
func isRefusal(code string) bool { return certificateRows[code].Severity != "" }

// browserRefusals are the findings for which browsers refuse a certificate that other clients accept.
var browserRefusals = []string{"NO_SCTS", "UNSUPPORTED_KEY"}

// report makes the conclusion and the findings of a result; subject is "certificate of" the server.
func report(r Result, subject string) finding.Report {
	var list []finding.Finding
	for _, f := range r.found {
		switch {
		case f.Code == "CHAIN_NOT_VERIFIED": // the defect says why
		case isAboutCertificate(f.Code):
			list = append(list, f.About(subject))
		default:
			list = append(list, f)
		}
	}
	found := finding.NewReport(finding.Conclusion{}, list...)
	found.Conclusion = conclusionOf(r, strings.TrimPrefix(subject, "certificate of "), found.Findings)
	return found
}

// conclusionOf is whether clients accept the certificate; list is sorted.
func conclusionOf(r Result, server string, list []finding.Finding) finding.Conclusion {
	var worst finding.Finding
	if len(list) > 0 {
		worst = list[0]
	}
	at := slices.IndexFunc(list, func(f finding.Finding) bool {
		return f.Group == finding.Broken && f.Severity == finding.Fail || slices.Contains(browserRefusals, f.Code)
	})
	broken := at >= 0
	if broken {
		worst = list[at]
	}
	args := finding.Args{"server": server}
	left := args.With(days(r.ending.days)).With(finding.Args{"chain": r.ending.chain})
	switch {
	case broken && isRefusal(worst.Code):
		args = args.With(finding.Args{"clients": refusers(r.Port, worst.Code)}).With(refusedAt(r))
		return rows.Conclude(codeRefused, because(args, worst).With(fix(worst)))
	case r.notVerified():
		at := slices.IndexFunc(list, func(f finding.Finding) bool { return unverifiedRows[f.Code].Severity != "" })
		if at >= 0 {
			args = because(args, list[at])
		}
		return rows.Conclude(codeNotVerified, args)
	case slices.Contains(nearEnds, worst.Code):
		if broken {
			return rows.Conclude(codeAboutToExpire, left)
		}
		return rows.Conclude(codeExpiresSoon, left)
	case slices.Contains([]string{"ONLY_OUTDATED_PROTOCOLS", "ONLY_SSL3"}, worst.Code):
		ssl3 := slices.ContainsFunc(list, func(f finding.Finding) bool { return f.Code == "SSL3" })
		return rows.Conclude(codeOutdated, args.With(finding.Args{"browser": r.Port == 443, "newest": worst.Args["newest"],
			"ssl3": ssl3}))
	case broken:
		return rows.Conclude(codeTrustedFault, because(args, worst).With(fix(worst)))
	case worst.Severity == finding.Fail || worst.Severity == finding.Warn:
		return rows.Conclude(codeTrustedWeak, because(args, worst).With(fix(worst)))
	}
	return rows.Conclude(codeTrusted, left.With(finding.Args{"end": r.ending.at}))
}

// because adds a finding as the reason.
func because(args finding.Args, f finding.Finding) finding.Args {
	all := finding.Args{"reason": f.Code}
	for name, value := range f.Args {
		all[name] = value
	}
	return args.With(all)
}

// fix names the remedy of a finding, if it has one.
func fix(f finding.Finding) finding.Args {
	if f.Remedy == nil {
		return nil
	}
	return finding.Args{"fix": f.Code}
}

func (r *Result) add(code string, args finding.Args) {
	r.found = append(r.found, rows.Find(code, "", args))
}

func (r *Result) has(code string) bool {
	return slices.ContainsFunc(r.found, func(f finding.Finding) bool { return f.Code == code })
}

// refusers names the clients that refuse a certificate. Some browsers find a missing intermediate by themselves.
func refusers(port uint16, code string) string {
	switch {
	case code == certs.CodeUnverifiableLeaf:
		return "CLIENTS_MANY"
	case port == 443:
		return "CLIENTS_BROWSERS"
	}
	return "CLIENTS_CHECKING"
}

// refusedAt names the addresses at which clients refuse the certificate, if they accept it at others.
func refusedAt(r Result) finding.Args {
	var refused []string
	sound := false
	for _, e := range r.Endpoints {
		sound = sound || e.Authorized
		if e.refusal != "" {
			refused = append(refused, e.Address)
		}
	}
	if !sound || len(refused) == 0 {
		return nil
	}
	several := finding.Args{"refused": len(refused), "addresses": refused}
	switch {
	case r.untried:
		return several.With(finding.Args{"tried": len(r.Endpoints)})
	case len(refused) > 1:
		return several.With(finding.Args{"all": len(r.Endpoints)})
	}
	return finding.Args{"address": refused[0], "all": len(r.Endpoints)}
}

// listed names at most so many things, and counts the others.
func listed[T any](name string, most int, things []T, word func(T) string) finding.Args {
	words := make([]string, len(things))
	for i, thing := range things {
		words[i] = word(thing)
	}
	return finding.Args{}.WithList(name, most, words)
}

// shown is a name of the DNS as sentences have it.
func shown(name string) string { return text.Show(name, maxShownName) }

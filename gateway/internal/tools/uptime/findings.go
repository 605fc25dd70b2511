package uptime

import (
	"slices"
	"strings"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/endpoints"
	"diagnostics/gateway/internal/tools/internal/webview"
)

// family is one family of the site, in words and as it was found.
type family struct {
	name  string
	state familyState
	check *familyCheck // nil where it was not tried to the end
}

// facts are what a report is made of.
type facts struct {
	host     string // of the URL, with its port where that is no default
	result   Result
	families []family
	first    *familyCheck // the one that is the top of the result
}

// unresolvedReport is the report on a name that leads nowhere: without an address, or with a lookup that failed.
func unresolvedReport(host string, absent bool, why said) finding.Report {
	report, args := rows.Draft(), finding.Args{"host": host}
	if absent {
		code := codeNoAddress
		if why.code == codeNoName {
			code = codeNoName
		}
		report.Add(code, finding.Resolution(host), args)
		return report.Conclude(code, args)
	}
	report.Add(why.code, finding.Resolution(host), why.args)
	return report.Conclude(why.code, why.args)
}

// report makes the conclusion and the findings of a site that was checked.
func (f facts) report() finding.Report {
	report, host := rows.Draft(), finding.Args{"host": f.host}
	for _, c := range f.certificates() {
		c.Report(report)
	}
	for _, name := range webview.ShortHelloHosts(f.chains()...) {
		report.Add(webview.CodeHello, "", finding.Args{"host": name})
	}
	f.reportAnswers(report)
	if ms := f.result.ResponseTimeMs; f.result.Online && ms != nil && webview.Slow(*ms, webview.DelayOf(f.first.chain)) {
		report.Add(webview.CodeSlow, "", host.With(finding.Args{"took": *ms}))
	}
	for _, one := range f.families {
		why, literal := one.state.why, f.first.chain.Hops[0].URL.Host().IsAddr()
		switch {
		case one.state.State == uptimeSkipped:
			report.Add(codeUnchecked, "", finding.Args{"of": f.host, "by": one.name, "reason": why.code}.With(why.args))
		case why.code == saidUnlooked:
			report.Add(codeUnlooked, "", host.With(finding.Args{"family": one.name}))
		case one.name == "IPv4" && one.state.State == uptimeNoAddress && f.result.Online && !literal:
			report.Add(codeNoIPv4, "", host)
		}
	}
	webview.ReportNotes(report, f.host, f.result.Notes)
	code, args := f.conclude()
	if rows.Takes(code, "host") {
		args = host.With(args)
	}
	return report.Conclude(code, args)
}

// reportAnswers reports what the families and their addresses answered.
func (f facts) reportAnswers(report *finding.Draft) {
	checks := f.checked()
	if f.result.Verdict == verdictUp {
		return
	}
	// What all families have in common is one finding, and about the site.
	if t := checks[0].check.familyTrouble(); !slices.ContainsFunc(checks, func(one family) bool {
		return one.check.familyTrouble() != t
	}) {
		f.reportAnswer(report, checks[0].check, "")
	} else {
		for _, one := range checks {
			t := one.check.familyTrouble().answerOnly()
			switch {
			case t == (trouble{}):
			case f.result.Online && one.check.state() == endpoints.Down:
				report.Add(codeFamilyDown, one.name, t.because(finding.Args{"of": f.host, "family": one.name}))
			default:
				f.reportAnswer(report, one.check, one.name)
			}
		}
	}
	f.reportAddresses(report)
}

// because adds the reason to arguments.
func (t trouble) because(args finding.Args) finding.Args {
	why := t.answer()
	return args.With(finding.Args{"reason": why.code}).With(why.args)
}

// reportAnswer reports one chain, about the family if that is named.
func (f facts) reportAnswer(report *finding.Draft, c *familyCheck, subject string) {
	t := c.familyTrouble()
	host := finding.Args{"host": f.host}
	answered := host.With(finding.Args{"answer": webview.Answered(t.status, t.phrase)})
	switch t.kind {
	case goodAnswer:
	case errorStatus:
		report.Add(webview.StatusCode(t.status), subject, host.With(webview.Failure(t.status, t.phrase)))
	case challenged:
		report.Add(webview.CodeChallenge, subject, answered.With(finding.Args{"vendor": t.vendor}))
	case conflicting, oddAnswer:
		report.Add(webview.CodeConflict, subject, host)
	case noAnswer, badRedirect:
		// A certificate that was not verified is among the certificates.
		if end := webview.BadEnd(c.chain, maxRedirects); end.Code != webview.CodeUnverified {
			report.Add(end.Code, subject, end.Args)
		}
	}
}

// reportAddresses reports single addresses of families that answer.
func (f facts) reportAddresses(report *finding.Draft) {
	for _, one := range f.checked() {
		if !one.check.differ() {
			continue
		}
		for _, a := range one.check.addresses {
			t := addressTrouble(a).answerOnly()
			args := t.because(finding.Args{"of": f.host, "address": a.Address})
			switch {
			case t == (trouble{}):
			case fault.BeyondBound(a.Err):
				end := webview.BadEnd(chainOf(a.Value), maxRedirects)
				report.Add(end.Code, a.Address.String(), end.Args)
			case a.State == endpoints.Up:
				report.Add(codeDiffers, a.Address.String(), args)
			default:
				report.Add(codeAddressDown, a.Address.String(), args)
			}
		}
	}
}

// answerOnly is the trouble without that of a certificate, which is a finding of its own.
func (t trouble) answerOnly() trouble {
	t.certificate = badCertificate{}
	return t
}

// certificates are those that are not known to be valid.
func (f facts) certificates() []webview.Certificate { return webview.Certificates(f.chains()...) }

// chains are those of the families and of single addresses.
func (f facts) chains() []egress.Chain {
	var chains []egress.Chain
	for _, one := range f.checked() {
		chains = append(chains, one.check.chain)
		for _, a := range one.check.addresses {
			chains = append(chains, chainOf(a.Value))
		}
	}
	return chains
}

// checked are the families that were checked to their end.
func (f facts) checked() []family {
	return slices.DeleteFunc(slices.Clone(f.families), func(one family) bool { return one.check == nil })
}

// names are the families in a state.
func (f facts) names(state string) (names []string) {
	for _, one := range f.families {
		if one.state.State == state {
			names = append(names, one.name)
		}
	}
	return names
}

// conclude returns the code of the conclusion and its arguments, beside the host.
func (f facts) conclude() (code string, args finding.Args) {
	answered := finding.Args{}
	if f.result.Status != nil {
		answered["answer"] = webview.Answered(*f.result.Status, *f.result.StatusText)
	}
	switch f.result.Verdict {
	case verdictUp:
		if took := *f.result.ResponseTimeMs; webview.Slow(took, webview.DelayOf(f.first.chain)) {
			return codeSlow, answered.With(finding.Args{"took": took})
		}
		return codeUp, answered.With(finding.Args{"families": f.names(uptimeUp)})
	case verdictDown:
		return f.concludeDown(answered)
	}
	return f.concludeDegraded(answered)
}

func (f facts) concludeDown(answered finding.Args) (code string, args finding.Args) {
	checks := f.checked()
	t := checks[0].check.familyTrouble()
	alike := func(one family) bool { return one.check.familyTrouble().answerOnly() == t.answerOnly() }
	switch {
	case f.result.Challenge != nil:
		return codeChallengedError, answered.With(finding.Args{"vendor": f.result.Challenge.Vendor})
	case f.result.Status != nil:
		return down(downStatus, webview.Failure(*f.result.Status, *f.result.StatusText))
	case !slices.ContainsFunc(checks, func(one family) bool { return !alike(one) }):
		if end := webview.BadEnd(checks[0].check.chain, maxRedirects); end.Code == webview.CodeNoConnection {
			return down(end.Code, end.Args)
		}
		why := t.answer()
		return down(why.code, why.args)
	}
	return down(downFamilies, nil)
}

// down concludes with the reason and what to do about it.
func down(reason string, args finding.Args) (code string, all finding.Args) {
	advice := adviceLog
	switch reason {
	case downStatus:
		if args["means"] != nil {
			return codeDown, finding.Args{"reason": reason}.With(args)
		}
		advice = adviceError
	case downFamilies:
		advice = adviceEach
	case webview.CodeNoConnection, "CONNECT_TIMEOUT", "NO_ROUTE", "HOST_UNREACHABLE", "CONNECTION_BLOCKED":
		advice = adviceUnreached
	case "CONNECTION_REFUSED":
		advice = adviceRefused
	case "ANSWER_TIMEOUT", "TLS_TIMEOUT":
		advice = adviceHangs
	default:
		if strings.HasPrefix(reason, "TLS_") || strings.HasPrefix(reason, "CERTIFICATE_") {
			advice = adviceTLS
		}
	}
	return codeDown, finding.Args{"reason": reason, "advice": advice}.With(args)
}

func (f facts) concludeDegraded(answered finding.Args) (code string, args finding.Args) {
	for _, c := range f.certificates() {
		if !c.NotVerified {
			args := webview.Refused(c.Defect)
			if c.Host != f.first.chain.Hops[0].URL.Host().Short() {
				args["other"] = c.Host
			}
			return webview.CodeRefusedCert, args
		}
	}
	lost, dead, t := f.names(uptimeDown), f.dead(), f.first.trouble()
	switch {
	case lost != nil:
		return codeOneFamilyDown, finding.Args{"up": f.names(uptimeUp), "down": lost}
	case f.result.Challenge != nil:
		return webview.CodeChallenge, answered.With(finding.Args{"vendor": f.result.Challenge.Vendor})
	case len(dead) > 0:
		return codeAddressesDown, finding.Args{"addresses": dead}
	case f.result.HelloTooLong:
		return webview.CodeHello, nil
	case t.kind == errorStatus:
		return webview.StatusCode(t.status), webview.Failure(t.status, t.phrase)
	case t.kind == conflicting, t.kind == oddAnswer:
		return codeRedirects, t.because(nil)
	case t.kind == badRedirect:
		if end := webview.BadEnd(f.first.chain, maxRedirects); end.Code == webview.CodeNotRead {
			return end.Code, end.Args
		} else if rows[end.Code].State == finding.Unknown {
			return codeNotFollowed, nil
		}
		return codeRedirects, t.because(nil)
	}
	for _, chain := range f.chains() {
		if last := chain.Hops[len(chain.Hops)-1]; fault.BeyondBound(last.Err) {
			code, args := webview.Reason(last.Err)
			return webview.CodeNotRead, finding.Args{"of": f.host, "reason": code}.With(args)
		}
	}
	return codeAddressesDiffer, nil
}

// dead are the addresses that do not answer, of families that do.
func (f facts) dead() []string {
	var dead []string
	for _, one := range f.families {
		for _, a := range one.state.Addresses {
			if one.state.State == uptimeUp && a.State == uptimeDown {
				dead = append(dead, a.Address)
			}
		}
	}
	return dead
}

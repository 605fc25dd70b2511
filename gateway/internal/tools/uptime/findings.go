package uptime

import (
	"slices"
	"strings"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/webview"
)

// The codes of this tool. Most of its findings are those of package webview.
const (
	codeUp              = "UP"
	codeSlow            = "UP_SLOW"
	codeDown            = "DOWN"
	codeNoAddress       = "NO_ADDRESS"
	codeUnsettled       = "NOT_VERIFIED"
	codeChallenged      = "CHALLENGED"
	codeChallengedError = "CHALLENGED_WITH_ERROR"
	codeRefusedCert     = "CERTIFICATE_REFUSED"
	codeFamilyDown      = "FAMILY_DOWN"
	codeAddressDown     = "ADDRESS_DOWN"
	codeErrorStatus     = "ERROR_STATUS"
	codeRedirects       = "REDIRECTS_FAIL"
	codeDiffers         = "ANSWERS_DIFFER"
	codeHello           = webview.CodeHello

	// Those of steps alone.
	codeSilent  = "NO_ANSWER_YET"
	codeAnswers = "ANSWERS_SO_FAR"

	codeNameServers = "LOOKUP_FAILED"
	codeNoIPv4      = "NO_IPV4"
	codeUnlooked    = "FAMILY_NOT_LOOKED_UP"
	codeUnchecked   = "FAMILY_NOT_CHECKED"
)

var catalogue = finding.Catalogue{
	Conclusions: map[string]finding.Outcome{
		codeUp:         {State: finding.OK, Message: "%[1]s is up: it answers %[2]s over %[4]s."},
		codeSlow:       {State: finding.Warned, Message: "%[1]s is up but slow: it answers %[2]s after %[3]s."},
		codeDown:       {State: finding.Failed, Message: "%[1]s is down: %[2]s."},
		codeNoAddress:  {State: finding.Failed, Message: "%[1]s is down: it has no address."},
		codeUnsettled:  {State: finding.Unknown, Message: "Whether %[1]s is up is not known: %[2]s."},
		codeChallenged: {State: finding.Warned, Message: "%[1]s answers %[2]s: a bot challenge of %[3]s."},
		codeChallengedError: {State: finding.Unknown,
			Message: "Whether %[1]s is up is not known: %[3]s answers %[2]s with a bot challenge."},
		codeRefusedCert: {State: finding.Failed,
			Message: "%[1]s answers, but browsers refuse %[2]s: %[3]s."},
		codeFamilyDown:  {State: finding.Warned, Message: "%[1]s answers over %[2]s, but not over %[3]s."},
		codeAddressDown: {State: finding.Warned, Message: "%[1]s answers, but not at %[2]s."},
		codeErrorStatus: {State: finding.Warned, Message: "%[1]s answers %[2]s."},
		codeRedirects:   {State: finding.Warned, Message: "%[1]s answers, but its redirects lead to no page."},
		codeHello: {State: finding.Warned,
			Message: "%[1]s answers, but not a TLS hello as long as that of a current browser."},
		codeDiffers: {State: finding.Warned, Message: "%[1]s does not give the same answer at all addresses."},
		codeSilent:  {State: finding.Unknown, Message: "No answer so far from %[1]s; still trying."},
		codeAnswers: {State: finding.Noted, Message: "%[1]s answers %[2]s so far; still checking."},
	},
	Findings: webview.WithHTTP3(webview.WithNotes(webview.Entries(map[string]finding.Entry{
		// A lookup explains more: of the two, its sentence is that of a report.
		codeNoAddress: {Severity: finding.Fail, Group: finding.Broken, Weight: 94,
			Message: "%[1]s has no address, so no one can visit it by its name.", Remedy: "Add an A and an AAAA record."},
		codeNameServers: {Severity: finding.Fail, Group: finding.Broken, Weight: 89, Message: "%[1]s"},
		codeFamilyDown: {Severity: finding.Warn, Group: finding.Broken, Weight: 75,
			Message: "%[1]s does not work over %[2]s. %[3]s",
			Remedy:  "Repair the server there, or remove its address from the DNS."},
		codeAddressDown: {Severity: finding.Warn, Group: finding.Broken, Weight: 70,
			Message: "%[1]s does not work at %[2]s. %[3]s",
			Remedy:  "Repair the server there, or remove its address from the DNS."},
		codeDiffers: {Severity: finding.Warn, Group: finding.Broken, Weight: 65,
			Message: "%[1]s gives another answer at %[2]s. %[3]s"},
		codeNoIPv4: {Severity: finding.Warn, Group: finding.Safer, Weight: 35,
			Message: "%[1]s has no IPv4 address, so visitors without IPv6 cannot reach it.", Remedy: "Add an A record."},
		codeUnlooked: {Severity: finding.Info, Group: finding.Note, Weight: 6,
			Message: "Whether %[1]s has %[2]s addresses could not be looked up."},
		codeUnchecked: {Severity: finding.Info, Group: finding.Note, Weight: 5,
			Message: "%[1]s was not checked over %[2]s. %[3]s"},
	}, append([]string{webview.CodeSlow, webview.CodeChallenge, webview.CodeServerError, webview.CodeClientError,
		webview.CodeRefused, webview.CodeCertificate, webview.CodeHello}, webview.ChainCodes...)...))),
}

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
	noLookup egress.Families
}

// unresolvedReport is the report on a name that leads nowhere; failed is the sentence of a lookup that failed, empty
// where there is no address.
func unresolvedReport(host, failed string) finding.Report {
	if failed == "" {
		f := catalogue.Find(codeNoAddress, host).About(finding.Resolution(host))
		return finding.NewReport(catalogue.Conclude(codeNoAddress, host), f)
	}
	return finding.NewReport(catalogue.Conclude(codeDown, host, "its name servers give no answer"),
		catalogue.Find(codeNameServers, failed).About(finding.Resolution(host)))
}

// report makes the conclusion and the findings of a site that was checked.
func (f facts) report() finding.Report {
	var findings []finding.Finding
	add := func(code string, args ...any) { findings = append(findings, catalogue.Find(code, args...)) }
	conclusion := f.conclude()
	certificates := f.certificates()
	for _, c := range certificates {
		findings = append(findings, c.Finding(catalogue))
	}
	findings = append(append(findings, webview.HelloFindings(catalogue, webview.ShortHelloHosts(f.chains()...))...),
		f.answers()...)
	if ms := f.result.ResponseTimeMs; f.result.Online && ms != nil && webview.Slow(*ms, webview.DelayOf(f.first.chain)) {
		add(webview.CodeSlow, f.host, webview.Duration(*ms))
	}
	for _, one := range f.families {
		if one.state.State == uptimeSkipped {
			add(codeUnchecked, f.host, one.name, *one.state.Reason)
		}
	}
	if f.noLookup.V4 {
		add(codeUnlooked, f.host, "IPv4")
	} else if f.result.Online && f.result.Families.IPv4.State == uptimeNoAddress && !f.first.literal() {
		add(codeNoIPv4, f.host)
	}
	if f.noLookup.V6 {
		add(codeUnlooked, f.host, "IPv6")
	}
	findings = append(findings, webview.NoteFindings(catalogue, f.host, f.result.Notes)...)
	return finding.NewReport(conclusion, findings...)
}

// literal reports whether the URL names an address.
func (c *familyCheck) literal() bool { return c.chain.Hops[0].URL.Host().IsAddr() }

// answers are the findings on what the families and their addresses answered.
func (f facts) answers() []finding.Finding {
	checks := f.checked()
	if f.result.Verdict == verdictUp {
		return nil
	}
	// What all families have in common is one finding, and about the site.
	if t := checks[0].check.familyTrouble(); !slices.ContainsFunc(checks, func(one family) bool {
		return one.check.familyTrouble() != t
	}) {
		return append(f.answer(checks[0].check, ""), f.addresses()...)
	}
	var findings []finding.Finding
	for _, one := range checks {
		switch {
		case one.check.familyTrouble().answerOnly() == (trouble{}):
		case f.result.Online && one.check.down():
			findings = append(findings, catalogue.Find(codeFamilyDown, f.host, one.name,
				one.check.familyTrouble().answerOnly().reason()).About(one.name))
		default:
			findings = append(findings, f.answer(one.check, one.name)...)
		}
	}
	return append(findings, f.addresses()...)
}

// answer is the finding on one chain, about the family where it is named.
func (f facts) answer(c *familyCheck, subject string) []finding.Finding {
	t := c.familyTrouble()
	answered := webview.Answered(t.status, t.phrase)
	code, args := "", []any{f.host, answered}
	switch t.kind {
	case goodAnswer:
		return nil
	case errorStatus:
		code = webview.StatusCode(t.status)
	case challenged:
		code, args = webview.CodeChallenge, append(args, t.vendor)
	case conflicting, oddAnswer:
		code = webview.CodeConflict
	case noAnswer, badRedirect:
		end := webview.BadEnd(c.chain, maxRedirects)
		code, args = end.Code, end.Args
		if code == webview.CodeUnverified {
			return nil // which is among the certificates
		}
	}
	found := catalogue.Find(code, args...)
	if subject != "" {
		found = found.About(subject)
	}
	return []finding.Finding{found}
}

// addresses are the findings on single addresses of families that answer.
func (f facts) addresses() []finding.Finding {
	var findings []finding.Finding
	for _, one := range f.checked() {
		if !one.check.differ() {
			continue
		}
		for _, a := range one.check.addresses {
			t := a.trouble().answerOnly()
			code := codeDiffers
			if !a.up() {
				code = codeAddressDown
			}
			if t != (trouble{}) {
				findings = append(findings, catalogue.Find(code, f.host, a.address, t.reason()).About(a.address.String()))
			}
		}
	}
	return findings
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
			chains = append(chains, a.chain())
		}
	}
	return chains
}

// checked are the families that were checked to their end.
func (f facts) checked() []family {
	return slices.DeleteFunc(slices.Clone(f.families), func(one family) bool { return one.check == nil })
}

// names are the families in a state, "IPv4 and IPv6".
func (f facts) names(state string) string {
	var names []string
	for _, one := range f.families {
		if one.state.State == state {
			names = append(names, one.name)
		}
	}
	return text.Listed(names)
}

func (f facts) conclude() finding.Conclusion {
	answered := ""
	if f.result.Status != nil {
		answered = webview.Answered(*f.result.Status, *f.result.StatusText)
	}
	switch f.result.Verdict {
	case verdictUp:
		code, took := codeUp, *f.result.ResponseTimeMs
		if webview.Slow(took, webview.DelayOf(f.first.chain)) {
			code = codeSlow
		}
		return catalogue.Conclude(code, f.host, answered, webview.Duration(took), f.names(uptimeUp))
	case verdictDown:
		return f.concludeDown(answered)
	}
	return f.concludeDegraded(answered)
}

func (f facts) concludeDown(answered string) finding.Conclusion {
	checks := f.checked()
	t := checks[0].check.familyTrouble()
	keyTooLong := func(one family) bool { return egress.KeyTooLong(one.check.chain.Err) }
	alike := func(one family) bool { return one.check.familyTrouble().answerOnly() == t.answerOnly() }
	switch {
	case f.result.Challenge != nil:
		return catalogue.Conclude(codeChallengedError, f.host, answered, f.result.Challenge.Vendor)
	case slices.ContainsFunc(checks, keyTooLong):
		return catalogue.Conclude(codeUnsettled, f.host,
			"this service does not verify keys as long as that of its certificate")
	case f.result.Status != nil:
		return catalogue.Conclude(codeDown, f.host, "it answers "+answered)
	case !slices.ContainsFunc(checks, func(one family) bool { return !alike(one) }):
		return catalogue.Conclude(codeDown, f.host, failureClause(checks[0].check, t))
	}
	return catalogue.Conclude(codeDown, f.host, "it answers neither over IPv4 nor over IPv6")
}

// failureClause is why the first request of a chain failed, as the end of a sentence about its host.
func failureClause(c *familyCheck, t trouble) string {
	first := c.chain.Hops[0]
	if egress.ConnectTimedOut(first.Err) {
		return "no connection within " + webview.ConnectSeconds
	}
	sentence := strings.TrimSuffix(t.failure, ".")
	if rest, is := strings.CutPrefix(sentence, first.URL.Host().Short()+" "); is {
		return "it " + rest
	}
	return strings.ToLower(sentence[:min(1, len(sentence))]) + sentence[min(1, len(sentence)):]
}

func (f facts) concludeDegraded(answered string) finding.Conclusion {
	for _, c := range f.certificates() {
		if !c.NotVerified {
			whose := "its certificate"
			if c.Host != f.first.chain.Hops[0].URL.Host().Short() {
				whose = "the certificate of " + c.Host
			}
			return catalogue.Conclude(codeRefusedCert, f.host, whose, c.Clause)
		}
	}
	lost := f.names(uptimeDown)
	dead := f.dead()
	t := f.first.trouble()
	switch {
	case lost != "":
		return catalogue.Conclude(codeFamilyDown, f.host, f.names(uptimeUp), lost)
	case f.result.Challenge != nil:
		return catalogue.Conclude(codeChallenged, f.host, answered, f.result.Challenge.Vendor)
	case len(dead) > 0:
		return catalogue.Conclude(codeAddressDown, f.host, text.Listed(dead))
	case f.result.HelloTooLong:
		return catalogue.Conclude(codeHello, f.host)
	case t.kind == errorStatus:
		return catalogue.Conclude(codeErrorStatus, f.host, answered)
	case t.kind == badRedirect, t.kind == conflicting, t.kind == oddAnswer:
		return catalogue.Conclude(codeRedirects, f.host)
	}
	return catalogue.Conclude(codeDiffers, f.host)
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

package uptime

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/text/bound"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/challenge"
	"diagnostics/gateway/internal/tools/internal/endpoints"
	"diagnostics/gateway/internal/tools/internal/format"
	"diagnostics/gateway/internal/tools/internal/webview"
)

// conclude makes the result of the checks; at least one could be made to its end.
func (r *checker) conclude(resolution egress.Resolution, checks []familyCheck) *Result {
	result := &Result{
		URL: r.url.String(),
		Families: families{
			IPv4: r.untried(4, resolution),
			IPv6: r.untried(6, resolution),
		},
	}
	for i := range checks {
		family := checks[i].describe()
		if checks[i].family == 4 {
			result.Families.IPv4 = family
		} else {
			result.Families.IPv6 = family
		}
		result.Truncated = result.Truncated || checks[i].cut()
	}
	checks = counted(checks)
	first := fastest(checks)
	if last := first.response(); last != nil {
		result.Status = new(last.Status)
		result.StatusText = new(bound.Text(webview.DescribeStatus(last), webview.MaxStatusText, &result.Truncated))
		result.ResponseTimeMs = new(format.Milliseconds(first.responseTime()))
		result.FinalURL = new(bound.Text(last.URL.String(), webview.MaxURL, &result.Truncated))
		result.Timings = new(webview.DescribeTimings(last.Timings))
		result.CertificateValid = first.certificateValid()
		result.Challenge = challenge.Of(last.Status, last.Header)
	}
	result.HelloTooLong = slices.ContainsFunc(checks, func(c familyCheck) bool { return c.helloTooLong() })
	result.Notes = webview.ChainNotes(first.chain)
	result.Online = first.state() == endpoints.Up
	reasons := joinReasons(checks)
	if result.HelloTooLong {
		reasons = append(reasons, said{saidHello, nil})
	}
	result.Reason = inWords(reasons)
	switch {
	case !result.Online:
		result.Verdict = verdictDown
	case result.HelloTooLong || slices.ContainsFunc(checks, func(c familyCheck) bool {
		return c.trouble() != trouble{} || c.differ()
	}):
		result.Verdict = verdictDegraded
	default:
		result.Verdict = verdictUp
	}
	f := facts{host: webview.Place(r.url), result: *result, first: first, families: []family{
		{name: "IPv4", state: result.Families.IPv4}, {name: "IPv6", state: result.Families.IPv6},
	}}
	for i := range checks {
		f.families[checks[i].family/6].check = &checks[i] // 4 is the first, 6 the second
	}
	result.Report = f.report()
	return result
}

// counted are the checks that were made to their end.
func counted(checks []familyCheck) []familyCheck {
	return slices.DeleteFunc(slices.Clone(checks), func(c familyCheck) bool {
		return c.state() != endpoints.Up && c.state() != endpoints.Down
	})
}

// fastest returns the check that speaks for the site: of the families that are up the first to end, with a response
// before those whose response was beyond a bound; else the first with any response; else the first to end.
func fastest(checks []familyCheck) *familyCheck {
	rank := func(c *familyCheck) int {
		switch up, read := c.state() == endpoints.Up, c.response() != nil; {
		case up && read:
			return 0
		case up:
			return 1
		case read:
			return 2
		}
		return 3
	}
	best := slices.MinFunc(checks, func(a, b familyCheck) int {
		return cmp.Or(rank(&a)-rank(&b), a.ended.Compare(b.ended))
	})
	return &best
}

// joinReasons returns what is wrong with the site, naming the family if not both have the same trouble, and addresses
// if those of a family do not say the same.
func joinReasons(checks []familyCheck) []said {
	if len(checks) == 1 || checks[0].familyTrouble() == checks[1].familyTrouble() {
		return append(checks[0].familyTrouble().said(), addressReasons(checks...)...)
	}
	var reasons []said
	for i := range checks {
		reasons = append(reasons, checks[i].familyTrouble().saidOf(overFamily, finding.Args{"by": checks[i].name()})...)
	}
	return append(reasons, addressReasons(checks...)...)
}

// name is that of the family.
func (c *familyCheck) name() string { return fmt.Sprintf("IPv%d", c.family) }

func (c *familyCheck) describe() familyState {
	family := familyState{familyFacts{State: uptimeSkipped, Address: new(c.address.String())}, []addressState{}}
	for _, a := range c.addresses {
		family.Addresses = append(family.Addresses, describeAddress(a))
	}
	switch c.state() {
	case endpoints.Busy:
		return family.because(said{saidShortage, finding.Args{"by": c.name()}})
	case endpoints.Skipped:
		return family.because(reasonOf(c.chain.Err))
	case endpoints.Up:
		family.State = uptimeUp
	default:
		family.State = uptimeDown
	}
	family.Reason = inWords(append(c.familyTrouble().said(), addressReasons(*c)...))
	if last := c.response(); last != nil {
		family.Status, family.ResponseTimeMs = new(last.Status), new(format.Milliseconds(c.responseTime()))
	}
	return family
}

// cut reports whether a text of the check is longer than an answer takes.
func (c *familyCheck) cut() bool {
	return c.trouble().cut || slices.ContainsFunc(c.addresses, func(a address) bool { return addressTrouble(a).cut })
}

// trouble is why a family is not simply up; the zero value is that it is. It holds what its sentences need and nothing
// else, so that two families have the same trouble where theirs are equal.
type trouble struct {
	kind        kind
	status      int             // of errorStatus, challenged and oddAnswer
	phrase      string          // of the same; may be empty
	vendor      string          // of challenged
	cut         bool            // the phrase was longer
	end         egress.ChainEnd // of badRedirect
	failure     failure         // of noAnswer, and of badRedirect at a hop that was dead or at its limit
	certificate badCertificate  // of the first URL whose certificate is not valid, whatever the kind
}

// kind is what is wrong with the answer.
type kind int

const (
	goodAnswer  kind = iota
	errorStatus      // the final answer is a 4xx or 5xx
	noAnswer         // the request to the site itself failed
	badRedirect      // the site redirects, and no final answer comes of it
	challenged       // the final answer is a bot challenge, whatever its status
	conflicting      // the site redirects to several places at once
	oddAnswer        // the final answer is no redirect and has Location fields that differ
)

// badCertificate is zero where there is none.
type badCertificate struct{ host, code string }

func (c *familyCheck) trouble() trouble { return troubleOf(c.chain) }

func troubleOf(chain egress.Chain) trouble {
	t := answerTrouble(chain)
	t.certificate = certificateTrouble(chain)
	return t
}

func answerTrouble(chain egress.Chain) trouble {
	switch {
	case chain.End == egress.EndFinal:
		return statusTrouble(chain.Final())
	case len(chain.Hops) == 1 && chain.Hops[0].Err != nil:
		return trouble{kind: noAnswer, failure: failureOf(chain.Hops[0].Err)}
	case chain.Limited() != nil:
		return trouble{kind: badRedirect, end: chain.End, failure: failureOf(chain.Limited())}
	case chain.End == egress.EndInvalidLocation && len(chain.Final().Locations()) > 1:
		return trouble{kind: conflicting}
	case chain.End == egress.EndUnreachable:
		return trouble{kind: badRedirect, end: chain.End, failure: failureOf(chain.Err)}
	}
	return trouble{kind: badRedirect, end: chain.End}
}

func statusTrouble(final *egress.Response) trouble {
	t := trouble{kind: errorStatus, status: final.Status}
	puzzle := challenge.Of(final.Status, final.Header)
	switch {
	case puzzle != nil:
		t.kind, t.vendor = challenged, puzzle.Vendor
	case len(final.Locations()) > 1 && egress.IsRedirect(final.Status):
		return trouble{kind: conflicting}
	case final.Status >= http.StatusBadRequest:
	case len(final.Locations()) > 1:
		t.kind = oddAnswer
	default:
		return trouble{}
	}
	t.phrase = bound.Text(webview.DescribeStatus(final), webview.MaxStatusText, &t.cut)
	return t
}

func certificateTrouble(chain egress.Chain) badCertificate {
	for _, hop := range chain.Hops {
		if webview.CertificateRefused(hop.Response) {
			return badCertificate{host: hop.URL.Host().Short(), code: hop.Response.TLS.Verdict.Code}
		}
	}
	return badCertificate{}
}

// said is a row of the catalogue and its arguments.
type said struct {
	code string
	args finding.Args
}

// inWords joins sentences; null for none.
func inWords(all []said) *string {
	var sentences []string
	for _, s := range all {
		sentences = append(sentences, rows.Sentence(s.code, s.args))
	}
	return format.TextOrNull(strings.Join(sentences, " "))
}

// failure is a failed request in a form that can be compared: a row, and its arguments as JSON.
type failure struct{ code, args string }

func failureOf(err error) failure {
	code, args := webview.Reason(err)
	return failure{code, args.Text()}
}

// reasonOf is the sentence of a failure.
func reasonOf(err error) said {
	code, args := webview.Reason(err)
	return said{code, args}
}

// said says it in sentences: none if there is no trouble.
func (t trouble) said() []said {
	var all []said
	if t.kind != goodAnswer {
		all = append(all, t.answer())
	}
	if t.certificate != (badCertificate{}) {
		all = append(all, said{webview.CodeCertificate,
			finding.Args{"host": t.certificate.host, "defect": t.certificate.code}})
	}
	return all
}

// saidOf says it with the first sentence in another one, such as that of a family.
func (t trouble) saidOf(code string, args finding.Args) []said {
	all := t.said()
	if len(all) > 0 {
		all[0] = said{code, args.With(finding.Args{"said": all[0].code}).With(all[0].args)}
	}
	return all
}

// answer says what is wrong with the answer.
func (t trouble) answer() said {
	answer := finding.Args{"answer": webview.Answered(t.status, t.phrase)}
	switch t.kind {
	case errorStatus:
		return said{saidStatus, answer}
	case challenged:
		return said{saidChallenge, answer.With(finding.Args{"vendor": t.vendor})}
	case conflicting:
		return said{webview.CodeConflict, nil}
	case oddAnswer:
		return said{saidOdd, answer}
	case noAnswer:
		return said{t.failure.code, finding.ArgsOf(t.failure.args)}
	}
	return t.redirect()
}

// redirect says why the redirects led to no final answer. If one was refused the sentence is our own: the fault's may
// repeat the inner address that the Location holds.
func (t trouble) redirect() said {
	switch {
	case t.failure.code != "":
		return said{saidRedirect, finding.Args{"failure": t.failure.code}.With(finding.ArgsOf(t.failure.args))}
	case t.end == egress.EndTooManyRedirects:
		return said{webview.CodeManyRedirect, finding.Args{"limit": maxRedirects}}
	}
	return said{cmp.Or(redirectEnds[t.end], saidRedirect), nil}
}

var redirectEnds = map[egress.ChainEnd]string{
	egress.EndLoop: webview.CodeLoop, egress.EndMissingLocation: webview.CodeNoLocation,
	egress.EndInvalidLocation: webview.CodeBadLocation, egress.EndUnsupportedScheme: webview.CodeScheme,
	egress.EndBlocked: saidBlocked, egress.EndDeadline: webview.CodeNotFinished,
}

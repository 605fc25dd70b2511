package uptime

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/text/bound"
	"diagnostics/gateway/internal/tools/internal/challenge"
	"diagnostics/gateway/internal/tools/internal/format"
	"diagnostics/gateway/internal/tools/internal/webview"
)

// conclude makes the result of the checks; at least one could be made to its end.
func (r checker) conclude(resolution egress.Resolution, checks []familyCheck) *Result {
	result := &Result{
		URL: r.url.String(),
		Families: families{
			IPv4: r.untried(4, resolution.V4, resolution.Unanswered.V4),
			IPv6: r.untried(6, resolution.V6, resolution.Unanswered.V6),
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
	first := firstAnswer(checks)
	if last := first.answer(); last != nil {
		result.Status = new(last.Status)
		result.StatusText = new(bound.Text(webview.DescribeStatus(last), webview.MaxStatusText, &result.Truncated))
		result.ResponseTimeMs = new(format.Milliseconds(first.responseTime()))
		result.FinalURL = new(bound.Text(last.URL.String(), webview.MaxURL, &result.Truncated))
		result.Timings = new(webview.DescribeTimings(last.Timings))
		result.CertificateValid = first.certificateValid()
	}
	result.HelloTooLong = slices.ContainsFunc(checks, func(c familyCheck) bool { return c.helloTooLong() })
	result.Challenge, result.Notes = first.challenge(), webview.ChainNotes(first.chain)
	result.Online = !first.down()
	reason := joinReasons(checks)
	if result.HelloTooLong {
		reason = strings.TrimSpace(reason + " The server does not answer a TLS hello as long as that of a current browser.")
	}
	result.Reason = format.TextOrNull(reason)
	switch {
	case !result.Online:
		result.Verdict = verdictDown
	case result.HelloTooLong || slices.ContainsFunc(checks, func(c familyCheck) bool {
		return c.troubled() ||
			c.differ()
	}):
		result.Verdict = verdictDegraded
	default:
		result.Verdict = verdictUp
	}
	result.Report = r.facts(*result, resolution, checks, first).report()
	return result
}

// counted are the checks that were made to their end.
func counted(checks []familyCheck) []familyCheck {
	return slices.DeleteFunc(slices.Clone(checks), func(c familyCheck) bool { return !c.requested() || c.busy() != nil })
}

// facts are those of a report; checks are the families that were checked to their end.
func (r checker) facts(result Result, resolution egress.Resolution, checks []familyCheck, first *familyCheck) facts {
	f := facts{host: webview.Place(r.url), result: result, first: first, noLookup: egress.Families{
		V4: len(resolution.V4) == 0 && resolution.Unanswered.V4, V6: len(resolution.V6) == 0 && resolution.Unanswered.V6,
	}, families: []family{{name: "IPv4", state: result.Families.IPv4}, {name: "IPv6", state: result.Families.IPv6}}}
	for i := range checks {
		f.families[checks[i].family/6].check = &checks[i] // 4 is the first, 6 the second
	}
	return f
}

// firstAnswer is the check that speaks for the site: the first to end among those that are up, else among those with
// any answer, else any.
func firstAnswer(checks []familyCheck) *familyCheck {
	rank := func(c *familyCheck) int {
		switch {
		case !c.down():
			return 0
		case c.answer() != nil:
			return 1
		}
		return 2
	}
	best := slices.MinFunc(checks, func(a, b familyCheck) int {
		return cmp.Or(rank(&a)-rank(&b), a.ended.Compare(b.ended))
	})
	return &best
}

// joinReasons returns what is wrong with the site, naming the family where not both have the same trouble, and
// addresses where a family's do not say the same.
func joinReasons(checks []familyCheck) string {
	var reasons []string
	if len(checks) == 1 || checks[0].familyTrouble() == checks[1].familyTrouble() {
		reasons = append(reasons, checks[0].familyTrouble().reason())
	} else {
		for i := range checks {
			if reason := checks[i].familyTrouble().reason(); reason != "" {
				reasons = append(reasons, fmt.Sprintf("Over IPv%d: %s", checks[i].family, reason))
			}
		}
	}
	return strings.TrimSpace(strings.Join(append(reasons, addressReasons(checks...)), " "))
}

func (c *familyCheck) describe() familyState {
	if c.busy() != nil {
		return c.unchecked()
	}
	address := c.address.String()
	if !c.requested() {
		reason := webview.FaultSentence(c.chain.Limited())
		return familyState{familyFacts{State: uptimeSkipped, Address: &address, Reason: &reason}, c.describeAddresses()}
	}
	family := familyState{familyFacts{State: uptimeUp, Address: &address, Reason: format.TextOrNull(c.reason())},
		c.describeAddresses()}
	if c.down() {
		family.State = uptimeDown
	}
	if last := c.answer(); last != nil {
		family.Status, family.ResponseTimeMs = new(last.Status), new(format.Milliseconds(c.responseTime()))
	}
	return family
}

// reason returns what is wrong with the family and its addresses.
func (c *familyCheck) reason() string {
	return strings.TrimSpace(c.familyTrouble().reason() + " " + addressReasons(*c))
}

func (c *familyCheck) describeAddresses() []addressState {
	states := make([]addressState, 0, len(c.addresses))
	for i := range c.addresses {
		states = append(states, c.addresses[i].describe())
	}
	return states
}

// cut reports whether a text of the check is longer than an answer takes.
func (c *familyCheck) cut() bool {
	return c.trouble().cut || slices.ContainsFunc(c.addresses, func(a addressCheck) bool { return a.trouble().cut })
}

// challenge is what stood in place of the last answer, nil where nothing is known to have.
func (c *familyCheck) challenge() *challenge.Challenge {
	if last := c.answer(); last != nil {
		return challenge.Of(last.Status, last.Header)
	}
	return nil
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
	failure     string          // of noAnswer, and of badRedirect at a hop that was dead or at its limit: its sentence
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

func (c *familyCheck) troubled() bool { return c.trouble() != trouble{} }

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
		return trouble{kind: noAnswer, failure: webview.FaultSentence(chain.Hops[0].Err)}
	case chain.Limited() != nil:
		return trouble{kind: badRedirect, end: chain.End, failure: webview.FaultSentence(chain.Limited())}
	case chain.End == egress.EndInvalidLocation && len(chain.Final().Locations()) > 1:
		return trouble{kind: conflicting}
	case chain.End == egress.EndUnreachable:
		return trouble{kind: badRedirect, end: chain.End, failure: webview.FaultSentence(chain.Err)}
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

// reason says it in sentences; empty where there is none.
func (t trouble) reason() string {
	sentences := make([]string, 0, 2)
	if t.kind != goodAnswer {
		sentences = append(sentences, t.answerSentence())
	}
	if t.certificate != (badCertificate{}) {
		sentences = append(sentences, fmt.Sprintf("The certificate of %s is not valid: %s.", t.certificate.host,
			certs.Clause(t.certificate.code)))
	}
	return strings.Join(sentences, " ")
}

func (t trouble) answerSentence() string {
	switch t.kind {
	case errorStatus:
		return t.statusSentence()
	case challenged:
		return t.statusSentence() + " " + challenge.Challenge{Vendor: t.vendor}.Sentence()
	case conflicting:
		return "The site sends conflicting Location headers in one redirect, and browsers stop there."
	case oddAnswer:
		return t.statusSentence() +
			" It has conflicting Location headers, and browsers show an error instead of such an answer."
	case noAnswer:
		return t.failure
	case badRedirect:
		return t.redirectSentence()
	case goodAnswer:
	}
	return ""
}

func (t trouble) statusSentence() string {
	return strings.TrimSpace(fmt.Sprintf("The server answered %d %s", t.status, t.phrase)) + "."
}

// redirectSentence returns why the redirects led to no final answer. Where one was refused the sentence is our own: the
// fault's may repeat the inner address that the Location holds.
func (t trouble) redirectSentence() string {
	if t.failure != "" {
		return "A redirect could not be followed: " + t.failure
	}
	return cmp.Or(redirectSentences[t.end], "A redirect could not be followed.")
}

var redirectSentences = map[egress.ChainEnd]string{
	egress.EndLoop:              "The site's redirects form a loop.",
	egress.EndTooManyRedirects:  fmt.Sprintf("The site redirects more than %d times.", maxRedirects),
	egress.EndMissingLocation:   "The site redirects without saying where to.",
	egress.EndInvalidLocation:   "The site redirects to something that is not a valid URL.",
	egress.EndUnsupportedScheme: "The site redirects to a URL that is neither http nor https.",
	egress.EndBlocked: "The site redirects to a URL that this service does not visit, because it is not public or " +
		"contains a user name.",
	egress.EndDeadline: "The site's redirects took too long to follow.",
}

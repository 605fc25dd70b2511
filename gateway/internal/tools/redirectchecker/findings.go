package redirectchecker

import (
	"fmt"
	"slices"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/challenge"
	"diagnostics/gateway/internal/tools/internal/webview"
)

// The codes of this tool. The others are those of package webview.
const (
	codeDirect     = "NO_REDIRECT"
	codeRedirected = "REDIRECTED"
	codeToHTTP     = "HTTPS_TO_HTTP"
	codeMany       = "MANY_REDIRECTS"
	codeRepaired   = "LOCATION_REPAIRED"
)

const (
	// manyRedirects is how many redirects are worth no remark.
	manyRedirects = 3
	// maxShownURL bounds a URL in a sentence.
	maxShownURL = 200
)

// In a conclusion on a chain that ended, %[1]s is how it ended.
var catalogue = finding.Catalogue{
	Conclusions: webview.Outcomes(map[string]finding.Outcome{
		codeDirect:              {State: finding.OK, Message: "%[1]s."},
		codeRedirected:          {State: finding.OK, Message: "%[1]s."},
		codeToHTTP:              {State: finding.Warned, Message: "%[1]s, but a redirect leads back to unencrypted HTTP."},
		codeMany:                {State: finding.Warned, Message: "%[1]s. Each redirect costs time."},
		webview.CodeUserName:    {State: finding.Warned, Message: "%[1]s, but a redirect has a user name in its URL."},
		webview.CodePlain:       {State: finding.Warned, Message: "%[1]s, without encryption."},
		webview.CodeSlow:        {State: finding.Warned, Message: "%[1]s, but only after %[2]s."},
		webview.CodeChallenge:   {State: finding.Warned, Message: "%[1]s: a bot challenge of %[2]s."},
		webview.CodeClientError: {State: finding.Warned, Message: "%[1]s."},
		webview.CodeRefused:     {State: finding.Warned, Message: "%[1]s, perhaps only to automated checks."},
		webview.CodeServerError: {State: finding.Failed, Message: "%[1]s."},
		webview.CodeConflict: {State: finding.Failed,
			Message: "%[1]s, and browsers show an error because of conflicting Location headers."},
		webview.CodeCertificate: {State: finding.Failed,
			Message: "%[1]s. Browsers refuse the certificate of %[2]s: %[3]s."},
		codeEndedAtUserName: {State: finding.Unknown,
			Message: "%[1]s redirects to a URL with a user name in it, which this service does not visit."},
		codeEndedAtConflict: {State: finding.Failed,
			Message: "%[1]s sends conflicting Location headers in a redirect, and browsers stop there."},
	}, slices.DeleteFunc(slices.Clone(webview.ChainCodes), func(code string) bool {
		return code == webview.CodeUserName || code == webview.CodeConflict
	})...),
	Findings: webview.WithNotes(webview.Entries(map[string]finding.Entry{
		codeToHTTP: {Severity: finding.Warn, Group: finding.Safer, Weight: 57,
			Message: "A redirect of %[1]s leads from HTTPS back to unencrypted HTTP.", Remedy: "Redirect to https URLs only."},
		codeMany: {Severity: finding.Warn, Group: finding.Safer, Weight: 25,
			Message: "%[1]s needs %[2]d redirects to reach its page, and each costs time.",
			Remedy:  "Redirect straight to the last URL."},
		codeRepaired: {Severity: finding.Info, Group: finding.Safer, Weight: 15,
			Message:   "A redirect of %[1]s names something that is not a valid URL. Browsers repair it; other clients may not.",
			Remedy:    "Percent-encode the Location, with two slashes before the host and no backslash.",
			Reference: "https://www.rfc-editor.org/rfc/rfc9110.html#section-10.2.2"},
	}, append([]string{webview.CodePlain, webview.CodeSlow, webview.CodeChallenge, webview.CodeClientError,
		webview.CodeRefused, webview.CodeServerError, webview.CodeCertificate, webview.CodeHello},
		webview.ChainCodes...)...)),
}

// The conclusions on a chain that ended where a finding of the same kind may also be about a step on the way.
const (
	codeEndedAtUserName = "ENDED_AT_USER_NAME"
	codeEndedAtConflict = "ENDED_AT_LOCATION_CONFLICT"
)

// report makes the conclusion and the findings of a chain.
func (r Result) report(chain egress.Chain) finding.Report {
	site := webview.Place(chain.Hops[0].URL)
	var findings []finding.Finding
	add := func(code string, args ...any) { findings = append(findings, catalogue.Find(code, args...)) }
	certificates := webview.Certificates(chain)
	for _, c := range certificates {
		findings = append(findings, c.Finding(catalogue))
	}
	findings = append(findings, webview.HelloFindings(catalogue, webview.ShortHelloHosts(chain))...)
	var conclusion finding.Conclusion
	if chain.End == egress.EndFinal {
		conclusion = r.final(chain, add)
	} else {
		end := webview.BadEnd(chain, maxRedirects)
		if end.Code != webview.CodeUnverified { // which is among the certificates
			add(end.Code, end.Args...)
		}
		conclusion = concludeBadEnd(end)
	}
	if r.flagged(flagHTTPSToHTTP) {
		add(codeToHTTP, site)
	}
	if r.flagged(flagRepaired) {
		add(codeRepaired, site)
	}
	if r.flagged(flagUserinfo) && !webview.EndsAtUserName(chain) {
		add(webview.CodeUserName, site)
	}
	findings = append(findings, noteFindings(chain)...)
	for _, c := range certificates {
		if !c.NotVerified && conclusion.State != finding.Failed {
			conclusion = catalogue.Conclude(webview.CodeCertificate, r.way(chain), c.Host, c.Clause)
		}
	}
	return finding.NewReport(conclusion, findings...)
}

// noteFindings are those of the notes on all hops, once for each host.
func noteFindings(chain egress.Chain) []finding.Finding {
	var hosts []string
	notes := make(map[string][]*egress.Response)
	for _, hop := range chain.Hops {
		host := webview.Place(hop.URL)
		if notes[host] == nil {
			hosts = append(hosts, host)
		}
		notes[host] = append(notes[host], hop.Response)
	}
	var findings []finding.Finding
	for _, host := range hosts {
		findings = append(findings, webview.NoteFindings(catalogue, host, webview.Notes(notes[host]...))...)
	}
	return findings
}

func concludeBadEnd(end webview.Ending) finding.Conclusion {
	code := end.Code
	switch code {
	case webview.CodeUserName:
		code = codeEndedAtUserName
	case webview.CodeConflict:
		code = codeEndedAtConflict
	}
	return catalogue.Conclude(code, end.Args...)
}

// final reports on a chain that ended at an answer that is no redirect, and makes its conclusion.
func (r Result) final(chain egress.Chain, add func(code string, args ...any)) finding.Conclusion {
	last, way, took := chain.Final(), r.way(chain), r.answerMs()
	page := webview.Place(last.URL)
	answered := webview.Answered(last.Status, r.Hops[len(r.Hops)-1].StatusText)
	var conclusions []finding.Conclusion
	report := func(code string, findingArgs []any, args ...any) {
		add(code, findingArgs...)
		conclusions = append(conclusions, catalogue.Conclude(code, append([]any{way}, args...)...))
	}
	if conflicts(last) {
		report(webview.CodeConflict, []any{page})
	}
	if puzzle := challenge.Of(last.Status, last.Header); puzzle != nil {
		report(webview.CodeChallenge, []any{page, answered, puzzle.Vendor}, puzzle.Vendor)
	} else if code := webview.StatusCode(last.Status); code != "" {
		report(code, []any{page, answered})
	}
	if r.flagged(flagHTTPSToHTTP) {
		conclusions = append(conclusions, catalogue.Conclude(codeToHTTP, way))
	}
	if last.URL.Scheme() == "http" {
		report(webview.CodePlain, []any{page})
	}
	if r.flagged(flagUserinfo) {
		conclusions = append(conclusions, catalogue.Conclude(webview.CodeUserName, way))
	}
	if webview.Slow(took, webview.DelayOf(chain)) {
		report(webview.CodeSlow, []any{webview.Place(chain.Hops[0].URL), webview.Duration(took)}, webview.Duration(took))
	}
	if r.RedirectCount > manyRedirects {
		report(codeMany, []any{webview.Place(chain.Hops[0].URL), r.RedirectCount})
	}
	if len(conclusions) > 0 {
		return conclusions[0]
	}
	if r.RedirectCount == 0 {
		return catalogue.Conclude(codeDirect, way)
	}
	return catalogue.Conclude(codeRedirected, way)
}

// way is how the chain went, as a sentence without its full stop.
func (r Result) way(chain egress.Chain) string {
	site := webview.Place(chain.Hops[0].URL)
	if chain.End != egress.EndFinal {
		return fmt.Sprintf("The redirects of %s do not end at a page", site)
	}
	answered := webview.Answered(*r.FinalStatus, r.Hops[len(r.Hops)-1].StatusText)
	if r.RedirectCount == 0 {
		return fmt.Sprintf("%s answers %s without a redirect", site, answered)
	}
	return fmt.Sprintf("%d %s from %s to %s, which answers %s", r.RedirectCount,
		text.Number(r.RedirectCount, "redirect leads", "redirects lead"), site,
		text.Marked(*r.FinalURL, maxShownURL), answered)
}

// answerMs is how long all answers of the chain took together.
func (r Result) answerMs() (sum float64) {
	for _, hop := range r.Hops {
		sum += hop.ResponseTimeMs
	}
	return sum
}

// flagged reports whether any hop has the flag.
func (r Result) flagged(flag string) bool {
	return slices.ContainsFunc(r.Hops, func(hop hopResult) bool { return slices.Contains(hop.Flags, flag) })
}

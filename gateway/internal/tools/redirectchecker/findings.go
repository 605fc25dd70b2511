package redirectchecker

import (
	"slices"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/challenge"
	"diagnostics/gateway/internal/tools/internal/webview"
)

const (
	// manyRedirects is how many redirects are worth no remark.
	manyRedirects = 3
	// maxShownURL bounds a URL in a sentence.
	maxShownURL = 200
)

// report makes the conclusion and the findings of a chain.
func (r Result) report(chain egress.Chain) finding.Report {
	report := rows.Draft()
	site := finding.Args{"host": webview.Place(chain.Hops[0].URL)}
	certificates := webview.Certificates(chain)
	for _, c := range certificates {
		c.Report(report)
	}
	short := webview.ShortHelloHosts(chain)
	for _, host := range short {
		report.Add(webview.CodeHello, "", finding.Args{"host": host})
	}
	var code string
	var args finding.Args
	if chain.End == egress.EndFinal {
		code, args = r.final(report, chain)
	} else {
		end := webview.BadEnd(chain, maxRedirects)
		if end.Code != webview.CodeUnverified { // which is among the certificates
			report.Add(end.Code, "", end.Args)
		}
		code, args = concludeBadEnd(end)
	}
	if r.flagged(flagHTTPSToHTTP) {
		report.Add(codeToHTTP, "", site)
	}
	if r.flagged(flagRepaired) {
		report.Add(codeRepaired, "", site)
	}
	if r.flagged(flagUserinfo) && !webview.EndsAtUserName(chain) {
		report.Add(webview.CodeUserName, "", site)
	}
	reportNotes(report, chain)
	if len(short) > 0 && rows[code].State == finding.OK {
		code, args = webview.CodeHello, finding.Args{"host": short[0]}
	}
	for _, c := range certificates {
		if !c.NotVerified && rows[code].State != finding.Failed {
			code = webview.CodeRefusedCert
			args = r.way(chain).With(finding.Args{"host": c.Host}).With(webview.Refused(c.Defect))
		}
	}
	return report.Conclude(code, args)
}

// reportNotes reports the notes on all hops, once for each host.
func reportNotes(report *finding.Draft, chain egress.Chain) {
	var hosts []string
	notes := make(map[string][]*egress.Response)
	for _, hop := range chain.Hops {
		host := webview.Place(hop.URL)
		if notes[host] == nil {
			hosts = append(hosts, host)
		}
		notes[host] = append(notes[host], hop.Response)
	}
	for _, host := range hosts {
		webview.ReportNotes(report, host, webview.Notes(notes[host]...))
	}
}

func concludeBadEnd(end webview.Ending) (code string, args finding.Args) {
	switch end.Code {
	case webview.CodeUserName:
		return codeEndedAtUserName, end.Args
	case webview.CodeConflict:
		return codeEndedAtConflict, end.Args
	}
	return end.Code, end.Args
}

// final reports on a chain that ended at an answer that is no redirect, and returns its conclusion: the first that
// holds.
func (r Result) final(report *finding.Draft, chain egress.Chain) (code string, args finding.Args) {
	last, took := chain.Final(), r.answerMs()
	site := finding.Args{"host": webview.Place(chain.Hops[0].URL)}
	page := finding.Args{"host": webview.Place(last.URL)}
	answered := page.With(finding.Args{"answer": webview.Answered(last.Status, r.Hops[len(r.Hops)-1].StatusText)})
	way := r.way(chain)
	conclude := func(concluded string, more finding.Args) {
		if code == "" {
			code, args = concluded, way.With(more)
			if !rows.Takes(code, "way") {
				delete(args, "way")
			}
		}
	}
	if conflicts(last) {
		report.Add(webview.CodeConflict, "", page)
		conclude(codeEndsConflicting, nil)
	}
	if puzzle := challenge.Of(last.Status, last.Header); puzzle != nil {
		vendor := finding.Args{"vendor": puzzle.Vendor}
		report.Add(webview.CodeChallenge, "", answered.With(vendor))
		conclude(codeEndsChallenged, vendor)
	} else if status := webview.StatusCode(last.Status); status != "" {
		failure := webview.Failure(last.Status, r.Hops[len(r.Hops)-1].StatusText)
		report.Add(status, "", page.With(failure))
		conclude(map[string]string{webview.CodeServerError: codeEndsAtFault, webview.CodeClientError: codeEndsAtError,
			webview.CodeRefused: codeEndsRefused}[status], failure)
	}
	if r.flagged(flagHTTPSToHTTP) {
		conclude(codeViaHTTP, nil)
	}
	if last.URL.Scheme() == "http" {
		report.Add(webview.CodePlain, "", answered)
		conclude(codeEndsPlain, nil)
	}
	if r.flagged(flagUserinfo) {
		conclude(codeViaUserName, nil)
	}
	if webview.Slow(took, webview.DelayOf(chain)) {
		report.Add(webview.CodeSlow, "", site.With(finding.Args{"took": took}))
		conclude(codeEndsSlowly, finding.Args{"took": took})
	}
	if r.RedirectCount > manyRedirects {
		report.Add(codeMany, "", site.With(finding.Args{"redirects": r.RedirectCount}))
		conclude(codeOften, nil)
	}
	if r.RedirectCount == 0 {
		conclude(codeDirect, nil)
	}
	conclude(codeRedirected, nil)
	return code, args
}

// way says how the chain went, for a conclusion on it.
func (r Result) way(chain egress.Chain) finding.Args {
	args := finding.Args{"way": wayUnfinished, "site": webview.Place(chain.Hops[0].URL)}
	if chain.End != egress.EndFinal {
		return args
	}
	args["way"], args["answer"] = wayDirect, webview.Answered(*r.FinalStatus, r.Hops[len(r.Hops)-1].StatusText)
	if r.RedirectCount > 0 {
		args["way"], args["redirects"], args["url"] = wayRedirected, r.RedirectCount, text.Marked(*r.FinalURL, maxShownURL)
	}
	return args
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

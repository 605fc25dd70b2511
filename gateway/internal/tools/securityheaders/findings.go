package securityheaders

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/webview"
)

// report returns the conclusion and all findings. A missing header breaks nothing, so the state is never fail.
func report(p page, plain *plainAnswer, found []remark) finding.Report {
	if plain != nil {
		if f := plain.facts[0]; rank(f.code) > 0 {
			found = append(found, remark{rows.Find(f.code, "", f.args), aboutRedirect})
		}
	}
	var findings []finding.Finding
	for _, r := range found {
		findings = append(findings, r.Finding)
	}
	if c := webview.CheckCertificate(p.answer); p.notVerified() {
		findings = append(findings, rows.Find(webview.CodeUnverified, c.Subject,
			finding.Args{"host": c.Host, "defect": c.Defect}))
	}
	if p.notice != nil {
		findings = append(findings, rows.Find(p.notice.code, "", p.notice.args))
	}
	for _, note := range webview.Notes(p.answer) {
		findings = append(findings, rows.Find(string(note.Code), "", finding.Args{"of": shownSite(p.answer)}))
	}
	return finding.NewReport(conclude(p, found), findings...)
}

// conclude names the only suggestion, or the first of several.
func conclude(p page, found []remark) finding.Conclusion {
	site := finding.Args{"site": shownSite(p.answer)}
	suggestions := slices.DeleteFunc(slices.Clone(found), func(r remark) bool { return r.Severity == finding.Info })
	switch {
	case p.challenged():
		return rows.Conclude("HEADERS_NOT_JUDGED", site.With(finding.Args{"service": p.notice.args["service"]}))
	case len(suggestions) == 0 && p.notice != nil:
		return rows.Conclude("OTHER_PAGE_FINE", site)
	case len(suggestions) == 0:
		return rows.Conclude("HEADERS_FINE", site.With(finding.Args{"notes": len(found) > 0}))
	}
	first := slices.MinFunc(suggestions, func(a, b remark) int { return cmp.Compare(b.Weight, a.Weight) })
	if first.Group == finding.Broken {
		return rows.ConcludeWith(first.Finding)
	}
	args := site.With(finding.Args{"other": p.notice != nil})
	if len(suggestions) > 1 {
		args["several"] = len(suggestions)
	}
	present := func(r remark) bool { return !strings.HasSuffix(r.Code, "_MISSING") }
	switch {
	case !slices.ContainsFunc(suggestions, present):
		return rows.Conclude("HEADERS_MISSING", args.With(finding.Args{"first": first.about}))
	case len(suggestions) > 1:
		return rows.Conclude("HEADERS_TO_FIX", args.With(finding.Args{"first": first.about}))
	}
	args["reason"] = first.Code
	for name, value := range first.Args {
		args[name] = value
	}
	return rows.Conclude("HEADERS_TO_FIX", args)
}

// shownSite is the host of an answer with its port if that is not the usual one.
func shownSite(r *egress.Response) string {
	usual := map[string]uint16{"http": 80, "https": httpsPort}
	if port := r.URL.Port(); port != usual[r.URL.Scheme()] {
		return fmt.Sprintf("%s:%d", r.URL.Host().Authority(), port)
	}
	return r.URL.Host().Authority()
}

package securityheaders

import (
	"fmt"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/webview"
)

// report makes the conclusion, and the findings from those of the controls. Headers break nothing, so that it never
// fails. first names the control whose finding weighs most.
func report(p page, counts summary, plain *plainAnswer, first string, found []finding.Finding) finding.Report {
	site := shownSite(p.answer)
	if plain != nil {
		f := plain.facts[0]
		if rows[f.code].Severity == finding.Warn {
			counts.Warn++
		}
		if rank(f.code) > 0 {
			found = append(found, rows.Find(f.code, "", f.args))
		}
	}
	if c := webview.CheckCertificate(p.answer); p.notVerified() {
		found = append(found, rows.Find(webview.CodeUnverified, c.Subject, finding.Args{"host": c.Host, "defect": c.Defect}))
	}
	if p.notice != nil {
		found = append(found, rows.Find(p.notice.code, "", p.notice.args))
	}
	for _, note := range webview.Notes(p.answer) {
		found = append(found, rows.Find(string(note.Code), "", finding.Args{"of": site}))
	}
	return finding.NewReport(conclude(site, first, counts, p.notice != nil), found...)
}

func conclude(site, first string, counts summary, otherPage bool) finding.Conclusion {
	if n := counts.Fail + counts.Warn; n > 0 {
		return rows.Conclude("HEADERS_TO_FIX", finding.Args{"site": site, "count": n, "first": first})
	}
	if otherPage {
		return rows.Conclude("OTHER_PAGE_FINE", finding.Args{"site": site})
	}
	return rows.Conclude("HEADERS_FINE", finding.Args{"site": site, "notes": counts.Info > 0})
}

// shownSite is the host of an answer with its port if that is not the usual one.
func shownSite(r *egress.Response) string {
	usual := map[string]uint16{"http": 80, "https": httpsPort}
	if port := r.URL.Port(); port != usual[r.URL.Scheme()] {
		return fmt.Sprintf("%s:%d", r.URL.Host().Authority(), port)
	}
	return r.URL.Host().Authority()
}

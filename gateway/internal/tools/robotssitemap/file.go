package robotssitemap

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"diagnostics/gateway/internal/analyze/sitemap"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/http1"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/webview"
)

// served is the outcome of the fetch of a file: found where there is a body.
type served struct {
	state       string
	finalURL    *string
	httpStatus  *int
	contentType *string
	issues      []fileIssue
	notes       []webview.Note
}

func (s *served) add(code string, args finding.Args) {
	s.issues = append(s.issues, describeIssue(code, 0, args))
}

func (s *served) has(code string) bool {
	return slices.ContainsFunc(s.issues, func(i fileIssue) bool { return i.Code == code })
}

// fileKind is what the two kinds of files differ in.
type fileKind struct {
	misled  string // the state if redirects lead nowhere
	refused string // the code if the server refuses the file
	limited string // and if it does so because of too many requests
}

var (
	// Redirects beyond the fifth may count as no file (RFC 9309 section 2.3.1.2).
	robotsKind  = fileKind{misled: fileMissing, refused: codeRefused, limited: codeLimited}
	sitemapKind = fileKind{misled: fileUnreachable, refused: codeSitemapRefused, limited: codeSitemapLimited}
)

// describeServed judges the fetch of a file of the kind.
func describeServed(chain egress.Chain, kind fileKind) served {
	s := served{issues: []fileIssue{}, notes: webview.ChainNotes(chain)}
	for _, c := range webview.Certificates(chain) {
		args := finding.Args{"certificate": c.Host, "defect": c.Defect}
		if c.NotVerified {
			s.add(codeUnverified, args)
			continue
		}
		s.add(codeBadCertificate, args)
		break
	}
	if final := chain.Final(); final != nil {
		s.httpStatus = new(final.Status)
		if values := final.Header.Values("Content-Type"); len(values) > 0 {
			s.contentType = new(webview.HeaderText(values[0]))
		}
		if chain.End == egress.EndFinal {
			s.finalURL = new(final.URL.String())
		}
		if slices.Contains(final.Notes, http1.TrailingBytes) {
			s.add(sitemap.CodeTrailing, nil)
		}
	}
	s.judge(chain, kind)
	return s
}

func (s *served) judge(chain egress.Chain, kind fileKind) {
	s.state = fileUnreachable
	switch chain.End {
	case egress.EndFinal:
		s.judgeStatus(*s.httpStatus, kind)
	case egress.EndLoop, egress.EndTooManyRedirects:
		s.state = kind.misled
		s.add(codeRedirects, finding.Args{"most": maxRedirects})
	case egress.EndMissingLocation, egress.EndInvalidLocation, egress.EndUnsupportedScheme:
		s.state = kind.misled
		s.add(codeBadRedirect, browsersFollow(chain.Err))
	case egress.EndBlocked:
		if limited := chain.Limited(); limited != nil {
			s.add(codeLimit, reasonOf(limited))
			return
		}
		s.add(codeNotPublic, browsersFollow(chain.Err))
	case egress.EndDeadline:
		s.add(codeNotFinished, nil)
	default:
		if egress.KeyTooLong(chain.Err) {
			return // the certificate was not verified, which is said above
		}
		if fault.BeyondBound(chain.Err) {
			s.add(codeLimit, reasonOf(chain.Err))
			return
		}
		s.add(codeUnreachable, reasonOf(chain.Err))
	}
}

func (s *served) judgeStatus(status int, kind fileKind) {
	switch {
	case status >= http.StatusInternalServerError:
		s.add(codeServerError, finding.Args{"status": status})
	case status == http.StatusNotFound, status == http.StatusGone:
		s.state = fileMissing
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusTooManyRequests:
		s.state = fileMissing
		code := kind.refused // perhaps only for this service and not for crawlers
		if status == http.StatusTooManyRequests {
			code = kind.limited
		}
		s.add(code, finding.Args{"status": fmt.Sprintf("%d %s", status, http.StatusText(status))})
	case status < http.StatusOK, status >= http.StatusMultipleChoices:
		s.state = fileMissing
		s.add(codeStatus, finding.Args{"status": status})
	default:
		s.state = fileFound
	}
}

// reasonOf returns the arguments of an issue that a failure is the reason of.
func reasonOf(err error) finding.Args {
	code, args := fault.Reason(err)
	return finding.Args{"reason": code}.With(args)
}

// browsersFollow returns whether browsers follow a redirect that this service does not follow.
func browsersFollow(err error) finding.Args {
	return finding.Args{"browsers": egress.BrowsersFollow(err) != ""}
}

// cutShort reports a body that did not come whole.
func (s *served) cutShort(err error) {
	s.state = fileUnreachable
	if fault.BeyondBound(err) {
		s.add(codeLimit, reasonOf(err))
		return
	}
	s.add(codeIncomplete, reasonOf(err))
}

// succeeds reports whether the body of an answer is the file.
func succeeds(r *egress.Response) bool {
	return r.Status >= http.StatusOK && r.Status < http.StatusMultipleChoices
}

// mediaType is a Content-Type without its parameters.
func mediaType(s *string) string {
	if s == nil {
		return ""
	}
	kind, _, _ := strings.Cut(*s, ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

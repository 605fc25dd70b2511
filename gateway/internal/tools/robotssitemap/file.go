package robotssitemap

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"diagnostics/gateway/internal/analyze/sitemap"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/http1"
	"diagnostics/gateway/internal/tools/internal/webview"
)

// The severities of an issue of a file.
const (
	fileFail = "fail"
	fileWarn = "warn"
	fileInfo = "info"
)

// The codes of issues about how a file is served.
const (
	codeRedirects   = "TOO_MANY_REDIRECTS"
	codeBadRedirect = "BAD_REDIRECT"
	codeNotPublic   = "NOT_PUBLIC"
	codeUnreachable = "UNREACHABLE"
	codeLimit       = "LIMIT_REACHED"
	codeNotFinished = "NOT_FINISHED"
	codeIncomplete  = "INCOMPLETE"
	codeStatus      = "HTTP_STATUS"
	codeServerError = "SERVER_ERROR"
	// The server has the file, for all that can be seen, but does not give it.
	codeRefused = "ACCESS_REFUSED"
	codeLimited = "RATE_LIMITED"
	// Other bytes follow the compressed body, as in package sitemap those behind a compressed file.
	codeTrailing = sitemap.CodeTrailing
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

func (s *served) add(code, severity, format string, args ...any) {
	s.issues = append(s.issues, fileIssue{Code: code, Severity: severity, Message: fmt.Sprintf(format, args...)})
}

func (s *served) has(code string) bool {
	return slices.ContainsFunc(s.issues, func(i fileIssue) bool { return i.Code == code })
}

// fileKind is what the two kinds of files differ in.
type fileKind struct {
	misled  string // the state where redirects lead nowhere
	refused string // what crawlers do that are refused the file
	limited string // and those that are asked to come later
}

func robotsKind() fileKind {
	return fileKind{
		// Redirects beyond the fifth may count as no file (RFC 9309 section 2.3.1.2).
		misled: fileMissing,
		refused: "Under RFC 9309, crawlers that are refused as well may visit everything, though some stay away. Let " +
			"everybody read the file.",
		limited: "Under RFC 9309, crawlers that get this answer may visit everything, but Google treats it as a server " +
			"error and the whole site as closed. Let everybody read the file.",
	}
}

func sitemapKind() fileKind {
	const unread = "Crawlers that get this answer cannot read it."
	return fileKind{misled: fileUnreachable, refused: unread, limited: unread}
}

// describeServed judges the fetch of a file of the kind.
func describeServed(chain egress.Chain, kind fileKind) served {
	s := served{issues: []fileIssue{}, notes: webview.ChainNotes(chain)}
	for _, c := range webview.Certificates(chain) {
		if c.NotVerified {
			s.add(webview.CodeUnverified, fileInfo, "This service could not verify the certificate of %s: %s.", c.Host, c.Clause)
			continue
		}
		s.add(webview.CodeCertificate, fileWarn, "The certificate of %s is not valid: %s. Crawlers may not read the file.",
			c.Host, c.Clause)
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
			s.add(codeTrailing, fileWarn,
				"Other bytes follow the compressed answer. They are ignored here, but some crawlers may "+
					"refuse the file.")
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
		s.add(codeRedirects, fileFail, "The file's URL redirects in a loop or more than %d times, where crawlers give up.",
			maxRedirects)
	case egress.EndMissingLocation, egress.EndInvalidLocation, egress.EndUnsupportedScheme:
		s.state = kind.misled
		s.add(codeBadRedirect, fileFail, "The file's URL redirects to something that cannot be fetched.%s",
			egress.AsBrowsersDo(chain.Err))
	case egress.EndBlocked:
		if limited := chain.Limited(); limited != nil {
			s.add(codeLimit, fileInfo, "The file was not fetched. %s", webview.FaultSentence(limited))
			return
		}
		s.add(codeNotPublic, fileFail,
			"The file's URL leads to an address that is not public, or that this service may not visit. Nothing was sent to "+
				"it.%s", egress.AsBrowsersDo(chain.Err))
	case egress.EndDeadline:
		s.add(codeNotFinished, fileInfo, "This check ran out of time before the file arrived.")
	default:
		if egress.KeyTooLong(chain.Err) {
			return // the certificate was not verified, which is said above
		}
		s.add(codeUnreachable, fileFail, "%s", webview.FaultSentence(chain.Err))
	}
}

func (s *served) judgeStatus(status int, kind fileKind) {
	switch {
	case status >= http.StatusInternalServerError:
		s.add(codeServerError, fileFail, "The server answers %d, which is an error on its side.", status)
	case status == http.StatusNotFound, status == http.StatusGone:
		s.state = fileMissing
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusTooManyRequests:
		s.state = fileMissing
		s.refuse(status, kind)
	case status < http.StatusOK, status >= http.StatusMultipleChoices:
		s.state = fileMissing
		s.add(codeStatus, fileWarn, "The server answers %d. Crawlers treat that as no file.", status)
	default:
		s.state = fileFound
	}
}

// refuse reports a refusal, which may be of this service alone and not of crawlers.
func (s *served) refuse(status int, kind fileKind) {
	code, reason, then := codeRefused, "", kind.refused
	if status == http.StatusTooManyRequests {
		code, reason, then = codeLimited, " because of too many requests", kind.limited
	}
	s.add(code, fileWarn, "The server refuses the file%s (%d %s), perhaps only to this service. %s", reason, status,
		http.StatusText(status), then)
}

// cutShort reports a body that did not come whole.
func (s *served) cutShort(err error) {
	s.state = fileUnreachable
	s.add(codeIncomplete, fileFail, "The file could not be read completely. %s", webview.FaultSentence(err))
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

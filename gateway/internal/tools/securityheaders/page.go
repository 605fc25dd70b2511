package securityheaders

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"time"

	"diagnostics/gateway/internal/analyze/csp"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/webview"

	"github.com/dunglas/httpsfv"
)

// page is what the controls judge: the final answer, and what of the chain before it matters to them.
type page struct {
	answer  *egress.Response
	earlier []*egress.Response // those that sent onward, in order
	// document reports whether browsers show the answer as a document of its own. Most controls protect documents.
	document bool
	notice   *fact
	enforced csp.Set
	reported []csp.Policy
	cookies  []judgedCookie
	now      time.Time
}

func newPage(chain egress.Chain, now time.Time) page {
	p := page{answer: chain.Final(), now: now}
	for _, hop := range chain.Hops[:len(chain.Hops)-1] {
		p.earlier = append(p.earlier, hop.Response)
	}
	p.document = isDocument(p.answer)
	p.notice = noticeOf(p.answer)
	p.enforced = csp.ParseHeaders(p.values("Content-Security-Policy"))
	p.reported = csp.ParseHeaders(p.values("Content-Security-Policy-Report-Only"))
	p.cookies = judgeCookies(p)
	if p.challenged() {
		for i := range p.cookies {
			p.cookies[i].Issues = []cookieIssue{}
		}
	}
	return p
}

// challenged reports whether a protective service answered in place of the site. Its headers are not judged.
func (p page) challenged() bool { return p.notice != nil && p.notice.code == codeChallenge }

// isDocument reports whether an answer is a document, by its content type. Without one, browsers look at the body and
// may find a document in it.
func isDocument(r *egress.Response) bool {
	switch r.Status {
	case http.StatusNoContent, http.StatusResetContent, http.StatusNotModified:
		return false
	}
	declared := r.Header.Get("Content-Type")
	media, _, err := mime.ParseMediaType(declared)
	if err != nil && media == "" {
		media, _, _ = strings.Cut(declared, ";")
		media = strings.ToLower(strings.TrimSpace(media))
	}
	switch media {
	case "", "text/html", "application/xhtml+xml", "text/xml", "application/xml", "image/svg+xml":
		return true
	}
	return strings.HasSuffix(media, "+xml") || !strings.Contains(media, "/")
}

// values are the field values of a name, in the order of arrival, as they came.
func (p page) values(name string) []string { return p.answer.Header.Values(name) }

// has reports whether the answer has a field of the name, be it empty.
func (p page) has(name string) bool { return len(p.values(name)) > 0 }

// joined is the combined value of a field (RFC 9110 section 5.3).
func (p page) joined(name string) string { return strings.Join(p.values(name), ", ") }

// shownValue is the combined value of a field for the eye, nil where there is none.
func (p page) shownValue(name string) *string {
	if !p.has(name) {
		return nil
	}
	return new(webview.HeaderText(p.joined(name)))
}

// secure reports whether the answer came over TLS with a certificate that browsers do not refuse, as far as it was
// verified.
func (p page) secure() bool { return p.answer.TLS != nil && p.answer.TLS.Verdict.Refusal() == "" }

// notVerified reports whether the answer came with a certificate that this service did not verify.
func (p page) notVerified() bool { return p.answer.TLS != nil && p.answer.TLS.Verdict.NotVerified() }

// splitFieldList is "get, decode, and split" of the Fetch standard: the values between commas that stand outside of
// quoted strings, without the spaces around them.
func splitFieldList(values []string) []string {
	if len(values) == 0 {
		return nil
	}
	list := webview.SplitQuoted(strings.Join(values, ", "), ',')
	for i, value := range list {
		list[i] = strings.Trim(value, " \t")
	}
	return list
}

// parseFieldDictionary reads a structured field that is a dictionary (RFC 9651). One mistake makes browsers ignore all
// of it.
func parseFieldDictionary(values []string) (*httpsfv.Dictionary, error) {
	if len(values) == 0 {
		return nil, errNoField
	}
	return httpsfv.UnmarshalDictionary(values)
}

var errNoField = errors.New("there is no such field")

// fieldToken reads a structured field that is one token with parameters. endpoint is its report-to parameter, empty
// where it has none. ok is false for everything else, several fields included, and browsers then ignore the header.
func fieldToken(values []string) (token, endpoint string, ok bool) {
	item, err := httpsfv.UnmarshalItem(values)
	if err != nil {
		return "", "", false
	}
	t, ok := item.Value.(httpsfv.Token)
	if !ok {
		return "", "", false
	}
	if reportTo, has := item.Params.Get("report-to"); has {
		endpoint, _ = reportTo.(string)
	}
	return string(t), endpoint, true
}

// challengeSigns are the headers by which protective services mark an answer of their own. Where value is empty the
// header's presence is enough; where refusal is set it only counts beside a status of 400 or more, because pages carry
// it too.
var challengeSigns = []struct {
	header, value, service string
	refusal                bool
}{
	{"Cf-Mitigated", "challenge", "Cloudflare", false},
	{"X-Amzn-Waf-Action", "challenge", "AWS WAF", false},
	{"X-Amzn-Waf-Action", "captcha", "AWS WAF", false},
	{"X-Vercel-Mitigated", "challenge", "Vercel", false},
	{"X-Vercel-Mitigated", "deny", "Vercel", false},
	{"X-Px-Block", "", "HUMAN", false},
	{"X-Sucuri-Block", "", "Sucuri", true},
	{"X-Datadome", "", "DataDome", true},
	{"X-Dd-B", "", "DataDome", true},
	{"X-Kpsdk-Ct", "", "Kasada", true},
	{"X-Iinfo", "", "Imperva", true},
	{"Server", "AkamaiGHost", "Akamai", true},
	{"Server", "ddos-guard", "DDoS-Guard", true},
}

// noticeOf returns why an answer is not the page that was meant, nil if it may be.
func noticeOf(r *egress.Response) *fact {
	switch service := challengedBy(r); {
	case service != "":
		return &fact{codeChallenge, finding.Args{"service": service, "status": r.Status}}
	case r.Status == http.StatusUnauthorized:
		return &fact{code: "NOT_THE_PAGE_LOGIN"}
	case r.Status >= http.StatusBadRequest:
		return &fact{"NOT_THE_PAGE_ERROR", finding.Args{"answer": statusLine(r)}}
	case r.Status >= http.StatusMultipleChoices:
		return &fact{"NOT_THE_PAGE_REDIRECT", finding.Args{"answer": statusLine(r)}}
	}
	return nil
}

// statusLine is the status with its standard phrase; the server's own is free text.
func statusLine(r *egress.Response) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", r.Status, http.StatusText(r.Status)))
}

// challengedBy names the service whose own answer this is, empty where there is no sign of one.
func challengedBy(r *egress.Response) string {
	for _, sign := range challengeSigns {
		if sign.refusal && r.Status < http.StatusBadRequest {
			continue
		}
		for _, value := range r.Header.Values(sign.header) {
			if sign.value == "" || strings.EqualFold(strings.TrimSpace(value), sign.value) {
				return sign.service
			}
		}
	}
	return ""
}

package redirectchecker

import (
	"bytes"
	"context"
	"io"
	"mime"
	"net/url"
	"strconv"
	"strings"

	"diagnostics/gateway/internal/analyze/weight"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/budget/memory"
	"diagnostics/gateway/internal/egress/budget/processor"
	"diagnostics/gateway/internal/text"

	"golang.org/x/net/html"
)

// maxRefreshPage is how much of a page is looked at: its meta elements are at its beginning.
const maxRefreshPage = 64 << 10

// maxRefreshURL bounds the destination that is shown.
const maxRefreshURL = 4 << 10

// The kinds of client redirects.
const (
	refreshHeader = "refreshHeader"
	refreshMeta   = "metaRefresh"
)

// clientRedirect is a redirect that the browser makes of its own: reported, never followed.
type clientRedirect struct {
	Kind         string  `json:"kind" wire:"enum=metaRefresh|refreshHeader"`
	URL          string  `json:"url" bound:"text=16k"` // absolute
	DelaySeconds float64 `json:"delaySeconds"`
}

// lastPage is the beginning of the last answer's body, where it is HTML.
type lastPage struct{ text []byte }

// read is for an egress.Request.Consume.
func (p *lastPage) read(ctx context.Context, r *egress.Response, body io.Reader) {
	if !isHTML(r) {
		return
	}
	text, err := egress.DecodeBody(ctx, r, io.LimitReader(body, maxRefreshPage))
	if err != nil {
		return
	}
	// What came before a failure counts: a page is read as it arrives.
	p.text, _ = io.ReadAll(memory.Reader(ctx, io.LimitReader(processor.Reader(ctx, text, weight.HTML), maxRefreshPage)))
}

func isHTML(r *egress.Response) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && (kind == "text/html" || kind == "application/xhtml+xml")
}

// redirect gives the first refresh that leads to another URL: the header comes before the page.
func (p *lastPage) redirect(r *egress.Response) *clientRedirect {
	page, err := url.Parse(r.URL.String())
	if err != nil {
		return nil
	}
	for _, value := range r.Header.Values("Refresh") {
		if found := refreshTo(page, page, refreshHeader, text.Decode(value)); found != nil {
			return found
		}
	}
	return p.metaRefresh(page)
}

// metaRefresh looks for <meta http-equiv="refresh"> outside of what a browser that runs scripts ignores.
func (p *lastPage) metaRefresh(page *url.URL) *clientRedirect {
	tokens := html.NewTokenizer(bytes.NewReader(p.text))
	base, inert := page, 0
	for {
		kind := tokens.Next()
		if kind == html.ErrorToken {
			return nil
		}
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken && kind != html.EndTagToken {
			continue
		}
		token := tokens.Token()
		switch {
		case token.Data == "template" && kind == html.StartTagToken:
			inert++
		case token.Data == "template" && kind == html.EndTagToken:
			inert = max(inert-1, 0)
		case inert > 0 || kind == html.EndTagToken:
		case token.Data == "base" && base == page:
			base = baseOf(page, token)
		case token.Data == "meta" && strings.EqualFold(attribute(token, "http-equiv"), "refresh"):
			if found := refreshTo(page, base, refreshMeta, attribute(token, "content")); found != nil {
				return found
			}
		}
	}
}

// baseOf is the URL that a page's own are relative to.
func baseOf(page *url.URL, token html.Token) *url.URL {
	href := strings.TrimSpace(attribute(token, "href"))
	base, err := page.Parse(href)
	if err != nil || href == "" || base.Scheme != "http" && base.Scheme != "https" {
		return page
	}
	return base
}

func attribute(token html.Token, name string) string {
	for _, a := range token.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// refreshTo reads a refresh value. It is nil where a browser would not leave the page: a mere reload, or a scheme that
// browsers refuse here.
func refreshTo(page, base *url.URL, kind, value string) *clientRedirect {
	delay, reference, ok := parseRefresh(value)
	if !ok || reference == "" {
		return nil
	}
	next, err := base.Parse(reference)
	if err != nil || next.Scheme == "javascript" || next.Scheme == "data" {
		return nil
	}
	shown := next.String()
	here := *next
	here.Fragment, here.RawFragment = "", ""
	if here.String() == page.String() || len(shown) > maxRefreshURL {
		return nil
	}
	return &clientRedirect{Kind: kind, URL: shown, DelaySeconds: delay}
}

// maxRefreshDelay keeps a delay a number; browsers cap it as well.
const maxRefreshDelay = 1e9

// parseRefresh reads the value of a refresh as browsers do (HTML, shared declarative refresh steps): a number, a
// separator, and a URL that may stand behind "url=" and in quotes.
func parseRefresh(value string) (delay float64, reference string, ok bool) {
	value = strings.TrimLeft(value, htmlSpace)
	rest := strings.TrimLeft(value, "0123456789")
	digits := value[:len(value)-len(rest)]
	if digits == "" && !strings.HasPrefix(rest, ".") {
		return 0, "", false
	}
	if n, err := strconv.ParseFloat("0"+digits, 64); err == nil {
		delay = min(n, maxRefreshDelay)
	}
	rest = strings.TrimLeft(rest, "0123456789.")
	if rest == "" {
		return delay, "", true
	}
	if !strings.ContainsAny(rest[:1], htmlSpace+";,") {
		return 0, "", false
	}
	rest = strings.TrimLeft(rest, htmlSpace)
	if rest != "" && (rest[0] == ';' || rest[0] == ',') {
		rest = strings.TrimLeft(rest[1:], htmlSpace)
	}
	return delay, unquoted(afterURL(rest)), true
}

const htmlSpace = " \t\n\f\r"

// afterURL skips "url=" in any case and with blanks; without the equals sign all of it is the URL.
func afterURL(s string) string {
	if len(s) < 3 || !strings.EqualFold(s[:3], "url") {
		return s
	}
	rest, found := strings.CutPrefix(strings.TrimLeft(s[3:], htmlSpace), "=")
	if !found {
		return s
	}
	return strings.TrimLeft(rest, htmlSpace)
}

// unquoted takes what is inside the first quotes, which need not be closed.
func unquoted(s string) string {
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		s, _, _ = strings.Cut(s[1:], s[:1])
	}
	return strings.Trim(s, htmlSpace)
}

package egress

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"

	"golang.org/x/net/publicsuffix"
)

// Bounds on what a chain can make us send back. Browsers keep no cookie over 4 KiB either.
const (
	maxCookieBytes       = 4 << 10
	maxCookieHeaderBytes = 16 << 10
)

// cookies are those of one chain of redirects (RFC 6265), gone with it. A nil *cookies keeps none.
type cookies struct {
	jar *cookiejar.Jar
	// changes counts the answers that changed what would be sent to their own URL.
	changes int
}

func newCookies() *cookies {
	// The options are valid, so the error is nil: the jar has no other.
	jar, _ := cookiejar.New(&cookiejar.Options{PublicSuffixList: publicsuffix.List})
	return &cookies{jar: jar}
}

func (c *cookies) addTo(request *http.Request) {
	if c == nil {
		return
	}
	left := maxCookieHeaderBytes
	for _, cookie := range c.jar.Cookies(request.URL) {
		left -= len(cookie.Name) + len(cookie.Value) + len("=; ")
		if left < 0 {
			return
		}
		request.AddCookie(cookie)
	}
}

// keep takes the cookies of an answer and tells whether it set any that may be kept.
func (c *cookies) keep(r *Response) {
	answer := http.Response{Header: r.Header}
	var kept []*http.Cookie
	for _, cookie := range answer.Cookies() {
		if len(cookie.Name)+len(cookie.Value) <= maxCookieBytes {
			kept = append(kept, cookie)
		}
	}
	from, err := url.Parse(r.URL.String())
	if err != nil || len(kept) == 0 {
		return
	}
	c.jar.SetCookies(from, kept)
	c.changes++
}

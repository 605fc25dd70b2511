package egress

import (
	"net/http"
	"net/http/cookiejar"
	"net/netip"
	"net/url"
	"slices"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"

	"golang.org/x/net/publicsuffix"
)

// Bounds on what a chain can make us send (docs/contract.md#times-and-sizes).
const (
	// maxForeignURL and maxForeignCookies are for a server that did not choose them.
	maxForeignURL     = 4 << 10
	maxForeignCookies = 4 << 10
	// Browsers keep no cookie over 4 KiB either.
	maxCookieBytes       = 4 << 10
	maxCookieHeaderBytes = 16 << 10
)

// chainState is what a chain of redirects takes along from hop to hop, gone with it. Whatever one host says that we
// should send goes to that host alone: else the first host of a chain writes our requests to the next. A nil
// *chainState takes nothing along.
type chainState struct {
	// jars hold the cookies of each host (RFC 6265), those for its parent domain too, which others do not get.
	jars map[string]*cookiejar.Jar
	// answered are the addresses at which each host has answered: at its next lookup, a name may lead to another server.
	answered map[string][]netip.Addr
	// chooser is the host whose redirect gave the URL that is to be asked for; empty for the first URL.
	chooser string
	// changes counts the answers that changed what would be sent to their own URL.
	changes int
}

func newChainState() *chainState {
	return &chainState{jars: make(map[string]*cookiejar.Jar), answered: make(map[string][]netip.Addr)}
}

// refuse fails where the URL is too long for anybody but the host that chose it, which the next host is not.
func (c *chainState) refuse(u target.URL) error {
	if c.tooLong(u) && c.chooser != u.Host().String() {
		return errForeignURL()
	}
	return nil
}

// restrict leaves the addresses that may be sent the URL and the cookies, and the cookies that may be sent to them.
// More than any server gets is for those at which the host has answered in this chain.
func (c *chainState) restrict(u target.URL, addresses []netip.Addr) ([]netip.Addr, []*http.Cookie, error) {
	if c == nil {
		return addresses, nil, nil
	}
	cookies, size := c.cookiesFor(u, maxCookieHeaderBytes)
	if !c.tooLong(u) && size <= maxForeignCookies {
		return addresses, cookies, nil
	}
	answered := c.answered[u.Host().String()]
	known := slices.DeleteFunc(slices.Clone(addresses), func(a netip.Addr) bool { return !slices.Contains(answered, a) })
	switch {
	case len(known) > 0:
		return known, cookies, nil
	case c.tooLong(u):
		return nil, nil, errForeignURL()
	}
	cookies, _ = c.cookiesFor(u, maxForeignCookies)
	return addresses, cookies, nil
}

func (c *chainState) tooLong(u target.URL) bool {
	return c != nil && c.chooser != "" && len(u.String()) > maxForeignURL
}

func errForeignURL() error {
	return fault.New(fault.Limited,
		"The URL is longer than 4,096 characters; a URL that long is sent only to the server that chose it.")
}

// cookiesFor gives the cookies for a URL, as many as come to at most so many bytes of the header, and their size there.
func (c *chainState) cookiesFor(u target.URL, limit int) (list []*http.Cookie, size int) {
	jar := c.jars[u.Host().String()]
	to, err := url.Parse(u.String())
	if jar == nil || err != nil {
		return nil, 0
	}
	for _, cookie := range jar.Cookies(to) {
		more := len(cookie.Name) + len(cookie.Value) + len("=; ")
		if size+more > limit {
			break
		}
		size += more
		list = append(list, cookie)
	}
	return list, size
}

// keep takes what an answer has said: its cookies, and that its host is at its address.
func (c *chainState) keep(r *Response) {
	host := r.URL.Host().String()
	c.chooser = host
	if !slices.Contains(c.answered[host], r.Address) {
		c.answered[host] = append(c.answered[host], r.Address)
	}
	answer := http.Response{Header: r.Header}
	kept := slices.DeleteFunc(answer.Cookies(), func(cookie *http.Cookie) bool {
		return len(cookie.Name)+len(cookie.Value) > maxCookieBytes
	})
	from, err := url.Parse(r.URL.String())
	if err != nil || len(kept) == 0 {
		return
	}
	if c.jars[host] == nil {
		// The options are valid, so the error is nil: the jar has no other.
		c.jars[host], _ = cookiejar.New(&cookiejar.Options{PublicSuffixList: publicsuffix.List})
	}
	c.jars[host].SetCookies(from, kept)
	c.changes++
}

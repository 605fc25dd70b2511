package egress

import (
	"context"
	"errors"
	"net/http"
	"net/http/cookiejar"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool/finding"

	"golang.org/x/net/publicsuffix"
)

// ChainEnd says why a chain of redirects ended.
type ChainEnd string

// The ends, named as redirect-checker's outcomes.
const (
	EndFinal             ChainEnd = "final"
	EndLoop              ChainEnd = "loop"
	EndTooManyRedirects  ChainEnd = "tooManyRedirects"
	EndMissingLocation   ChainEnd = "missingLocation"
	EndInvalidLocation   ChainEnd = "invalidLocation"
	EndUnsupportedScheme ChainEnd = "unsupportedScheme"
	EndBlocked           ChainEnd = "blocked"
	EndUnreachable       ChainEnd = "unreachable"
	EndDeadline          ChainEnd = "deadline"
)

// Hop is one round trip of a chain. Exactly one of Response and Err is set.
type Hop struct {
	URL      target.URL
	Response *Response
	Err      error
	Took     time.Duration // from the start of the round trip to its end, also where it failed
}

// Chain is what Follow saw.
type Chain struct {
	Hops []Hop
	End  ChainEnd
	// Err is the *fault.Error behind an End other than EndFinal (EndBlocked: the last hop was refused, or it was not
	// visited because a limit was reached). Where a redirect led there its kind is Upstream, Timeout
	// or Busy, so that only a first URL can be the visitor's own mistake; Hops holds the hop's error as Do gave it.
	Err error
	// Followed counts the redirects that were followed.
	Followed int
}

// Final is the last answer, nil where the last hop gave none.
func (c Chain) Final() *Response {
	if len(c.Hops) == 0 {
		return nil
	}
	return c.Hops[len(c.Hops)-1].Response
}

// Limited is the *fault.Error of a last hop that was not visited because a limit was reached, else nil.
func (c Chain) Limited() error {
	if len(c.Hops) == 0 || !fault.Is(c.Hops[len(c.Hops)-1].Err, fault.Limited) {
		return nil
	}
	return c.Hops[len(c.Hops)-1].Err
}

// Follow performs r and follows at most limit redirects (301, 302, 303, 307, 308), each Location parsed and judged as a
// first target is, nothing sent to one that fails. Cookies set along the chain are sent back (RFC 6265, kept for this
// call alone), but to no other host than the one that set them; Authorization never exists. A revisited canonical URL
// is a loop, unless a cookie was set since (once).
func (c *Client) Follow(ctx context.Context, r Request, limit int) Chain {
	f := c.newFollower(r, limit)
	for f.step(ctx) {
	}
	return f.chain
}

// FollowFrom follows redirects as Follow does, from a hop that the caller already made with r.
func (c *Client) FollowFrom(ctx context.Context, r Request, first Hop, limit int) Chain {
	f := c.newFollower(r, limit)
	f.visit()
	for more := f.goOn(ctx, first); more; {
		more = f.step(ctx)
	}
	return f.chain
}

func (c *Client) newFollower(r Request, limit int) *follower {
	r.Exempt = false // what a chain leads to is a stranger's choice
	return &follower{client: c, request: r, limit: limit, state: newChainState(), visits: make(map[string]visit)}
}

// follower walks one chain.
type follower struct {
	client  *Client
	request Request
	limit   int
	state   *chainState
	visits  map[string]visit
	chain   Chain
}

// visit is what is remembered of a URL: how many answers had set a cookie when it was last asked for, and whether it
// has been given its second chance.
type visit struct {
	cookies   int
	revisited bool
}

// step makes one hop and reports whether another follows.
func (f *follower) step(ctx context.Context) bool {
	f.visit()
	began := time.Now()
	answer, err := f.client.do(ctx, &f.request, f.state)
	return f.goOn(ctx, Hop{URL: f.request.URL, Response: answer, Err: err, Took: time.Since(began)})
}

// visit remembers that the URL is requested.
func (f *follower) visit() {
	url := f.request.URL.String()
	seen := f.visits[url]
	seen.cookies = f.state.changes
	f.visits[url] = seen
}

// goOn takes in a hop, and reports whether another follows.
func (f *follower) goOn(ctx context.Context, hop Hop) bool {
	f.chain.Hops = append(f.chain.Hops, hop)
	if f.request.Seen != nil {
		f.request.Seen(hop)
	}
	answer, err := hop.Response, hop.Err
	if err != nil {
		return f.end(endOf(ctx, err), f.classify(err))
	}
	f.state.keep(answer)
	if !IsRedirect(answer.Status) {
		return f.end(EndFinal, nil)
	}
	next, err := answer.Destination()
	if err != nil {
		return f.end(endOfLocation(f.client.refused(err)))
	}
	if f.loops(next) {
		return f.end(EndLoop, fault.New(fault.Upstream, "REDIRECT_LOOP", nil))
	}
	if f.chain.Followed == f.limit {
		return f.end(EndTooManyRedirects, fault.New(fault.Upstream, "TOO_MANY_REDIRECTS",
			finding.Args{"limit": f.limit}))
	}
	f.chain.Followed++
	f.request.URL, f.request.Address = next, netip.Addr{}
	f.request.Method = methodAfter(answer.Status, f.request.Method)
	return true
}

func (f *follower) end(end ChainEnd, err error) bool {
	f.chain.End, f.chain.Err = end, err
	return false
}

// loops reports whether next was asked for already, with the cookies that there are now. A second visit is allowed
// once: a page that sets a cookie and sends back to itself is common, one that sets a new cookie each time must not
// go on.
func (f *follower) loops(next target.URL) bool {
	seen, visited := f.visits[next.String()]
	if !visited {
		return false
	}
	if seen.revisited || seen.cookies == f.state.changes {
		return true
	}
	seen.revisited = true
	f.visits[next.String()] = seen
	return false
}

// IsRedirect reports whether a browser follows the Location of a status (RFC 9110 section 15.4).
func IsRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// methodAfter is the method of the next request (RFC 9110 section 15.4): what is neither GET nor HEAD becomes GET where
// browsers make it so.
func methodAfter(status int, method string) string {
	switch status {
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return method
	}
	if method == http.MethodHead {
		return method
	}
	return http.MethodGet
}

// endOf is the end of a chain whose last hop gave no answer.
func endOf(ctx context.Context, err error) ChainEnd {
	switch {
	case ctx.Err() != nil:
		return EndDeadline
	case fault.Is(err, fault.Refused), fault.Is(err, fault.Limited):
		return EndBlocked
	}
	return EndUnreachable
}

// classify gives the error of a hop the kind that it has for the whole chain.
func (f *follower) classify(err error) error {
	if f.chain.Followed == 0 {
		return err
	}
	failed, is := errors.AsType[*fault.Error](err)
	if !is {
		return err
	}
	switch failed.Kind {
	case fault.Upstream, fault.Timeout, fault.Busy:
		return err
	case fault.Refused:
		return fault.Wrap(fault.Upstream, err, "REDIRECT_NOT_CHECKED", nil)
	case fault.Limited:
		return fault.Wrap(fault.Upstream, err, "REDIRECT_NOT_FOLLOWED",
			failed.Args.With(finding.Args{"refusal": failed.Code}))
	}
	return fault.Wrap(fault.Upstream, err, failed.Code, failed.Args)
}

// locationEnds are the ends of a chain at a redirect that cannot be followed.
var locationEnds = map[target.LocationProblem]struct {
	end  ChainEnd
	code string
}{
	target.LocationMissing:     {EndMissingLocation, "REDIRECT_WITHOUT_LOCATION"},
	target.LocationInvalid:     {EndInvalidLocation, "REDIRECT_INVALID"},
	target.LocationScheme:      {EndUnsupportedScheme, "REDIRECT_SCHEME"},
	target.LocationCredentials: {EndBlocked, "REDIRECT_USER_NAME"},
	target.LocationRefused:     {EndBlocked, "REDIRECT_NOT_PUBLIC"},
	target.LocationConflicting: {EndInvalidLocation, "LOCATION_CONFLICT"},
}

// endOfLocation takes the error of Destination.
func endOfLocation(err error) (ChainEnd, error) {
	problem := target.LocationInvalid
	if location, is := errors.AsType[*target.LocationError](err); is {
		problem = location.Problem
	}
	found := locationEnds[problem]
	return found.end, fault.Wrap(fault.Upstream, err, found.code, finding.Args{"followed": BrowsersFollow(err)})
}

// BrowsersFollow is the code of a sentence where browsers follow a Location that this service does not follow; else it
// is empty.
func BrowsersFollow(err error) string {
	if location, is := errors.AsType[*target.LocationError](err); is && location.BrowsersFollow {
		return "BROWSERS_FOLLOW"
	}
	return ""
}

// Locations are the different values of an answer's Location fields, in the order in which they came. More than one is
// a conflict: browsers refuse such an answer as a whole, whatever its status (Chromium with
// ERR_RESPONSE_HEADERS_MULTIPLE_LOCATION), since a party that can add a field must not decide where visitors go.
// Fields that are equal are one.
func (r *Response) Locations() []string {
	var different []string
	for _, value := range r.Header.Values("Location") {
		value = strings.Trim(value, " \t")
		if !slices.Contains(different, value) {
			different = append(different, value)
		}
	}
	return different
}

// RepairedLocation reports whether a redirect has a Location that is followed only once it was repaired, as by
// target.Repair.
func (r *Response) RepairedLocation() bool {
	locations := r.Locations()
	if !IsRedirect(r.Status) || len(locations) != 1 {
		return false
	}
	_, changed := target.Repair(locations[0])
	return changed
}

// Destination is where a browser would go after an answer that redirects. Errors are *target.LocationError.
func (r *Response) Destination() (target.URL, error) {
	switch locations := r.Locations(); len(locations) {
	case 0:
		return r.URL.Resolve("")
	case 1:
		return r.URL.Resolve(locations[0])
	}
	return target.URL{}, &target.LocationError{Problem: target.LocationConflicting,
		Err: fault.New(fault.Invalid, "LOCATIONS_DIFFER", nil)}
}

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
	// shortHellos are the servers that answer short ClientHellos alone.
	shortHellos []netip.AddrPort
	// changes counts the answers that changed what would be sent to their own URL.
	changes int
}

func newChainState() *chainState {
	return &chainState{jars: make(map[string]*cookiejar.Jar), answered: make(map[string][]netip.Addr)}
}

// refuse fails where the URL is too long for anyone but the host that chose it, which the next host is not.
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
	return fault.New(fault.Limited, "URL_TOO_LONG", nil)
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

// intolerant reports whether a server of an earlier hop answers short ClientHellos alone.
func (c *chainState) intolerant(to netip.AddrPort) bool {
	return c != nil && slices.Contains(c.shortHellos, to)
}

// keep takes what an answer has said: its cookies, and that its host is at its address.
func (c *chainState) keep(r *Response) {
	host := r.URL.Host().String()
	c.chooser = host
	if r.HelloTooLong {
		c.shortHellos = append(c.shortHellos, netip.AddrPortFrom(r.Address, r.URL.Port()))
	}
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

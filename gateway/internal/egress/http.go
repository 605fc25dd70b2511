package egress

import (
	"cmp"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/egress/http1"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool/finding"
)

// Request is one HTTP round trip.
type Request struct {
	// Method is GET where empty.
	Method string
	URL    target.URL
	// Family limits the addresses tried to 4 or 6; 0 tries all.
	Family int
	// Address, where it is valid, is the only address that is dialled: one of a Resolution of the URL's host that the
	// caller has. The host is looked up and judged all the same, and so is the address at its dial. Follow dials it for
	// the first hop alone.
	Address netip.Addr
	// Header is added to the identifying User-Agent; Host, User-Agent, Referer, Authorization, Cookie and hop-by-hop
	// headers are ignored. Accept is */* where it is not set.
	Header http.Header
	// MaxBody is how much of the decompressed body is read; 0 reads none. Follow reads the body of the last answer
	// alone.
	MaxBody int64
	// Consume is handed the body as it comes, in place of MaxBody, where a body is too long to be kept or depends on
	// its headers: the answer is complete but for what comes of the body, and the content encoding is still on
	// (DecodeBody undoes it). It bounds what it reads itself and does not keep the reader, whose errors are
	// *fault.Error or io.EOF.
	Consume func(answer *Response, body io.Reader)
	// RequireValidCertificate fails the round trip on an unauthorized certificate, before the request is written; the
	// failure's cause is a *CertificateError.
	RequireValidCertificate bool
	// Exempt requests the exemption of Settings.ExemptHosts. Only for a URL that the operator chose: never for one that
	// a visitor or a stranger's redirect named. On a host that is not listed it changes nothing.
	Exempt bool
	// Uncharged is for a server that a provider's answers led to, and not the visitor's input: Settings.Charge is not
	// called.
	Uncharged bool
	// Seen is called with each hop of a chain as Follow makes it.
	Seen func(Hop)
	// OneTry dials only the first address of the resolution in place of the next when one fails.
	OneTry bool
}

// TLS is what the handshake showed.
type TLS struct {
	State   tls.ConnectionState
	Verdict certs.Verdict
}

// Response is the answer of one round trip.
type Response struct {
	URL        target.URL
	Status     int
	StatusText string // the server's own reason phrase, or the standard one where HTTP/2 has none
	Proto      string // HTTP/1.0, HTTP/1.1 or HTTP/2
	Header     http.Header
	Address    netip.Addr
	// Notes are what was wrong with the heads of HTTP/1, interim ones included, and with the body, and was read past.
	Notes   []http1.NoteCode
	Interim []Interim // the answers before this one, in the order of arrival
	Body    []byte
	// Received is the length of the body as it came, before decompression.
	Received int64
	// Truncated reports that the body was longer than MaxBody.
	Truncated bool
	// BodyErr is why the body ended early, a *fault.Error, nil where it did not.
	BodyErr error
	Timings Timings
	TLS     *TLS
	// HelloTooLong reports that the server answers a short ClientHello, but not one as long as that of a browser.
	HelloTooLong bool
}

// Do performs one round trip without following redirects, within HTTPTimeout. Errors are *fault.Error: Refused,
// NoAddress, Upstream (with the reason in its sentence: refused, reset, not HTTP, header too large, no route of this
// family …), Timeout, Limited, or Busy where this host is not ready to connect.
func (c *Client) Do(ctx context.Context, r Request) (*Response, error) {
	return c.do(ctx, &r, nil)
}

// do is Do with what a chain carries along, and without the body of an answer that redirects onward in one.
func (c *Client) do(ctx context.Context, r *Request, chain *chainState) (*Response, error) {
	ctx, cancel := context.WithTimeout(ctx, c.bounds.http)
	defer cancel()
	rt := &roundTrip{client: c, ctx: ctx, request: *r, chain: chain}
	rt.cost = &cost{roundTrip: rt}
	defer rt.end()
	if err := rt.prepare(chain); err != nil {
		return nil, err
	}
	return rt.run()
}

// prepare finds the way to the server, and what may be sent to it.
func (rt *roundTrip) prepare(chain *chainState) (err error) {
	r := rt.request
	if err := chain.refuse(r.URL); err != nil {
		return err
	}
	rt.clock.began = time.Now()
	if rt.plan, err = rt.client.dialPlanFor(rt.ctx, r); err != nil {
		return err
	}
	rt.clock.dns = rt.plan.lookup
	if rt.plan.addresses, rt.cookies, err = chain.restrict(r.URL, rt.plan.addresses); err != nil {
		return err
	}
	if err := rt.plan.room(rt.ctx, r, rt.cookies); err != nil {
		return err
	}
	if r.readsBody() {
		rt.ctx = WithReceiveBuffer(rt.ctx, bodyBuffer)
	}
	return nil
}

// dialPlan is how a round trip reaches its server.
type dialPlan struct {
	addresses []netip.Addr // those that may be dialled, in order
	lookup    time.Duration
	admit     func(context.Context, netip.AddrPort) error // called before a dial; nil where it is not charged
	dial      func(context.Context, netip.AddrPort) (net.Conn, error)
}

func (c *Client) dialPlanFor(ctx context.Context, r Request) (dialPlan, error) {
	if c.exempts(r) {
		return c.exemptDialPlan(ctx, r)
	}
	resolution, err := c.Resolve(ctx, r.URL.Host())
	if err != nil {
		return dialPlan{}, err
	}
	addresses, err := r.addresses(resolution)
	if r.Address.IsValid() && err == nil {
		addresses = []netip.Addr{r.Address}
	}
	plan := dialPlan{addresses: addresses, lookup: resolution.Duration, admit: c.Admit, dial: c.dialAdmitted}
	if r.Uncharged {
		plan.admit, plan.dial = nil, c.dialUncharged
	}
	return plan, err
}

// addresses are those that the request may dial, in order.
func (r Request) addresses(resolution Resolution) ([]netip.Addr, error) {
	if r.Family != 0 {
		resolution = resolution.Only(r.Family)
	}
	all := resolution.All()
	switch {
	case len(all) > 0:
		return r.limit(all), nil
	case r.Family == 0:
		return nil, resolution.Reachable()
	case len(resolution.V4)+len(resolution.V6) > 0:
		return nil, resolution.NoRoute(slices.Concat(resolution.V4, resolution.V6)[0])
	}
	return nil, fault.New(fault.NoAddress, "NO_ADDRESS",
		finding.Args{"host": r.URL.Host().Short(), "family": "IPv" + strconv.Itoa(r.Family)})
}

func (r Request) limit(all []netip.Addr) []netip.Addr {
	if r.OneTry {
		return all[:1]
	}
	return all
}

// ignoredHeaders are what a caller cannot set: the identity of this service and of the target, the framing, and
// whatever could carry a secret or identify one site to another.
var ignoredHeaders = []string{
	"Host", "User-Agent", "Referer", "Authorization", "Cookie",
	"Connection", "Content-Length", "Expect", "Keep-Alive", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade",
}

// build makes the request as it goes on the wire.
func (r Request) build(ctx context.Context, userAgent string) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, cmp.Or(r.Method, http.MethodGet), r.URL.String(), http.NoBody)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "URL_NOT_REQUESTABLE", nil)
	}
	for name, values := range r.Header {
		request.Header[http.CanonicalHeaderKey(name)] = values
	}
	for _, name := range ignoredHeaders {
		request.Header.Del(name)
	}
	setDefault(request.Header, "Accept", "*/*")
	if r.readsBody() {
		setDefault(request.Header, "Accept-Encoding", "gzip")
	}
	// An empty User-Agent is one too: without it, the library would send its own.
	request.Header.Set("User-Agent", userAgent)
	return request, nil
}

func setDefault(h http.Header, name, value string) {
	if h.Get(name) == "" {
		h.Set(name, value)
	}
}

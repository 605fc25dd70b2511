package egress

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/textproto"
	"strings"
	"sync"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/traffic"
	"diagnostics/shared/parallel"
)

// maxConnections is how often one exchange may connect. The library connects again where a server of HTTP/2 turns a
// fresh connection down; a server that always does must not make us dial it for eight seconds.
const maxConnections = 2

// The buffers of an exchange live as long as its server is silent, so they are as small as most heads.
const (
	writeBuffer = 1 << 10
	readBuffer  = 2 << 10
)

// trip is one exchange under way: a transport of its own, so that no connection outlives it or serves another visitor,
// and everything learnt while connecting.
type trip struct {
	client  *Client
	ctx     context.Context
	request Request
	chained bool // in a chain of redirects
	cookies []*http.Cookie
	way     way
	clock   clock
	effort  *effort

	mu          sync.Mutex
	ended       bool
	open        []io.Closer
	connections int
	phase       phase
	address     netip.Addr
	tls         *TLS
	spoken      *politeConn // the connection of HTTP/1, nil for HTTP/2
}

func (x *trip) run() (*Response, error) {
	request, err := x.request.build(httptrace.WithClientTrace(x.ctx, x.trace()), x.client.settings.UserAgent)
	if err != nil {
		return nil, err
	}
	for _, cookie := range x.cookies {
		request.AddCookie(cookie)
	}
	transport, err := x.transport()
	if err != nil {
		return nil, err
	}
	defer transport.CloseIdleConnections()
	answer, err := transport.RoundTrip(request)
	if err != nil {
		parallel.Raise(err)
		return nil, x.fault(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if err := x.effort.header(answer.Header); err != nil {
		return nil, err
	}
	if !isStatus(answer.StatusCode) {
		return nil, x.say(fault.Upstream, errNoStatus, sentenceNotHTTP)
	}
	return x.read(answer), nil
}

// trace has the clock told of the moments that only the transport knows, and each interim answer counted.
func (x *trip) trace() *httptrace.ClientTrace {
	trace := x.clock.trace()
	trace.Got1xxResponse = func(_ int, header textproto.MIMEHeader) error { return x.effort.interim(http.Header(header)) }
	return trace
}

// transport makes the library's for this exchange. For https it connects first, since what the server speaks decides
// which transport it is: frames are counted between TLS and HTTP/2, and a transport that is to choose by itself would
// want the TLS connection bare.
func (x *trip) transport() (*http.Transport, error) {
	transport := &http.Transport{
		Proxy:                  nil, // with a proxy the control hook would judge the proxy's address, not the target's
		DialContext:            caught(x.dialPlain),
		DisableCompression:     true,
		MaxResponseHeaderBytes: MaxHeaderBytes,
		WriteBufferSize:        writeBuffer,
		ReadBufferSize:         readBuffer,
		Protocols:              new(http.Protocols),
		HTTP2:                  x.request.receiveWindows(),
	}
	if x.request.URL.Scheme() == "http" {
		transport.Protocols.SetHTTP1(true)
		return transport, nil
	}
	first, err := parallel.Try(x.dialTLS)
	if err != nil {
		parallel.Raise(err)
		return nil, err
	}
	_, framed := first.(*frameConn)
	transport.Protocols.SetHTTP1(!framed)
	transport.Protocols.SetUnencryptedHTTP2(framed) // what it is handed has TLS below it
	transport.DialTLSContext = caught(func() (net.Conn, error) {
		if c := first; c != nil {
			first = nil
			return c, nil
		}
		return x.dialAgain()
	})
	return transport, nil
}

func (x *trip) read(answer *http.Response) *Response {
	r := &Response{
		URL:        x.request.URL,
		Status:     answer.StatusCode,
		StatusText: statusText(answer),
		Proto:      strings.TrimSuffix(answer.Proto, ".0"),
		Header:     answer.Header,
	}
	x.mu.Lock()
	r.Address, r.TLS = x.address, x.tls
	spoken := x.spoken
	x.mu.Unlock()
	if answer.ProtoMajor == 1 {
		r.Proto = answer.Proto
		r.Header = headAsSent(spoken.start(), answer.Header)
	}
	var body time.Duration
	if x.wantsBody(r) {
		x.setPhase(phaseBody)
		began := time.Now()
		x.readBody(r, ownFaultBody{from: x.gathered(answer), client: x.client, address: r.Address})
		body = time.Since(began)
		if err := x.effort.header(answer.Trailer); err != nil && r.BodyErr == nil {
			r.BodyErr = err
		}
	}
	r.Timings = x.clock.timings(r.TLS != nil)
	r.Timings.Body = body
	return r
}

// wantsBody leaves out what is not a body (the other protocol after 101) and what nobody will look at.
func (x *trip) wantsBody(r *Response) bool {
	onward := x.chained && IsRedirect(r.Status) && strings.TrimSpace(r.Header.Get("Location")) != ""
	return x.request.readsBody() && r.Status != http.StatusSwitchingProtocols && !onward
}

func (x *trip) readBody(r *Response, body io.Reader) {
	if x.request.Consume != nil {
		x.request.Consume(r, &faultReader{from: body, answer: r})
		return
	}
	r.readBody(x.ctx, body, x.request.MaxBody)
}

// statusText is the reason phrase of HTTP/1, which is free text from a stranger and may be empty; HTTP/2 has none.
func statusText(answer *http.Response) string {
	if answer.ProtoMajor != 1 {
		return http.StatusText(answer.StatusCode)
	}
	_, phrase, _ := strings.Cut(answer.Status, " ")
	return text.Clean(phrase, maxReasonPhrase)
}

const maxReasonPhrase = 256

// end closes every connection of the trip. A dial that is still under way then finds that it has come too late.
func (x *trip) end() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.ended = true
	for _, c := range x.open {
		_ = c.Close()
	}
}

var errTripEnded = errors.New("the exchange has ended")

// caught is dial as the transport calls it: in a goroutine of its own, so that a panic is handed out as an error. The
// transport's own context is detached from the request, so the trip's is used.
func caught(dial func() (net.Conn, error)) func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) { return parallel.Try(dial) }
}

// dialPlain connects for http.
func (x *trip) dialPlain() (net.Conn, error) {
	c, err := x.connect()
	if err != nil {
		return nil, err
	}
	return x.politely(c)
}

// dialAgain connects for a request of HTTP/2 that is repeated.
func (x *trip) dialAgain() (net.Conn, error) {
	c, err := x.dialTLS()
	if err != nil {
		return nil, err
	}
	if _, framed := c.(*frameConn); !framed {
		return nil, x.closesWithoutAnswer()
	}
	return c, nil
}

// connect dials the addresses and keeps the connection that was first.
func (x *trip) connect() (net.Conn, error) {
	if err := x.allowConnection(); err != nil {
		return nil, err
	}
	won, err := race(x.ctx, x.way, x.request.URL.Port())
	if err != nil {
		return nil, x.fault(err)
	}
	if err := x.track(won.conn); err != nil {
		return nil, err
	}
	if x.way.admit != nil {
		traffic.Hold(won.conn)
	}
	x.clock.connected(won.took)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.address = won.address
	return won.conn, nil
}

// politely makes the connection one for HTTP/1.
func (x *trip) politely(over net.Conn) (net.Conn, error) {
	c := newPoliteConn(over)
	if err := x.track(c); err != nil {
		return nil, err
	}
	x.setPhase(phaseAnswer)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.spoken = c
	return c, nil
}

// track has the connection closed with the trip, or at once where that has ended already.
func (x *trip) track(c io.Closer) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ended {
		_ = c.Close()
		return errTripEnded
	}
	x.open = append(x.open, c)
	return nil
}

func (x *trip) allowConnection() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.connections == maxConnections {
		return x.closesWithoutAnswer()
	}
	x.connections++
	x.phase = phaseConnect
	return nil
}

func (x *trip) closesWithoutAnswer() error {
	return fault.Newf(fault.Upstream, "%s keeps closing its HTTP/2 connections without an answer.", x.host())
}

func (x *trip) setPhase(p phase) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.phase = p
}

func (x *trip) readsTheBody() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.phase == phaseBody
}

func (x *trip) host() string { return x.request.URL.Host().Short() }

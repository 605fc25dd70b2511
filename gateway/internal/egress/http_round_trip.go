package egress

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/traffic"
	"diagnostics/shared/parallel"
	"diagnostics/shared/progress"
)

// maxConnections is how often one round trip may connect. The library connects again where a server of HTTP/2 turns a
// fresh connection down; a server that always does must not make us dial it for eight seconds.
const maxConnections = 2

// roundTrip is one round trip under way: a connection of its own, which does not outlive it or serve another visitor,
// and everything learnt while connecting.
type roundTrip struct {
	client  *Client
	ctx     context.Context
	request Request
	chained bool // in a chain of redirects
	cookies []*http.Cookie
	plan    dialPlan
	clock   clock
	cost    *cost

	mu          sync.Mutex
	ended       bool
	open        []io.Closer
	connections int
	phase       phase
	address     netip.Addr
	tls         *TLS
	wire        *wire1          // of HTTP/1, nil for HTTP/2
	transport   *http.Transport // of HTTP/2, nil for HTTP/1
	answer      *http.Response  // of HTTP/2
	interim     []Interim
}

func (x *roundTrip) run() (*Response, error) {
	request, err := x.request.build(x.ctx, x.client.settings.UserAgent)
	if err != nil {
		return nil, err
	}
	for _, cookie := range x.cookies {
		request.AddCookie(cookie)
	}
	//nolint:bodyclose // The round trip closes the connection: to close a body of HTTP/1 would read the rest of it.
	answer, err := x.ask(request)
	if err != nil {
		parallel.Raise(err)
		return nil, x.fault(err)
	}
	if err := x.cost.header(answer.Header); err != nil {
		return nil, err
	}
	if !isStatus(answer.StatusCode) {
		return nil, x.say(fault.Upstream, errNoStatus, sentenceNotHTTP)
	}
	return x.read(answer), nil
}

// ask connects, sends the request in the protocol that the server speaks, and gives the answer as far as its header.
func (x *roundTrip) ask(request *http.Request) (*http.Response, error) {
	var framed *frameConn
	var err error
	parallel.Apart(func() { framed, err = x.begin(request) })
	switch {
	case err != nil:
		return nil, err
	case framed != nil:
		return x.askHTTP2(framed, request)
	}
	return x.wire.receive(request)
}

// begin connects, and sends the request where the server speaks HTTP/1; else it gives the connection of HTTP/2.
func (x *roundTrip) begin(request *http.Request) (*frameConn, error) {
	conn, err := x.connect()
	if err == nil && x.request.URL.Scheme() == "https" {
		conn, err = x.shake(conn)
	}
	if err != nil {
		return nil, err
	}
	if framed, is := conn.(*frameConn); is {
		return framed, nil
	}
	return nil, x.sendHTTP1(conn, request)
}

func (x *roundTrip) read(answer *http.Response) *Response {
	r := &Response{
		URL:        x.request.URL,
		Status:     answer.StatusCode,
		StatusText: statusText(answer),
		Proto:      strings.TrimSuffix(answer.Proto, ".0"),
		Header:     answer.Header,
	}
	x.mu.Lock()
	r.Address, r.TLS, r.Interim = x.address, x.tls, x.interim
	x.mu.Unlock()
	if x.wire != nil && answer.ProtoMajor == 1 { // a server may call its protocol as it likes
		r.Proto = answer.Proto
		r.Header = headAsSent(x.wire.head, answer.Header)
	}
	var body time.Duration
	if x.wantsBody(r) {
		x.setPhase(phaseBody)
		began := time.Now()
		x.readBody(r, ownFaultBody{from: x.gathered(answer), client: x.client, address: r.Address})
		body = time.Since(began)
		if err := x.cost.header(answer.Trailer); err != nil && r.BodyErr == nil {
			r.BodyErr = err
		}
	}
	r.Timings = x.clock.timings(r.TLS != nil)
	r.Timings.Body = body
	return r
}

// wantsBody leaves out what is not a body (the other protocol after 101) and what nobody will look at.
func (x *roundTrip) wantsBody(r *Response) bool {
	onward := x.chained && IsRedirect(r.Status) && strings.TrimSpace(r.Header.Get("Location")) != ""
	return x.request.readsBody() && r.Status != http.StatusSwitchingProtocols && !onward
}

func (x *roundTrip) readBody(r *Response, body io.Reader) {
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

// end closes every connection of the round trip. A dial that is still under way then finds that it has come too late.
func (x *roundTrip) end() {
	x.endHTTP2()
	if x.wire != nil {
		x.wire.farewell()
	}
	x.closeAll()
	if x.wire != nil {
		x.wire.end()
	}
}

func (x *roundTrip) closeAll() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.ended = true
	for _, c := range x.open {
		_ = c.Close()
	}
}

var errRoundTripEnded = errors.New("the round trip has ended")

// connect dials the addresses and keeps the connection that was first.
func (x *roundTrip) connect() (net.Conn, error) {
	if err := x.allowConnection(); err != nil {
		return nil, err
	}
	won, err := race(x.ctx, x.plan, x.request.URL.Port())
	if err != nil {
		return nil, x.fault(err)
	}
	if err := x.track(won.conn); err != nil {
		return nil, err
	}
	if x.plan.admit != nil {
		traffic.Hold(won.conn)
	}
	x.clock.connected(won.took)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.address = won.address
	return won.conn, nil
}

// track has the connection closed with the round trip, or at once where that has ended already.
func (x *roundTrip) track(c io.Closer) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ended {
		_ = c.Close()
		return errRoundTripEnded
	}
	x.open = append(x.open, c)
	return nil
}

func (x *roundTrip) allowConnection() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.connections == maxConnections {
		return x.closesWithoutAnswer()
	}
	x.connections++
	x.phase = phaseConnect
	return nil
}

func (x *roundTrip) closesWithoutAnswer() error {
	return fault.Newf(fault.Upstream, "%s keeps closing its HTTP/2 connections without an answer.", x.host())
}

func (x *roundTrip) setPhase(p phase) {
	x.mu.Lock()
	x.phase = p
	x.mu.Unlock()
	switch p {
	case phaseAnswer:
		progress.Enter(x.ctx, progress.Waiting)
	case phaseBody:
		progress.Enter(x.ctx, progress.Reading)
	}
}

func (x *roundTrip) readsTheBody() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.phase == phaseBody
}

func (x *roundTrip) host() string { return x.request.URL.Host().Short() }

// Interim is an answer that came before the final one (RFC 9110 section 15.2), such as 103 Early Hints.
type Interim struct {
	Status     int
	StatusText string // as Response has it
	Header     http.Header
}

// passed keeps an interim answer, once it was counted. What is counted bounds what is kept: all headers of a round trip
// share MaxHeaderBytes, and there are at most maxIdlePieces.
func (x *roundTrip) passed(interim Interim) error {
	if err := x.cost.interim(interim.Header); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.interim = append(x.interim, interim)
	return nil
}

// What a conversation takes beside what the visitor or a server has chosen of it, in bytes on the wire.
const (
	leastConversation = 1 << 10 // a connection and a few lines
	fullConversation  = 5 << 10 // and TLS with its longest usual hello, and the headers of a request
)

// room fails where a run that has sent much already has none left for the round trip. Half a request would tell nobody
// anything.
func (w dialPlan) room(ctx context.Context, r Request, cookies []*http.Cookie) error {
	if w.admit == nil {
		return nil
	}
	size := fullConversation + len(r.URL.String())
	for _, cookie := range cookies {
		size += len(cookie.Name) + len(cookie.Value)
	}
	return traffic.Room(ctx, size)
}

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

	"diagnostics/gateway/internal/egress/budget/traffic"
	"diagnostics/gateway/internal/egress/tlswire"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/tool/finding"
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
	chain   *chainState // of redirects, nil for none
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
	hello       *tlswire.Outcome[shaken] // of the last handshake
	wire        *http1Conn               // of HTTP/1, nil for HTTP/2
	transport   *http.Transport          // of HTTP/2, nil for HTTP/1
	answer      *http.Response           // of HTTP/2
	interim     []Interim
}

func (rt *roundTrip) run() (*Response, error) {
	request, err := rt.request.build(rt.ctx, rt.client.settings.UserAgent)
	if err != nil {
		return nil, err
	}
	for _, cookie := range rt.cookies {
		request.AddCookie(cookie)
	}
	//nolint:bodyclose // The round trip closes the connection: to close a body of HTTP/1 would read the rest of it.
	answer, err := rt.exchange(request)
	if err != nil {
		parallel.Raise(err)
		return nil, rt.fault(err)
	}
	if !isStatus(answer.StatusCode) {
		return nil, rt.newFault(fault.Upstream, errNoStatus, codeNotHTTP)
	}
	response := rt.read(answer)
	response.HelloTooLong = rt.helloTooLong()
	return response, nil
}

// exchange connects, sends the request in the protocol that the server speaks, and gives the answer as far as its
// header.
func (rt *roundTrip) exchange(request *http.Request) (*http.Response, error) {
	var framed *frameConn
	var err error
	parallel.Apart(func() { framed, err = rt.begin(request) })
	switch {
	case err != nil:
		return nil, err
	case framed != nil:
		return rt.exchangeHTTP2(framed, request)
	}
	return rt.wire.receive(request.Method)
}

// begin connects, and sends the request where the server speaks HTTP/1; else it gives the connection of HTTP/2.
func (rt *roundTrip) begin(request *http.Request) (*frameConn, error) {
	conn, err := rt.connect()
	if err == nil && rt.request.URL.Scheme() == "https" {
		conn, err = rt.handshake(conn)
	}
	if err != nil {
		return nil, err
	}
	if framed, is := conn.(*frameConn); is {
		return framed, nil
	}
	return nil, rt.sendHTTP1(conn, request)
}

func (rt *roundTrip) read(answer *http.Response) *Response {
	r := &Response{
		URL:        rt.request.URL,
		Status:     answer.StatusCode,
		StatusText: statusText(answer),
		Proto:      strings.TrimSuffix(answer.Proto, ".0"),
		Header:     answer.Header,
	}
	rt.mu.Lock()
	r.Address, r.TLS, r.Interim = rt.address, rt.tls, rt.interim
	rt.mu.Unlock()
	if rt.wire != nil {
		r.Proto, r.Notes = answer.Proto, rt.wire.notes
	}
	var body time.Duration
	if rt.wantsBody(r) {
		rt.setPhase(phaseBody)
		began := time.Now()
		rt.readBody(r, ownFaultBody{rt.gathered(answer), rt.client, r.Address, rt.clock.began})
		body = time.Since(began)
		if err := rt.cost.header(answer.Trailer); err != nil && r.BodyErr == nil {
			r.BodyErr = err
		}
	}
	r.Timings = rt.clock.timings(r.TLS != nil)
	r.Timings.Body = body
	r.Timings.Delay = rt.client.settings.Delay.Since(rt.clock.began)
	return r
}

// wantsBody reports whether the body is to be read: not what is none (the other protocol after 101), nor what is
// not used.
func (rt *roundTrip) wantsBody(r *Response) bool {
	onward := rt.chain != nil && IsRedirect(r.Status) && strings.TrimSpace(r.Header.Get("Location")) != ""
	return rt.request.readsBody() && r.Status != http.StatusSwitchingProtocols && !onward
}

func (rt *roundTrip) readBody(r *Response, body io.Reader) {
	if rt.request.Consume != nil {
		rt.request.Consume(r, &faultReader{from: body, answer: r})
		return
	}
	r.readBody(rt.ctx, body, rt.request.MaxBody)
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
func (rt *roundTrip) end() {
	rt.endHTTP2()
	if rt.wire != nil {
		rt.wire.closeOrderly()
	}
	rt.closeAll()
	if rt.wire != nil {
		rt.wire.end()
	}
	rt.mu.Lock()
	hello := rt.hello
	rt.mu.Unlock()
	if hello != nil {
		hello.Wait()
	}
}

func (rt *roundTrip) closeAll() {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.ended = true
	for _, c := range rt.open {
		_ = c.Close()
	}
}

var errRoundTripEnded = errors.New("the round trip has ended")

// connect dials the addresses and keeps the connection that was first.
func (rt *roundTrip) connect() (net.Conn, error) {
	if err := rt.allowConnection(); err != nil {
		return nil, err
	}
	won, err := race(progress.Know(rt.ctx, rt.clock.known()), rt.plan, rt.request.URL.Port())
	if err != nil {
		return nil, rt.fault(err)
	}
	if err := rt.track(won.conn); err != nil {
		return nil, err
	}
	if rt.plan.admit != nil {
		traffic.Hold(won.conn)
	}
	rt.clock.connected(won.took)
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.address = won.address
	return won.conn, nil
}

// track has the connection closed with the round trip, or at once where that has ended already.
func (rt *roundTrip) track(c io.Closer) error {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if rt.ended {
		_ = c.Close()
		return errRoundTripEnded
	}
	rt.open = append(rt.open, c)
	return nil
}

func (rt *roundTrip) allowConnection() error {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if rt.connections == maxConnections {
		return rt.closesWithoutAnswer()
	}
	rt.connections++
	rt.phase = phaseConnect
	return nil
}

func (rt *roundTrip) closesWithoutAnswer() error {
	return fault.New(fault.Upstream, "HTTP2_KEEPS_CLOSING", finding.Args{"host": rt.host()})
}

func (rt *roundTrip) setPhase(p phase) {
	rt.mu.Lock()
	rt.phase = p
	rt.mu.Unlock()
	if stage, is := stages[p]; is {
		progress.Enter(progress.Know(rt.ctx, rt.known()), stage)
	}
}

// stages are those of the phases but the dial, which enters its own.
var stages = map[phase]progress.Stage{
	phaseTLS: progress.Handshake, phaseAnswer: progress.Waiting, phaseBody: progress.Reading,
}

// known is what the stages of a round trip carry.
func (rt *roundTrip) known() progress.Known {
	k := rt.clock.known()
	if address := rt.dialled(); address.IsValid() {
		k.Address = address.String()
	}
	return k
}

func (rt *roundTrip) readsTheBody() bool {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return rt.phase == phaseBody
}

func (rt *roundTrip) host() string { return rt.request.URL.Host().Short() }

// Interim is an answer that came before the final one (RFC 9110 section 15.2), such as 103 Early Hints.
type Interim struct {
	Status     int
	StatusText string // as Response has it
	Header     http.Header
}

// passed keeps an interim answer, whose header was counted. What is counted bounds what is kept: all headers of a round
// trip share MaxHeaderBytes, and there are at most maxIdlePieces.
func (rt *roundTrip) passed(interim Interim) error {
	if err := rt.cost.piece(0); err != nil {
		return err
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.interim = append(rt.interim, interim)
	return nil
}

// What a conversation takes beside what the visitor or a server has chosen of it, in bytes on the wire.
const (
	leastConversation = 1 << 10 // a connection and a few lines
	fullConversation  = 5 << 10 // and TLS with its longest usual hello, and the headers of a request
)

// room fails where a run that has sent much already has none left for the round trip. Half a request is of no
// use.
func (p dialPlan) room(ctx context.Context, r Request, cookies []*http.Cookie) error {
	if p.admit == nil {
		return nil
	}
	size := fullConversation + len(r.URL.String())
	for _, cookie := range cookies {
		size += len(cookie.Name) + len(cookie.Value)
	}
	return traffic.Room(ctx, size)
}

// Timings are the phases of one round trip. Connect, TLS and FirstByte are each the phase's own length.
type Timings struct {
	DNS, Connect time.Duration
	TLS          time.Duration // 0 and HasTLS false over plain HTTP
	HasTLS       bool
	FirstByte    time.Duration // from the request written to the first byte of the answer
	Body         time.Duration // spent on the body, 0 where it is not read
	Total        time.Duration // from the start to the end of the headers, or of the body where it is read
	Delay        time.Duration // in all of which this process waited for processor time
}

// clock collects the phases. Connect and TLS are those of the connection that carried the round trip: a slower or
// failed attempt shows in Total alone, and a handshake that was not answered not even there.
type clock struct {
	began time.Time
	dns   time.Duration

	mu               sync.Mutex
	connect, tls     time.Duration
	waited           time.Duration
	written, answers time.Time
}

// wrote notes that the request is written. It may still be called after the round trip has failed, as may answered.
func (c *clock) wrote() {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.written = now
}

// answered notes the first byte of the answer.
func (c *clock) answered() {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers = now
}

func (c *clock) connected(took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.connect = took
}

func (c *clock) shook(took, waited time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tls = took
	c.waited += waited
}

// known are the phases that have ended.
func (c *clock) known() progress.Known {
	c.mu.Lock()
	defer c.mu.Unlock()
	return progress.Known{DNSMs: progress.Milliseconds(c.dns), ConnectMs: progress.Milliseconds(c.connect),
		TLSMs: progress.Milliseconds(c.tls)}
}

// timings ends the measurement.
func (c *clock) timings(hasTLS bool) Timings {
	total := time.Since(c.began)
	c.mu.Lock()
	defer c.mu.Unlock()
	t := Timings{DNS: c.dns, Connect: c.connect, TLS: c.tls, HasTLS: hasTLS, Total: total - c.waited}
	// A server may answer before it has read the whole request.
	if !c.written.IsZero() && c.answers.After(c.written) {
		t.FirstByte = c.answers.Sub(c.written)
	}
	return t
}

package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/analyze/weight"
	"diagnostics/gateway/internal/egress/budget/processor"
	"diagnostics/gateway/internal/egress/budget/traffic"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/shared/parallel"
	"diagnostics/shared/progress"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// HTTP3Timeout is how long an attempt with HTTP/3 may take, from the lookup to the head of the answer.
const HTTP3Timeout = 4 * time.Second

// HTTP3Request is a request over HTTP/3 (RFC 9114) to a server that may speak for an origin (RFC 7838 section 2).
type HTTP3Request struct {
	// URL is of the origin, and https. Its host is that of SNI and :authority, and must be in the certificate. Path and
	// query are not sent: a server that the visitor did not choose is asked for / alone.
	URL target.URL
	// Host and Port are those of the server.
	Host target.Host
	Port uint16
	// Address is the one of Host to dial; where Host does not have it, the first one is dialled.
	Address netip.Addr
}

// HTTP3Failure is why a server could not be used over HTTP/3.
type HTTP3Failure string

// The failures. Of the first two the server is not the cause.
const (
	HTTP3NotTried    HTTP3Failure = "notTried"    // the policy, a limit, a shortage, or no route of the family
	HTTP3NotVerified HTTP3Failure = "notVerified" // this service does not verify such a certificate
	HTTP3NotPublic   HTTP3Failure = "notPublic"   // the host is not at a public address
	HTTP3NotFound    HTTP3Failure = "notFound"    // the host has no address
	HTTP3Silent      HTTP3Failure = "silent"      // no packet came
	HTTP3Refused     HTTP3Failure = "refused"     // an ICMP message came in place of an answer
	HTTP3Certificate HTTP3Failure = "certificate" // it is none of the origin
	HTTP3Broken      HTTP3Failure = "broken"      // packets came, and no answer of HTTP/3
)

// HTTP3Result is the outcome of a request over HTTP/3.
type HTTP3Result struct {
	Address   netip.Addr    // to which packets were sent; the zero Addr where there were none
	Handshake time.Duration // 0 where it was not completed
	Failure   HTTP3Failure  // empty where an answer came
	Err       error         // the *fault.Error behind Failure, which begins with the host
}

// HTTP3 sends one HEAD request over a QUIC connection of its own (RFC 9000), within HTTP3Timeout. The address is
// judged, charged and counted as by Dial; packets go to no other one, whatever the server asks for, and come from no
// other one. Nothing is sent before the handshake is complete and the certificate verified.
func (c *Client) HTTP3(ctx context.Context, r HTTP3Request) HTTP3Result {
	attempt, cancel := context.WithTimeout(ctx, c.bounds.http3)
	defer cancel()
	a := &http3Attempt{client: c, ctx: attempt, request: r, began: time.Now()}
	a.result.Failure, a.result.Err = a.run()
	if a.result.Failure != "" && ctx.Err() != nil {
		a.result.Failure = HTTP3NotTried
		a.result.Err = fault.Wrap(fault.Timeout, a.result.Err, "HTTP3_NO_TIME", nil)
	}
	return a.result
}

// http3Attempt is one under way.
type http3Attempt struct {
	client  *Client
	ctx     context.Context
	request HTTP3Request
	began   time.Time
	lookup  time.Duration
	socket  *quicSocket
	result  HTTP3Result
}

func (a *http3Attempt) run() (HTTP3Failure, error) {
	to, err := a.address()
	if err != nil {
		return a.unreached(err)
	}
	if a.socket, err = a.client.dialQUIC(a.ctx, to); err != nil {
		return a.unreached(err)
	}
	a.result.Address = to.Addr()
	defer func() { _ = a.socket.Close() }()
	transport := &quic.Transport{Conn: a.socket}
	defer func() { _ = transport.Close() }()
	a.ctx = progress.Know(a.ctx, progress.Known{Address: to.Addr().String(), DNSMs: progress.Milliseconds(a.lookup)})
	progress.Enter(a.ctx, progress.Connecting)
	began := time.Now()
	conn, err := transport.Dial(a.ctx, a.socket.to, quicTLS(a.request.URL.Host().Name()), quicConfig())
	if err != nil {
		return a.failed(err)
	}
	a.result.Handshake = time.Since(began)
	defer func() { _ = conn.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "") }()
	shown := conn.ConnectionState().TLS.PeerCertificates
	if err := processor.Of(a.ctx).SpendTime(weight.Shown(shown)); err != nil {
		return HTTP3NotTried, err
	}
	if failure, err := a.judge(conn.ConnectionState().TLS); err != nil {
		return failure, err
	}
	// The handshake of QUIC is that of TLS too (RFC 9001).
	known := progress.Known{ConnectMs: progress.Milliseconds(a.result.Handshake)}
	progress.Enter(progress.Know(a.ctx, known), progress.Waiting)
	return a.ask(conn)
}

// address is where the packets go.
func (a *http3Attempt) address() (netip.AddrPort, error) {
	resolution, err := a.client.Resolve(a.ctx, a.request.Host)
	if err != nil {
		return netip.AddrPort{}, err
	}
	if err := resolution.Reachable(); err != nil {
		return netip.AddrPort{}, err
	}
	a.lookup = resolution.Duration
	all := resolution.All()
	to := all[0]
	if slices.Contains(all, a.request.Address) {
		to = a.request.Address
	}
	return netip.AddrPortFrom(to, a.request.Port), nil
}

// dialQUIC admits an address, and opens a socket that is connected to it. Errors are those of Dial.
func (c *Client) dialQUIC(ctx context.Context, to netip.AddrPort) (*quicSocket, error) {
	if err := c.Admit(ctx, to); err != nil {
		return nil, err
	}
	if err := traffic.Room(ctx, quicConversation); err != nil {
		return nil, err
	}
	conn, err := c.dialPassable(WithReceiveBuffer(ctx, quicBuffer), "udp", to)
	if err != nil {
		return nil, err
	}
	traffic.Hold(conn)
	return newQUICSocket(conn, to), nil
}

// quicTLS never resumes a session, so that no data is sent before the handshake is complete (0-RTT).
func quicTLS(serverName string) *tls.Config {
	return &tls.Config{
		ServerName:         serverName,
		InsecureSkipVerify: true, // #nosec G402 -- judged apart by package certs
		MinVersion:         tls.VersionTLS13,
		NextProtos:         []string{http3.NextProtoH3},
	}
}

// quicConfig bounds what a server may have under way. There is one version, so that a packet of version negotiation
// ends the attempt, and a server may open the streams of HTTP/3 and a few unknown ones.
func quicConfig() *quic.Config {
	return &quic.Config{
		Versions:                       []quic.Version{quic.Version1},
		HandshakeIdleTimeout:           HTTP3Timeout,
		MaxIdleTimeout:                 HTTP3Timeout,
		InitialStreamReceiveWindow:     MaxHeaderBytes,
		MaxStreamReceiveWindow:         2 * MaxHeaderBytes,
		InitialConnectionReceiveWindow: 2 * MaxHeaderBytes,
		MaxConnectionReceiveWindow:     2 * MaxHeaderBytes,
		MaxIncomingStreams:             -1,
		MaxIncomingUniStreams:          8,
		DisablePathMTUDiscovery:        true,
	}
}

func (a *http3Attempt) judge(state tls.ConnectionState) (HTTP3Failure, error) {
	exchange := certs.ExchangeOf(tls.CipherSuiteName(state.CipherSuite))
	verdict := a.client.checker.CheckIn(a.ctx, state.PeerCertificates, a.request.URL.Host().String(), exchange)
	if verdict.Authorized {
		return "", nil
	}
	failure := HTTP3Certificate
	if verdict.NotVerified() {
		failure = HTTP3NotVerified
	}
	return failure, certificateFault(nil, verdict, a.request.URL.Host().Short())
}

// ask sends the request, and reads no more of the answer than its head.
func (a *http3Attempt) ask(conn *quic.Conn) (HTTP3Failure, error) {
	origin, err := a.request.URL.Resolve("/")
	if err != nil {
		return HTTP3NotTried, err
	}
	request, err := Request{Method: http.MethodHead, URL: origin}.build(a.ctx, a.client.settings.UserAgent)
	if err != nil {
		return HTTP3NotTried, err
	}
	request.Body = nil // the library would start a goroutine to send an empty one
	spoken := http3.Transport{MaxResponseHeaderBytes: MaxHeaderBytes, DisableCompression: true}
	answer, err := spoken.NewClientConn(conn).RoundTrip(request)
	if err != nil {
		parallel.Raise(err)
		return a.failed(err)
	}
	_ = answer.Body.Close()
	// RFC 7838 section 6: the server does not speak for the origin.
	if answer.StatusCode == http.StatusMisdirectedRequest {
		return HTTP3Broken, a.fault(fault.Upstream, nil, "HTTP3_MISDIRECTED", nil)
	}
	return "", nil
}

// unreached is the failure of what no packet was sent for.
func (a *http3Attempt) unreached(err error) (HTTP3Failure, error) {
	known, is := errors.AsType[*fault.Error](err)
	switch {
	case !is && a.ctx.Err() != nil:
		return HTTP3NotTried, a.fault(fault.Timeout, err, "LOOKUP_TIMEOUT", nil)
	case !is:
		return HTTP3NotTried, a.fault(fault.Upstream, err, connectCode(err), nil)
	case fault.IsOwn(err), known.Rule == fault.RuleShortage:
	case known.Kind == fault.Refused && known.Rule != fault.RuleDenied && known.Rule != fault.RuleOwnAddress:
		return HTTP3NotPublic, a.fault(fault.Upstream, err, "HTTP3_SERVER_NOT_PUBLIC", nil)
	case known.Kind == fault.NoAddress, known.Kind == fault.Upstream, known.Kind == fault.Timeout:
		return HTTP3NotFound, known
	}
	return HTTP3NotTried, known
}

// fault returns a failure about the server.
func (a *http3Attempt) fault(kind fault.Kind, cause error, code string, args finding.Args) error {
	return fault.Wrap(kind, cause, code, finding.Args{"host": a.request.Host.Short()}.With(args))
}

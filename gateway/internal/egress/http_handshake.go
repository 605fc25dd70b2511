package egress

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/analyze/weight"
	"diagnostics/gateway/internal/egress/budget/processor"
	"diagnostics/gateway/internal/egress/budget/traffic"
	"diagnostics/gateway/internal/egress/tlswire"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"
)

// protoHTTP2 is what ALPN calls HTTP/2.
const protoHTTP2 = "h2"

// handshake makes that of TLS for https with verification off: what is wrong with a certificate is reported, not the
// end of the round trip, unless the request says so. It gives a *frameConn where the server speaks HTTP/2.
func (rt *roundTrip) handshake(raw net.Conn) (net.Conn, error) {
	rt.setPhase(phaseTLS)
	won, err := rt.shake(raw)
	if err != nil {
		return nil, rt.fault(err)
	}
	rt.clock.shook(won.took, won.waited)
	state := won.client.ConnectionState()
	if err := rt.judge(state); err != nil {
		return nil, err
	}
	over := countedConn{won.wire.Above(won.client), rt.cost}
	if state.NegotiatedProtocol != protoHTTP2 {
		return over, nil
	}
	rt.setPhase(phaseAnswer)
	return &frameConn{Conn: over, cost: rt.cost, stream: 1}, nil
}

// shaken is a handshake that is complete. waited is how long the round trip was at another one before it.
type shaken struct {
	wire         *tlswire.Conn
	client       *tls.Conn
	took, waited time.Duration
}

// shake makes a handshake over a connection, and where the server does not answer the hello a second one, with a short
// hello, over another connection to the same address.
func (rt *roundTrip) shake(raw net.Conn) (shaken, error) {
	began := time.Now()
	to := netip.AddrPortFrom(rt.dialled(), rt.request.URL.Port())
	if rt.intolerant(to) {
		return rt.sayHello(rt.ctx, raw, tlswire.NewHello(true), began)
	}
	var taken atomic.Bool
	outcome := tlswire.Either(rt.ctx, true, func(ctx context.Context, hello *tlswire.Hello) (shaken, error) {
		if !taken.Swap(true) {
			return rt.sayHello(ctx, raw, hello, began)
		}
		again, err := rt.connectTo(ctx, to)
		if err != nil {
			return shaken{}, err
		}
		return rt.sayHello(ctx, again, hello, began)
	})
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.hello = &outcome
	return outcome.Value, outcome.Err
}

func (rt *roundTrip) sayHello(ctx context.Context, raw net.Conn, hello *tlswire.Hello, began time.Time) (shaken,
	error) {
	start := time.Now()
	s := shaken{wire: tlswire.Watch(raw), waited: start.Sub(began)}
	s.client = tls.Client(s.wire, hello.Config(tlsConfig(rt.request.URL.Host().Name())))
	err := hello.Handshake(ctx, s.client, s.wire)
	s.took = time.Since(start)
	if full := processor.Of(ctx).SpendTime(weight.Shown(s.client.ConnectionState().PeerCertificates)); full != nil {
		err = full
	}
	if err != nil {
		_ = raw.Close()
	}
	return s, err
}

// connectTo dials the address of a connection once more.
func (rt *roundTrip) connectTo(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	plan := rt.plan
	plan.addresses = []netip.Addr{to.Addr()}
	won, err := race(ctx, plan, to.Port())
	if err != nil {
		return nil, err
	}
	if err := rt.track(won.conn); err != nil {
		return nil, err
	}
	if plan.admit != nil {
		traffic.Hold(won.conn)
	}
	return won.conn, nil
}

func (rt *roundTrip) dialled() netip.Addr {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return rt.address
}

// intolerant reports whether the server is known to answer short hellos alone: by an earlier hop, or an earlier
// connection of the round trip.
func (rt *roundTrip) intolerant(to netip.AddrPort) bool {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return rt.chain.intolerant(to) || rt.hello != nil && rt.hello.Short
}

// helloTooLong reports whether the server that answered does not answer a hello as long as that of a current browser.
// If that is not known yet it waits for the first handshake, at most to the end of the round trip. An answer that this
// process had no time to notice is none that is missing.
func (rt *roundTrip) helloTooLong() bool {
	rt.mu.Lock()
	hello := rt.hello
	known := rt.chain.intolerant(netip.AddrPortFrom(rt.address, rt.request.URL.Port()))
	rt.mu.Unlock()
	if hello == nil {
		return known && rt.request.URL.Scheme() == "https"
	}
	return hello.TooLong(rt.ctx) && !rt.client.Starved(rt.clock.began)
}

func (rt *roundTrip) judge(state tls.ConnectionState) error {
	exchange := certs.ExchangeOf(tls.CipherSuiteName(state.CipherSuite))
	verdict := rt.client.checker.CheckIn(rt.ctx, state.PeerCertificates, rt.request.URL.Host().String(), exchange)
	rt.mu.Lock()
	rt.tls = &TLS{State: state, Verdict: verdict}
	rt.mu.Unlock()
	if rt.request.RequireValidCertificate && !verdict.Authorized {
		cause := &CertificateError{Code: verdict.Code, NotVerified: verdict.NotVerified()}
		return certificateFault(cause, verdict, rt.host())
	}
	return nil
}

// certificateFault is the failure of a certificate that is not known to be valid.
func certificateFault(cause error, verdict certs.Verdict, host string) error {
	code, defect := "CERTIFICATE_INVALID", verdict.Refusal()
	if verdict.NotVerified() {
		code, defect = "CERTIFICATE_NOT_VERIFIED", verdict.Defects[0]
	}
	return fault.Wrap(fault.Upstream, cause, code, finding.Args{"host": host, "defect": defect})
}

// CertificateError is the cause of a failure where a request required a valid certificate and the server has none.
type CertificateError struct {
	// Code is that of the verdict of package certs.
	Code string
	// NotVerified means that this service did not verify the certificate and found no fault with it.
	NotVerified bool
}

func (e *CertificateError) Error() string { return "certificate not authorized: " + e.Code }

// tlsConfig offers everything that Go can speak, since old servers are looked at too. An address literal has no name to
// send.
func tlsConfig(serverName string) *tls.Config {
	return &tls.Config{
		ServerName:         serverName,
		InsecureSkipVerify: true, // #nosec G402 -- judged apart by package certs
		MinVersion:         tls.VersionTLS10,
		CipherSuites:       everySuite(),
		NextProtos:         []string{protoHTTP2, "http/1.1"},
	}
}

var everySuite = sync.OnceValue(func() (ids []uint16) {
	for _, suite := range slices.Concat(tls.CipherSuites(), tls.InsecureCipherSuites()) {
		ids = append(ids, suite.ID)
	}
	return ids
})

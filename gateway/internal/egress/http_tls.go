package egress

import (
	"crypto/tls"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/egress/tlswire"
	"diagnostics/gateway/internal/fault"
)

// protoHTTP2 is what ALPN calls HTTP/2.
const protoHTTP2 = "h2"

// handshake makes that of TLS for https with verification off: what is wrong with a certificate is told, not the end of
// the round trip, unless the request says so. It gives a *frameConn where the server speaks HTTP/2.
func (rt *roundTrip) handshake(raw net.Conn) (net.Conn, error) {
	rt.setPhase(phaseTLS)
	began := time.Now()
	wire := tlswire.Watch(raw)
	conn := tls.Client(wire, tlsConfig(rt.request.URL.Host().Name()))
	if err := conn.HandshakeContext(rt.ctx); err != nil {
		return nil, rt.fault(err)
	}
	rt.clock.shook(time.Since(began))
	if err := rt.judge(conn.ConnectionState()); err != nil {
		return nil, err
	}
	over := countedConn{wire.Above(conn), rt.cost}
	if conn.ConnectionState().NegotiatedProtocol != protoHTTP2 {
		return over, nil
	}
	rt.setPhase(phaseAnswer)
	return &frameConn{Conn: over, cost: rt.cost, stream: 1}, nil
}

func (rt *roundTrip) judge(state tls.ConnectionState) error {
	exchange := certs.ExchangeOf(tls.CipherSuiteName(state.CipherSuite))
	verdict := rt.client.checker.CheckIn(rt.ctx, state.PeerCertificates, rt.request.URL.Host().String(), exchange)
	rt.mu.Lock()
	rt.tls = &TLS{State: state, Verdict: verdict}
	rt.mu.Unlock()
	if rt.request.RequireValidCertificate && !verdict.Authorized {
		sentence := fmt.Sprintf("The certificate of %s is not valid: %s.", rt.host(), certs.Clause(verdict.Code))
		return fault.Wrap(fault.Upstream, &CertificateError{Code: verdict.Code}, sentence)
	}
	return nil
}

// CertificateError is the cause of a failure where a request required a valid certificate and the server has none.
type CertificateError struct {
	// Code is that of the verdict of package certs.
	Code string
}

func (e *CertificateError) Error() string { return "certificate not authorized: " + e.Code }

// tlsConfig offers everything that Go can speak, since old servers are looked at too. An address literal has no name to
// send.
func tlsConfig(serverName string) *tls.Config {
	return &tls.Config{
		ServerName:         serverName,
		InsecureSkipVerify: true, // #nosec G402 -- judged apart by certs
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

package sslchecker

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"diagnostics/gateway/internal/analyze/certs/certtest"
	"diagnostics/gateway/internal/egress/tlsscan"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tools/internal/toolstest"
)

// refusing answers whatever comes with some bytes and the end of the connection.
func refusing(answer string) func(net.Conn) {
	return func(c net.Conn) {
		_, _ = c.Read(make([]byte, 1))
		_, _ = io.WriteString(c, answer)
		_ = c.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, c)
	}
}

const handshakeFailure, protocolVersion = "\x15\x03\x01\x00\x02\x02\x28", "\x15\x03\x01\x00\x02\x02\x46"

// A server that crypto/tls cannot speak to is judged by the certificates that it shows all the same.
func TestServersThatGoCannotSpeakTo(t *testing.T) {
	t.Parallel()
	const dhe = 0x009E // TLS_DHE_RSA_WITH_AES_128_GCM_SHA256
	for name, c := range map[string]struct {
		answer   string
		flight   tlsscan.Flight
		after    int32 // so many hellos
		protocol string
		exchange string
		issues   []string
	}{
		"DHE alone": {handshakeFailure, tlsscan.Flight{Version: tlsscan.TLS12, DHBits: 1024}, 1, "TLSv1.2", "DHE",
			[]string{"info HANDSHAKE_ONLY_READ", "info NO_TLS13", "fail WEAK_DH"}},
		"a named group": {"", tlsscan.Flight{Version: tlsscan.TLS12, DHBits: 2048, Group: 0x0100}, 1, "TLSv1.2",
			"ffdhe2048", []string{"info HANDSHAKE_ONLY_READ"}},
		"SSL 3.0 alone": {protocolVersion, tlsscan.Flight{Version: tlsscan.SSL30, DHBits: 2048}, 2, "SSLv3", "DHE",
			[]string{"info HANDSHAKE_ONLY_READ", "fail SSL3"}},
		"a client certificate": {handshakeFailure, tlsscan.Flight{Version: tlsscan.TLS12, DHBits: 2048,
			ClientRequested: true}, 1, "TLSv1.2", "DHE", []string{"info CLIENT_CERTIFICATE_REQUESTED"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			leaf := certtest.Leaf(t, w.inter, []string{sslName})
			w.ServeConn(sslServer, refusing(c.answer))
			check := w.checker(t)
			var hellos atomic.Int32
			check.read = func(_ context.Context, _ net.Conn, hello tlsscan.Hello) (tlsscan.Flight, error) {
				if hello.Authentication != "" || hello.ServerName == "" {
					return tlsscan.Flight{}, tlsscan.ErrNotTLS
				}
				if n := hellos.Add(1); n < c.after {
					return tlsscan.Flight{}, tlsscan.Alert{Level: 2, Description: 70}
				}
				flight := c.flight
				flight.Suite, _ = tlsscan.SuiteByID(dhe)
				flight.Certificates = leaf.TLS(w.inter).Certificate
				return flight, nil
			}
			got, err := check.run(t.Context(), toolstest.HostPort(t, sslName))
			if err != nil {
				t.Fatal(err)
			}
			if !got.Authorized || got.Protocol != c.protocol || got.KeyExchange != c.exchange ||
				got.Cipher != (cipher{"DHE-RSA-AES128-GCM-SHA256", "TLS_DHE_RSA_WITH_AES_128_GCM_SHA256", 128}) {
				t.Errorf("%+v", got)
			}
			if taken := got.SupportedProtocols[c.protocol]; taken == nil || !*taken {
				t.Errorf("%s is not reported as accepted: %v", c.protocol, got.SupportedProtocols)
			}
			for _, want := range c.issues {
				severity, code, _ := strings.Cut(want, " ")
				if !hasIssue(got, severity, code) {
					t.Errorf("no %s in %v", want, issueCodes(got))
				}
			}
		})
	}
}

// A server that shows nothing to any client is described by its first answer, without a guess at the cause.
func TestServersWithoutCertificate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer string
		flight tlsscan.Flight
		err    error
		says   string
		hellos int32
	}{
		"handshake_failure": {handshakeFailure, tlsscan.Flight{}, tlsscan.Alert{Level: 2, Description: 40},
			"refused the TLS handshake on port 443: it gave no reason (handshake_failure).", 4},
		"protocol_version": {protocolVersion, tlsscan.Flight{}, io.EOF,
			"refused the TLS handshake on port 443: it does not accept the versions that were offered (protocol_version).", 4},
		"closes": {"", tlsscan.Flight{}, io.EOF, "closed the connection on port 443 instead of starting a TLS handshake.", 4},
		"unrecognized_name": {"\x15\x03\x03\x00\x02\x02\x70", tlsscan.Flight{}, errors.New("not asked"),
			"it does not know this host name (unrecognized_name).", 0},
		"no TLS": {"SSH-2.0-OpenSSH_9.9\r\n", tlsscan.Flight{}, errors.New("not asked"), "does not use TLS", 0},
		"anonymous": {handshakeFailure, tlsscan.Flight{Version: tlsscan.TLS12, Suite: tlsscan.Suite{Name: "ADH"}}, nil,
			"chose ADH on port 443, with which a server shows no certificate.", 1},
		"no certificate at all": {handshakeFailure,
			tlsscan.Flight{Version: tlsscan.TLS12, Certificates: [][]byte{{1, 2, 3}}}, nil, "(handshake_failure).", 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.ServeConn(sslServer, refusing(c.answer))
			check := w.checker(t)
			var hellos atomic.Int32
			check.read = func(context.Context, net.Conn, tlsscan.Hello) (tlsscan.Flight, error) {
				hellos.Add(1)
				return c.flight, c.err
			}
			_, err := check.run(t.Context(), toolstest.HostPort(t, sslName))
			var failed *fault.Error
			if !errors.As(err, &failed) || failed.Kind != fault.Upstream || !strings.Contains(failed.Sentence(), c.says) ||
				strings.Contains(failed.Sentence(), "in common") {
				t.Errorf("%v", err)
			}
			if hellos.Load() != c.hellos {
				t.Errorf("%d handshakes were read, want %d", hellos.Load(), c.hellos)
			}
		})
	}
}

// What crypto/tls can speak to is not tried a second time, but for its other certificates.
func TestNothingIsReadWithoutNeed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.serve(sslServer, oneCertificate(certtest.Leaf(t, w.inter, []string{"93.184.216.34"}).TLS(w.inter)))
	check := w.checker(t)
	check.read = func(_ context.Context, _ net.Conn, hello tlsscan.Hello) (tlsscan.Flight, error) {
		if hello.Authentication != "RSA" {
			t.Errorf("asked for %+v", hello)
		}
		return tlsscan.Flight{}, io.EOF
	}
	if got, err := check.run(t.Context(), toolstest.HostPort(t, "93.184.216.34")); err != nil || !got.Authorized {
		t.Errorf("%v, %+v", err, got.AuthorizationError)
	}
}

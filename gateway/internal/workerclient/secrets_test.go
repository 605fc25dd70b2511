package workerclient

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"diagnostics/shared/logtest"
)

// connTo is a connection that says that it leads somewhere.
type connTo struct {
	net.Conn
	to string
}

func (c connTo) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(c.to)) }

// Clear text is told of once, and where it leads is not.
func TestClearTextIsToldOnce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		base, to string
		lines    int
	}{
		{"http://worker", "127.0.0.1:8081", 0}, {"http://worker", "10.0.0.1:8081", 0},
		{"http://worker", "198.51.100.7:8081", 1}, {"http://worker", "[2001:db8::7]:8081", 1},
		{"https://worker", "198.51.100.7:8081", 0},
	} {
		var told logtest.Journal
		base, err := parseBase(tt.base)
		if err != nil {
			t.Fatal(err)
		}
		c := &Client{base: base, log: slog.New(slog.NewTextHandler(&told, nil))}
		for range 3 {
			c.warnOfClearText(connTo{to: tt.to})
		}
		text := told.String()
		if strings.Count(text, "in clear text") != tt.lines || strings.Count(text, "WORKER_TLS_CERT_FILE") != tt.lines ||
			strings.Contains(text, "198.51") || strings.Contains(text, "2001:") {
			t.Errorf("%s at %s: %s", tt.base, tt.to, text)
		}
	}
}

// Token, roots and client certificate hold from the next request on.
func TestSecretsAreReplaced(t *testing.T) {
	t.Parallel()
	tokens := make(chan string, 10)
	ping := jsonAnswer(http.StatusOK, goodPing)
	s := httptest.NewTLSServer(readyAnd(func(w http.ResponseWriter, r *http.Request) {
		tokens <- r.Header.Get("Authorization")
		ping(w, r)
	}))
	t.Cleanup(s.Close)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	c, _ := logging(t, s.URL, quick(), WithTLS(&tls.Config{RootCAs: roots}))
	for _, want := range []string{token, "another"} {
		if err := c.SetToken(want); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Ping(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		if got := <-tokens; got != "Bearer "+want {
			t.Errorf("sent %q", got)
		}
	}
	if err := c.SetToken("a b"); err == nil {
		t.Error("a token with a space is taken")
	}
	c.SetTLS(&tls.Config{RootCAs: x509.NewCertPool()})
	if _, err := c.Ping(t.Context(), job); sentence(err) != sentenceUnreachable {
		t.Errorf("without roots: %v", err)
	}
}

// In TLS 1.3 the worker refuses a certificate once this side has ended its handshake: that is no connection either.
func TestARefusedClientCertificate(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(readyAnd(jsonAnswer(http.StatusOK, goodPing)))
	s.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS13}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	c, journal := logging(t, s.URL, quick(), WithTLS(&tls.Config{RootCAs: roots}))
	if _, err := c.Ping(t.Context(), job); sentence(err) != sentenceUnreachable {
		t.Error(err)
	}
	journal.holds(t, 1, 0)
	// Which part of net/http hears of it first is chance.
	for _, part := range []string{"connect to the worker: ", "remote error: tls: certificate required"} {
		if !strings.Contains(journal.String(), part) {
			t.Error(journal)
		}
	}
}

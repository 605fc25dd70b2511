package daemon

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"diagnostics/daemon/settings"
)

func TestLocalAddr(t *testing.T) {
	t.Parallel()
	for listen, want := range map[settings.ListenAddr]string{
		"127.0.0.1:8081": "127.0.0.1:8081", ":80": "127.0.0.1:80", "0.0.0.0:80": "127.0.0.1:80",
		"[::]:80": "[::1]:80", "[::1]:8081": "[::1]:8081", "localhost:8081": "localhost:8081",
		"192.0.2.1:80": "192.0.2.1:80", "[2001:db8::1]:80": "[2001:db8::1]:80",
	} {
		if got := localAddr(listen); got != want {
			t.Errorf("%s: %s, want %s", listen, got, want)
		}
	}
}

func TestCheckHealth(t *testing.T) {
	t.Parallel()
	var status atomic.Int32 // the server answers in goroutines of its own
	status.Store(http.StatusOK)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/healthz" {
			t.Errorf("asks %s", r.URL.Path)
		}
		w.WriteHeader(int(status.Load()))
	}))
	defer s.Close()
	addr := settings.ListenAddr(s.Listener.Addr().String())
	_, port, _ := net.SplitHostPort(string(addr))
	for _, host := range []string{"127.0.0.1", "0.0.0.0", ""} {
		if _, err := CheckHealth(t.Context(), settings.ListenAddr(host+":"+port), "/healthz", false); err != nil {
			t.Errorf("%q: %v", host, err)
		}
	}
	status.Store(http.StatusServiceUnavailable)
	_, err := CheckHealth(t.Context(), addr, "/healthz", false)
	if err == nil || err.Error() != "not healthy: /healthz answers 503" {
		t.Errorf("not healthy: %v", err)
	}
	s.Close()
	_, err = CheckHealth(t.Context(), addr, "/healthz", false)
	if err == nil || !strings.HasPrefix(err.Error(), "not healthy: ") {
		t.Errorf("gone: %v", err)
	}
}

// The certificate of a test server is self-signed: the check requires TLS, not a trusted certificate.
func TestCheckHealthOverTLS(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	addr := settings.ListenAddr(s.Listener.Addr().String())
	if _, err := CheckHealth(t.Context(), addr, "/healthz", true); err != nil {
		t.Error(err)
	}
	if _, err := CheckHealth(t.Context(), addr, "/healthz", false); err == nil {
		t.Error("clear text is well too")
	}
}

package daemon

import (
	"net"
	"strings"
	"testing"

	"diagnostics/daemon/settings"
)

func TestListen(t *testing.T) {
	t.Parallel()
	l, err := Listen(t.Context(), "SAMPLE_ADDR", "127.0.0.1:0", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	for _, addr := range []string{l.Public(), l.Metrics()} {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
	}
	l.Close()
	for _, addr := range []string{l.Public(), l.Metrics()} {
		if conn, err := net.Dial("tcp", addr); err == nil {
			conn.Close()
			t.Errorf("%s is still open", addr)
		}
	}
	if l, err = Listen(t.Context(), "SAMPLE_ADDR", "127.0.0.1:0", ""); err != nil || l.Metrics() != "off" {
		t.Fatalf("%+v, %v", l, err)
	}
	l.Close()
}

func TestAnErrorOfListenNamesTheSetting(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	const free, foreign = "127.0.0.1:0", "192.0.2.1:0"
	used := settings.ListenAddr(taken.Addr().String())
	for _, tt := range []struct {
		public, metrics settings.ListenAddr
		line            string
	}{
		{used, free, string(used) + " is already in use: stop what listens there, or choose another address by SAMPLE_ADDR"},
		{free, used, string(used) + " is already in use: stop what listens there, or choose another address by METRICS_LISTEN_ADDR"},
		{foreign, free, "cannot listen on 192.0.2.1:0, which SAMPLE_ADDR sets: "},
		{free, foreign, "cannot listen on 192.0.2.1:0, which METRICS_LISTEN_ADDR sets: "},
	} {
		_, err := Listen(t.Context(), "SAMPLE_ADDR", tt.public, tt.metrics)
		if err == nil || !strings.HasPrefix(err.Error(), tt.line) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s and %s: %v", tt.public, tt.metrics, err)
		}
	}
}

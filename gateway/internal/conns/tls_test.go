package conns

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// What is read of a connection with TLS is that of requests, one after the other, as without TLS.
func TestKeptConnectionsWithTLS(t *testing.T) {
	t.Parallel()
	table := New(Limits{Unfinished: 16 << 10, Shared: func(netip.Addr) bool { return true }, Stall: time.Second})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	borrowed := httptest.NewUnstartedServer(nil) // for its certificate
	borrowed.StartTLS()
	defer borrowed.Close()
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if Of(r.Context()) == nil {
			t.Error("the request has no connection of the table")
		}
		_, _ = io.Copy(io.Discard, r.Body)
	})}
	table.Attach(server)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(tls.NewListener(table.Listener(l), borrowed.TLS))
	}()
	defer func() {
		_ = server.Close()
		<-done
	}()
	client := borrowed.Client()
	defer client.CloseIdleConnections()
	for range 20 {
		resp, err := client.Post("https://"+l.Addr().String(), "text/plain", strings.NewReader(strings.Repeat("x", 4<<10)))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
	if c := table.Counts(); c.Open != 1 || c.EvictedUnfinished != 0 {
		t.Errorf("%+v", c)
	}
}

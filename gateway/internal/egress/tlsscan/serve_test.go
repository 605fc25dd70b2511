package tlsscan

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"diagnostics/gateway/internal/analyze/certs/certtest"
)

// far is a server on loopback, and how many connections came to it.
type far struct {
	address string
	came    atomic.Int32
}

// dial opens a connection to it.
func (f *far) dial(ctx context.Context) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp4", f.address)
}

// connect is dial for a test's own connection.
func (f *far) connect(t *testing.T) net.Conn {
	t.Helper()
	conn, err := f.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// serve answers every connection with a function, which is given the number of the connection, and closes it.
func serve(t *testing.T, answer func(number int32, conn net.Conn)) *far {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &far{address: l.Addr().String()}
	var running sync.WaitGroup
	var mu sync.Mutex
	open := map[net.Conn]bool{}
	running.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open[conn] = true
			mu.Unlock()
			number := f.came.Add(1)
			running.Go(func() {
				answer(number, conn)
				conn.Close()
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for conn := range open {
			conn.Close()
		}
		mu.Unlock()
		running.Wait()
	})
	return f
}

// serveTLS is a server of crypto/tls.
func serveTLS(t *testing.T, config *tls.Config) *far {
	t.Helper()
	return serve(t, func(_ int32, conn net.Conn) { _ = tls.Server(conn, config).Handshake() })
}

// certificate is one for example.com, with what signed it.
func certificate(t *testing.T) tls.Certificate {
	t.Helper()
	root := certtest.Root(t, "Root")
	inter := certtest.Intermediate(t, root, "Intermediate")
	return certtest.Leaf(t, inter, []string{"example.com"}).TLS(inter, root)
}

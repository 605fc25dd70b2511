package egress_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"diagnostics/gateway/internal/analyze/certs/certtest"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/shortage"
	"diagnostics/gateway/internal/fault"
)

// prefixed is a connection of which something was read already.
type prefixed struct {
	net.Conn
	from io.Reader
}

func (p prefixed) Read(b []byte) (int, error) { return p.from.Read(b) }

// shortHellos serves HTTP over TLS to hellos that fit into one segment; refuse does away with others, whose number it
// is given.
func shortHellos(t *testing.T, protocol string, handler http.Handler, refuse func(n int32, c net.Conn) (serve bool)) (
	serve func(net.Conn), refused *atomic.Int32,
) {
	t.Helper()
	config := &tls.Config{NextProtos: []string{protocol},
		Certificates: []tls.Certificate{certtest.Leaf(t, certtest.Root(t, "root"), []string{"example.com"}).TLS()}}
	refused = new(atomic.Int32)
	return func(c net.Conn) {
		header := make([]byte, 5)
		if _, err := io.ReadFull(c, header); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint16(header[3:]))
		if _, err := io.ReadFull(c, body); err != nil {
			return
		}
		if len(body) > 1460 && !refuse(refused.Add(1), c) {
			return
		}
		server := tls.Server(prefixed{c, io.MultiReader(bytes.NewReader(append(header, body...)), c)}, config)
		if server.Handshake() != nil {
			return
		}
		request, err := http.ReadRequest(bufio.NewReader(server))
		if err != nil {
			return
		}
		answer := &writer{header: http.Header{"Content-Length": {"0"}}}
		handler.ServeHTTP(answer, request)
		response := http.Response{StatusCode: max(answer.status, 200), ProtoMajor: 1, ProtoMinor: 1, Header: answer.header}
		_ = response.Write(server)
		_ = server.Close()
	}, refused
}

// writer keeps the head of an answer.
type writer struct {
	header http.Header
	status int
}

func (w *writer) Header() http.Header         { return w.header }
func (w *writer) Write(p []byte) (int, error) { return len(p), nil }
func (w *writer) WriteHeader(status int)      { w.status = status }

// A server that does not answer a long hello is asked with a short one, beside the long one where it is silent.
func TestHelloTooLong(t *testing.T) {
	t.Parallel()
	end := func(int32, net.Conn) bool { return false }
	silence := func(_ int32, c net.Conn) bool { _, _ = io.Copy(io.Discard, c); return false }
	for name, c := range map[string]struct {
		refuse  func(int32, net.Conn) bool
		want    bool
		refused int32
		delay   shortage.Delay
	}{
		"a reset": {func(_ int32, c net.Conn) bool { _ = c.(*net.TCPConn).SetLinger(0); return false }, true, 2, nil},
		"an end":  {end, true, 2, nil},
		"an alert": {func(_ int32, c net.Conn) bool {
			_, _ = io.WriteString(c, "\x15\x03\x01\x00\x02\x02\x32")
			return false
		}, true, 2, nil},
		"an end by chance": {func(n int32, _ net.Conn) bool { return n > 1 }, false, 2, nil},
		"silence":          {silence, true, 1, nil},
		"silence of a process without processor time": {silence, false, 1,
			func(since time.Time) time.Duration { return time.Since(since) / 2 }},
		"a slow answer": {func(_ int32, c net.Conn) bool {
			_ = c.SetReadDeadline(time.Now().Add(3 * time.Second)) // the client sends nothing until then
			_, _ = c.Read(make([]byte, 1))
			_ = c.SetReadDeadline(time.Time{})
			return true
		}, false, 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := withSite(t)
			serve, refused := shortHellos(t, "http/1.1", http.NotFoundHandler(), c.refuse)
			n.ServeConn(web4+":443", serve)
			r, err := get(t, n.Client(func(s *egress.Settings) { s.Delay = c.delay }), "https://example.com/")
			if err != nil {
				t.Fatal(err)
			}
			if r.HelloTooLong != c.want || r.Status != http.StatusNotFound || r.TLS == nil || !r.Timings.HasTLS {
				t.Errorf("too long %t, %d", r.HelloTooLong, r.Status)
			}
			if name != "a slow answer" && r.Timings.Total >= 2*time.Second {
				t.Errorf("the time includes that of the hello without an answer: %v", r.Timings)
			}
			if refused.Load() != c.refused {
				t.Errorf("%d long hellos", refused.Load())
			}
		})
	}
}

// The hops of a chain share what is known of a server, and a server that answers neither fails as before.
func TestHelloTooLongInAChain(t *testing.T) {
	t.Parallel()
	n := withSite(t)
	serve, refused := shortHellos(t, "http/1.1", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/3" {
			http.Redirect(w, r, map[string]string{"/1": "/2", "/2": "/3"}[r.URL.Path], http.StatusFound)
		}
	}), func(int32, net.Conn) bool { return false })
	n.ServeConn(web4+":443", serve)
	chain := n.Client(nil).Follow(t.Context(), egress.Request{URL: parseURL(t, "https://example.com/1")}, 5)
	for i, hop := range chain.Hops {
		if hop.Response == nil || !hop.Response.HelloTooLong {
			t.Errorf("hop %d: %v", i, hop.Err)
		}
	}
	if len(chain.Hops) != 3 || refused.Load() != 2 {
		t.Errorf("%d hops, %d long hellos", len(chain.Hops), refused.Load())
	}

	n = withSite(t)
	var came atomic.Int32
	n.ServeConn(web4+":443", func(c net.Conn) { came.Add(1); _, _ = c.Read(make([]byte, 1)) })
	_, err := get(t, n.Client(nil), "https://example.com/")
	if s := wantFault(t, err, fault.Upstream); s != "example.com closed the connection during the TLS handshake." ||
		came.Load() != 2 {
		t.Errorf("%q after %d connections", s, came.Load())
	}
}

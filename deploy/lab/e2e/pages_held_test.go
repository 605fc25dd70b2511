//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"diagnostics/lab"
)

// heldBack is a way to a gateway that keeps the last line of the first stream back, as a slow network may, until it is
// released: so a run can be looked at in its middle, however fast it is.
type heldBack struct {
	origin string
	// last is closed when a last line is there.
	last    chan struct{}
	release func()
}

func holdBack(t *testing.T, to *lab.Server) *heldBack {
	t.Helper()
	gate := make(chan struct{})
	h := &heldBack{last: make(chan struct{}), release: sync.OnceFunc(func() { close(gate) })}
	reached := sync.OnceFunc(func() { close(h.last) })
	transport := &http.Transport{DialContext: internet.Dial, DisableCompression: true}
	proxy := &httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: to.Addr})
			r.Out.Host = r.In.Host
			r.Out.Header.Del("Accept-Encoding")
		},
		ModifyResponse: func(resp *http.Response) error {
			if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/x-ndjson") {
				resp.Body = &heldBody{body: resp.Body, lines: bufio.NewReaderSize(resp.Body, 2<<20), reached: reached, gate: gate}
			}
			return nil
		},
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(func() {
		h.release()
		server.CloseClientConnections()
		server.Close()
		transport.CloseIdleConnections()
	})
	h.origin = server.URL
	return h
}

// heldBody gives the lines of a stream, the last one when the gate is open.
type heldBody struct {
	body    io.Closer
	lines   *bufio.Reader
	reached func()
	gate    <-chan struct{}
	rest    []byte
}

func (b *heldBody) Read(p []byte) (int, error) {
	if len(b.rest) == 0 {
		line, err := b.lines.ReadBytes('\n')
		if len(line) == 0 {
			return 0, err
		}
		if !bytes.HasPrefix(line, []byte(`{"step":`)) {
			b.reached()
			<-b.gate
		}
		b.rest = line
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

func (b *heldBody) Close() error { return b.body.Close() }

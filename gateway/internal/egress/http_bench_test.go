package egress_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"runtime"
	"sync"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/budget/traffic"
)

// answering serves one short page a connection, and costs little itself.
func answering(c net.Conn) {
	buffer := make([]byte, 2<<10)
	if _, err := c.Read(buffer); err == nil {
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nServer: x\r\nContent-Length: 2\r\n\r\nok")
	}
}

func BenchmarkRoundTrip(b *testing.B) {
	config, trust := site(b)
	for _, test := range []struct{ name, url, proto string }{
		{"http", "http://example.com/", ""},
		{"https", "https://example.com/", "http/1.1"},
		{"h2", "https://example.com/", "h2"},
	} {
		b.Run(test.name, func(b *testing.B) {
			n := withSite(b)
			config := config.Clone()
			config.NextProtos = []string{test.proto}
			n.ServeConn(web4+":80", answering)
			if test.proto == "h2" {
				n.ServeTLS(web4+":443", config, http.NotFoundHandler())
			} else {
				n.ServeConn(web4+":443", func(c net.Conn) {
					secure := tls.Server(c, config)
					answering(secure)
					_ = secure.Close()
				})
			}
			client := n.Client(nil, trust)
			url := parseURL(b, test.url)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := client.Do(traffic.WithMeter(b.Context(), new(traffic.Totals)), egress.Request{URL: url}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSilent measures what a round trip holds while its server is silent.
func BenchmarkSilent(b *testing.B) {
	config, trust := site(b)
	config.NextProtos = []string{"http/1.1"}
	for _, text := range []string{"http://example.com/", "https://example.com/"} {
		b.Run(text, func(b *testing.B) {
			url := parseURL(b, text)
			const many = 500
			n := withSite(b)
			var asked sync.WaitGroup
			n.ServeConn(web4+":80", func(c net.Conn) {
				_, _ = http.ReadRequest(bufio.NewReader(c))
				asked.Done()
				_, _ = c.Read(make([]byte, 1))
			})
			n.ServeConn(web4+":443", func(c net.Conn) {
				secure := tls.Server(c, config)
				_, _ = http.ReadRequest(bufio.NewReader(secure))
				asked.Done()
				_, _ = c.Read(make([]byte, 1))
			})
			bound := time.Minute
			client := n.Client(nil, trust, egress.WithBounds(bound, bound, bound))
			for b.Loop() {
				ctx, cancel := context.WithCancel(b.Context())
				before, goroutines := held()
				asked.Add(many)
				var all sync.WaitGroup
				for range many {
					all.Go(func() { _, _ = client.Do(ctx, egress.Request{URL: url}) })
				}
				asked.Wait()
				after, more := held()
				b.ReportMetric(float64(after-before)/many, "bytes/roundtrip")
				b.ReportMetric(float64(more-goroutines)/many, "goroutines/roundtrip")
				cancel()
				all.Wait()
			}
		})
	}
}

// held is the memory in use and the goroutines that there are.
func held() (uint64, int) {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse, runtime.NumGoroutine()
}

package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"strconv"
	"sync/atomic"
	"testing"

	"diagnostics/gateway/internal/config"

	"github.com/labstack/echo/v4"
	"github.com/miekg/dns"
)

// BenchmarkAnswers is what answers cost that need nobody, or only a name server beside, over connections that stay open
// and with all that a visitor's request goes through; and an answer of the bare framework beside them.
func BenchmarkAnswers(b *testing.B) {
	gateway := startForBench(b)
	for _, bench := range []struct {
		name, addr, slug string
		input            func(n int64) string
	}{
		{"echo", startEcho(b), "my-ip", func(int64) string { return "" }},
		{"my-ip", gateway, "my-ip", func(int64) string { return "" }},
		{"dns-cached", gateway, "dns-lookup", func(int64) string { return "kept.bench-site.com" }},
		{"dns-fresh", gateway, "dns-lookup", func(n int64) string { return fmt.Sprintf("n%d.bench-site.com", n) }},
	} {
		b.Run(bench.name, func(b *testing.B) {
			var sent atomic.Int64
			b.SetParallelism(8)
			b.RunParallel(func(pb *testing.PB) {
				conn, err := net.Dial("tcp", bench.addr)
				if err != nil {
					b.Error(err)
					return
				}
				defer conn.Close()
				answers := bufio.NewReader(conn)
				for pb.Next() {
					n := sent.Add(1)
					if err := post(conn, answers, bench.slug, bench.input(n), n); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

// post asks for a tool as one of 200 visitors.
func post(conn io.Writer, answers *bufio.Reader, slug, input string, n int64) error {
	body := `{"input":"` + input + `"}`
	if _, err := fmt.Fprintf(conn, "POST /api/tools/%s HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n"+
		"X-Real-Ip: 93.184.216.%d\r\nContent-Length: %d\r\n\r\n%s", slug, 1+n%200, len(body), body); err != nil {
		return err
	}
	header := textproto.NewReader(answers)
	status, err := header.ReadLine()
	if err != nil {
		return err
	}
	fields, err := header.ReadMIMEHeader()
	if err != nil {
		return err
	}
	length, err := strconv.Atoi(fields.Get("Content-Length"))
	if err != nil {
		return err
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(answers, text); err != nil {
		return err
	}
	if status != "HTTP/1.1 200 OK" {
		return fmt.Errorf("%s: %s", status, text)
	}
	return nil
}

// startForBench runs the gateway with its log, its audit log and limits that refuse nobody.
func startForBench(b *testing.B) (addr string) {
	b.Helper()
	c, err := config.Parse([]string{
		"TRUST_PROXY_HEADERS=true", "CLIENT_ADDRESS_HEADER=x-real-ip", "TRUSTED_PROXY_CIDRS=127.0.0.0/8",
		"DNS_RESOLVERS=" + startNameServer(b), "RATE_LIMIT_REQUESTS=1000000", "RATE_LIMIT_CLIENT_REQUESTS=10000000",
		"RATE_LIMIT_TARGET_REQUESTS=10000000", "AUDIT_LOG_FILE=" + b.TempDir() + "/audit.log",
		"RDAP_BOOTSTRAP_URL=off",
	})
	if err != nil {
		b.Fatal(err)
	}
	log := c.OpenLog(io.Discard)
	s, err := wire(c, log.Logger)
	if err != nil {
		b.Fatal(err)
	}
	l := listenForBench(b)
	server := s.edge.HTTPServer()
	go server.Serve(s.edge.Listener(l))
	b.Cleanup(func() {
		server.Close()
		s.close()
		log.Close()
	})
	return l.Addr().String()
}

// startEcho answers with the bytes of an answer of my-ip.
func startEcho(b *testing.B) (addr string) {
	b.Helper()
	e := echo.New()
	e.POST("/api/tools/my-ip", func(c echo.Context) error {
		return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, make([]byte, 160))
	})
	server := &http.Server{Handler: e}
	l := listenForBench(b)
	go server.Serve(l)
	b.Cleanup(func() { server.Close() })
	return l.Addr().String()
}

// startNameServer knows every name.
func startNameServer(b *testing.B) (addr string) {
	b.Helper()
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := &dns.Server{PacketConn: packets, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		m := new(dns.Msg).SetReply(q)
		if rdata, ok := benchRecords[q.Question[0].Qtype]; ok {
			rr, err := dns.NewRR(q.Question[0].Name + " 300 IN " + rdata)
			if err != nil {
				panic(err)
			}
			m.Answer = append(m.Answer, rr)
		}
		_ = w.WriteMsg(m)
	})}
	go server.ActivateAndServe()
	b.Cleanup(func() { server.Shutdown() })
	return packets.LocalAddr().String()
}

var benchRecords = map[uint16]string{
	dns.TypeA: "A 93.184.216.34", dns.TypeAAAA: "AAAA 2606:2800:220:1::1", dns.TypeMX: "MX 10 mx.bench-site.com.",
	dns.TypeTXT: `TXT "v=spf1 -all"`, dns.TypeNS: "NS ns.bench-site.com.",
	dns.TypeSOA: "SOA ns.bench-site.com. root.bench-site.com. 1 2 3 4 300",
}

func listenForBench(b *testing.B) net.Listener {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	return l
}

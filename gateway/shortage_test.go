package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/shortage"
)

// lack is something that this host lacks: what becomes of a connection, and how long this process waits for the
// processor.
type lack struct {
	name  string
	dial  func(conn net.Conn, err error) (net.Conn, error)
	delay shortage.Delay
}

var lacks = []lack{
	{"files", func(conn net.Conn, _ error) (net.Conn, error) {
		closeIfAny(conn)
		return nil, &net.OpError{Op: "dial", Err: os.NewSyscallError("socket", syscall.EMFILE)}
	}, nil},
	{"time to connect", func(conn net.Conn, _ error) (net.Conn, error) {
		closeIfAny(conn)
		return nil, &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}
	}, never},
	{"time to read", func(conn net.Conn, err error) (net.Conn, error) {
		if err != nil {
			return nil, err
		}
		return unread{conn}, nil
	}, never},
}

func closeIfAny(conn net.Conn) {
	if conn != nil {
		_ = conn.Close()
	}
}

// never is the delay of a process that did not get the processor at all.
func never(since time.Time) time.Duration { return time.Since(since) }

// unread is a connection whose answers come too late for its reader.
type unread struct{ net.Conn }

func (unread) Read([]byte) (int, error) {
	return 0, &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}
}

// short is a socket layer that lacks something for some of its dials, counted from 0.
func (l lack) short(dial egress.DialFunc, of func(n int64, to netip.AddrPort) bool) (egress.DialFunc, *atomic.Int64) {
	var dials atomic.Int64
	return func(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
		short := of(dials.Add(1)-1, to)
		conn, err := dial(ctx, network, to)
		if short {
			return l.dial(conn, err)
		}
		return conn, err
	}, &dials
}

// blameless is what must hold of an answer of status 200 of a tool, whatever this host lacked meanwhile.
type blameless struct {
	slug, body string
	holds      func(data map[string]any) bool
}

func valueAt(data any, path string) any {
	for _, key := range strings.Split(path, ".") {
		object, _ := data.(map[string]any)
		data = object[key]
	}
	return data
}

func is(path string, want any) func(map[string]any) bool {
	return func(data map[string]any) bool { return valueAt(data, path) == want }
}

func lacksText(parts ...string) func(map[string]any) bool {
	return func(data map[string]any) bool {
		text, err := json.Marshal(data)
		return err == nil && !slices.ContainsFunc(parts, func(part string) bool { return bytes.Contains(text, []byte(part)) })
	}
}

func both(a, b func(map[string]any) bool) func(map[string]any) bool {
	return func(data map[string]any) bool { return a(data) && b(data) }
}

var blamelessTools = []blameless{
	{"dns-lookup", `{"input":"site.test-site.com"}`, both(is("errors.A", nil), lacksText("EBUSY", "ECONNREFUSED", "ETIMEOUT"))},
	{"http-headers", `{"input":"https://site.test-site.com/"}`, is("status", 200.0)},
	{"uptime", `{"input":"https://site.test-site.com/"}`, is("verdict", "up")},
	{"uptime", `{"input":"http://site.test-site.com/moved"}`, is("verdict", "up")},
	{"port-checker", `{"input":"site.test-site.com:443"}`, is("state", "open")},
	{"port-checker", `{"input":"site.test-site.com:9999"}`, is("state", "closed")},
	{"ssl-checker", `{"input":"site.test-site.com"}`, is("authorized", true)},
	{"redirect-checker", `{"input":"http://site.test-site.com/moved"}`, is("outcome", "final")},
	{"security-headers", `{"input":"http://site.test-site.com/moved"}`, is("status", 200.0)},
	{"robots-sitemap", `{"input":"http://site.test-site.com/"}`, both(is("robots.status", "found"), is("sitemap.status", "found"))},
	{"asn-lookup", `{"input":"93.184.216.34"}`, both(is("announced", true), lacksText("did not answer"))},
	{"ip-geolocation", `{"input":"93.184.216.34"}`, both(is("country", "US"), lacksText("failed to answer", "did not answer"))},
	{"whois-lookup", `{"input":"test-site.com"}`, is("found", true)},
	{"dns-resolver-check", `{"input":"site.test-site.com"}`, lacksText("ECONNREFUSED", "ETIMEOUT")},
	{"email-dns-health", `{"input":"post-site.com","options":{"dkimSelector":"s1"}}`, lacksText("ECONNREFUSED",
		"name servers failed", "did not answer", `"missing":1`)},
}

// Whichever of its connections this host lacks something for, and however many: a tool gives its true answer, or says
// that it is this service that cannot go on. All of it is held against the description as well.
func TestWhatThisHostLacksIsNobodysFault(t *testing.T) {
	t.Parallel()
	for _, lack := range lacks {
		for i, tool := range blamelessTools {
			t.Run(fmt.Sprintf("%s-%s-%d", lack.name, tool.slug, i), func(t *testing.T) {
				t.Parallel()
				tool.lacking(t, lack)
			})
		}
	}
}

func (b blameless) lacking(t *testing.T, lack lack) {
	t.Helper()
	all, status := b.run(t, lack, "nothing", func(int64, netip.AddrPort) bool { return false })
	if status != 200 {
		t.Fatalf("without a fault: status %d", status)
	}
	busy := 0
	try := func(what string, lacks func(int64, netip.AddrPort) bool) {
		if _, status := b.run(t, lack, what, lacks); status == 503 {
			busy++
		}
	}
	for k := range min(all, 7) {
		try(fmt.Sprintf("dial %d alone", k), func(n int64, _ netip.AddrPort) bool { return n == k })
		try(fmt.Sprintf("all from dial %d on", k), func(n int64, _ netip.AddrPort) bool { return n >= k })
	}
	try("IPv6", func(_ int64, to netip.AddrPort) bool { return to.Addr().Is6() })
	try("IPv4 but the resolvers", func(_ int64, to netip.AddrPort) bool { return to.Addr().Is4() && to.Port() != 53 })
	told := b.slug == "dns-resolver-check" || b.slug == "email-dns-health"
	if (busy == 0) != told {
		t.Errorf("503 %d times", busy)
	}
}

// run asks the tool once, and gives how many connections it tried to make.
func (b blameless) run(
	t *testing.T, lack lack, what string, of func(int64, netip.AddrPort) bool,
) (dials int64, status int) {
	t.Helper()
	n, certs := network(t)
	dial, count := lack.short(n.Dial, of)
	client := n.Client(func(s *egress.Settings) { s.Delay = lack.delay }, egress.WithChecker(certs),
		egress.WithDialer(dial))
	s := gatewayOn(t, client, certs, nil, nil)
	defer s.Close()
	status, envelope := ask(t, description(t), s, "POST", "/api/tools/"+b.slug, "/api/tools/"+b.slug, b.body)
	data, _ := envelope["data"].(map[string]any)
	sentence, _ := envelope["error"].(string)
	switch {
	case status == 200 && !b.holds(data):
		text, _ := json.Marshal(data)
		t.Errorf("without %s for %s: %.1500s", lack.name, what, text)
	case status != 200 && (status != 503 || !strings.Contains(sentence, "This service")):
		t.Errorf("without %s for %s: status %d: %s", lack.name, what, status, sentence)
	}
	return count.Load(), status
}

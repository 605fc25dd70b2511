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

	"diagnostics/gateway/internal/egress"
)

// outOfFiles is a socket layer that lacks the files for some of its dials, counted from 0.
func outOfFiles(dial egress.DialFunc, lacks func(n int64, to netip.AddrPort) bool) (egress.DialFunc, *atomic.Int64) {
	var dials atomic.Int64
	return func(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
		if lacks(dials.Add(1)-1, to) {
			return nil, &net.OpError{Op: "dial", Net: network, Err: os.NewSyscallError("socket", syscall.EMFILE)}
		}
		return dial(ctx, network, to)
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

// Whichever of its connections this host lacks the files for, and however many: a tool gives its true answer, or says
// that it is this service that cannot go on. All of it is held against the description as well.
func TestWhatThisHostLacksIsNobodysFault(t *testing.T) {
	t.Parallel()
	for i, tool := range blamelessTools {
		t.Run(fmt.Sprintf("%s-%d", tool.slug, i), func(t *testing.T) {
			t.Parallel()
			all, status := tool.run(t, "nothing", func(int64, netip.AddrPort) bool { return false })
			if status != 200 {
				t.Fatalf("without a fault: status %d", status)
			}
			busy := 0
			try := func(what string, lacks func(int64, netip.AddrPort) bool) {
				if _, status := tool.run(t, what, lacks); status == 503 {
					busy++
				}
			}
			for k := range min(all, 7) {
				try(fmt.Sprintf("dial %d alone", k), func(n int64, _ netip.AddrPort) bool { return n == k })
				try(fmt.Sprintf("all from dial %d on", k), func(n int64, _ netip.AddrPort) bool { return n >= k })
			}
			try("IPv6", func(_ int64, to netip.AddrPort) bool { return to.Addr().Is6() })
			try("IPv4 but the resolvers", func(_ int64, to netip.AddrPort) bool { return to.Addr().Is4() && to.Port() != 53 })
			told := tool.slug == "dns-resolver-check" || tool.slug == "email-dns-health"
			if (busy == 0) != told {
				t.Errorf("503 %d times", busy)
			}
		})
	}
}

// run asks the tool once, and gives how many connections it tried to make.
func (b blameless) run(t *testing.T, what string, lacks func(int64, netip.AddrPort) bool) (dials int64, status int) {
	t.Helper()
	n, certs := network(t)
	dial, count := outOfFiles(n.Dial, lacks)
	s := gatewayOn(t, n.Client(nil, egress.WithChecker(certs), egress.WithDialer(dial)), certs, nil, nil)
	defer s.Close()
	status, envelope := ask(t, description(t), s, "POST", "/api/tools/"+b.slug, "/api/tools/"+b.slug, b.body)
	data, _ := envelope["data"].(map[string]any)
	sentence, _ := envelope["error"].(string)
	switch {
	case status == 200 && !b.holds(data):
		text, _ := json.Marshal(data)
		t.Errorf("without files for %s: %.1500s", what, text)
	case status != 200 && (status != 503 || !strings.Contains(sentence, "This service")):
		t.Errorf("without files for %s: status %d: %s", what, status, sentence)
	}
	return count.Load(), status
}

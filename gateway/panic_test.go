package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/httpapi"
	"diagnostics/shared/logtest"
)

// Whichever of its connections makes a tool panic, in whatever goroutine: the visitor gets a clean 500, the log gets
// the stack once, and the process lives. Each tool is run with the first of its dials panicking, then the second, and
// so on, until it makes no more.
func TestAPanicEndsItsRequestAlone(t *testing.T) {
	t.Parallel()
	// With these the tools connect to more than with their typical request, which a tool that is not here is sent.
	inputs := map[string]string{
		"dns-lookup":         "site.test-site.com",
		"http-headers":       "https://site.test-site.com/",
		"ssl-checker":        "site.test-site.com",
		"uptime":             "https://site.test-site.com/",
		"port-checker":       "site.test-site.com:443",
		"ip-geolocation":     "93.184.216.34",
		"asn-lookup":         "93.184.216.34",
		"whois-lookup":       "www.test-site.com",
		"redirect-checker":   "https://site.test-site.com/moved",
		"robots-sitemap":     "http://site.test-site.com/",
		"dns-resolver-check": "site.test-site.com",
		"dns-delegation":     "www.deleg-site.com",
		"email-dns-health":   "post-site.com",
		"security-headers":   "https://site.test-site.com/",
		"traceroute":         "site.test-site.com",
		"ping":               "site.test-site.com",
		"packet-loss":        "site.test-site.com",
	}
	n, certs := network(t)
	worker := fakeWorker(t)
	d := description(t)
	for _, tool := range registry() {
		t.Run(tool.Slug(), func(t *testing.T) {
			t.Parallel()
			body := typical(t, d, tool.Slug())
			if input := inputs[tool.Slug()]; input != "" {
				body = `{"input":"` + input + `"}`
			}
			path := "/api/tools/" + tool.Slug()
			for nth := int32(1); ; nth++ {
				dials := &hostileDials{to: n, nth: nth}
				log := &logtest.Journal{}
				client := n.Client(nil, egress.WithChecker(certs), egress.WithDialer(dials.dial))
				s := gatewayOn(t, client, certs, worker, func(c *httpapi.Config) {
					c.Log = slog.New(slog.NewJSONHandler(log, nil))
				})
				status, answer := ask(t, d, s, "POST", path, path, body)
				s.Close() // which waits for the log's last line
				if dials.made.Load() < nth {
					if status == 500 || inputs[tool.Slug()] != "" && (status != 200 || nth == 1) {
						t.Errorf("without a panic: status %d after %d dials: %v", status, nth-1, answer)
					}
					return
				}
				id, _ := answer["requestId"].(string)
				stacks := stacksOf(t, log.String(), id)
				if status != 500 || len(stacks) != 1 || !strings.Contains(stacks[0], "hostileDials") {
					t.Errorf("the %d. dial: status %d, stacks %q", nth, status, stacks)
				}
			}
		})
	}
}

// hostileDials panics on one of its dials, counted from 1.
type hostileDials struct {
	to   *egresstest.Network
	nth  int32
	made atomic.Int32
}

func (h *hostileDials) dial(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
	if h.made.Add(1) == h.nth {
		panic("a hostile dial")
	}
	return h.to.Dial(ctx, network, to)
}

// stacksOf returns the panics that are logged under a request's id.
func stacksOf(t *testing.T, log, id string) []string {
	t.Helper()
	var stacks []string
	for line := range strings.Lines(log) {
		var fields struct{ RequestID, Error string }
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("not a line of JSON: %q", line)
		}
		if fields.RequestID == id && strings.Contains(fields.Error, "a hostile dial") {
			stacks = append(stacks, fields.Error)
		}
	}
	return stacks
}

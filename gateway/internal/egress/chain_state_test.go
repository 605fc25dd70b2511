package egress_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/budget/traffic"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"

	"github.com/miekg/dns"
)

const otherWeb4 = "93.184.216.35"

// heard is what servers were asked, by host and in order.
type heard struct {
	mu   sync.Mutex
	urls []string
	sent []int // bytes of URL and cookies
}

func (h *heard) note(r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	url := "http://" + r.Host + r.URL.RequestURI()
	h.urls = append(h.urls, r.Host)
	h.sent = append(h.sent, len(url)+len(r.Header.Get("Cookie")))
}

// urlOf is a URL of a host that has so many characters.
func urlOf(host string, length int) string {
	start := "http://" + host + "/?"
	return start + strings.Repeat("x", length-len(start))
}

// A URL of more than 4,096 characters goes to nobody but the host that chose it.
func TestLongURLsOfChains(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		next string
		end  egress.ChainEnd
	}{
		"another host, 4,096":  {urlOf("other.net", 4096), egress.EndFinal},
		"another host, 4,097":  {urlOf("other.net", 4097), egress.EndBlocked},
		"its parent, 4,097":    {urlOf("example.com", 4097), egress.EndBlocked},
		"the same host, 4,097": {urlOf("www.example.com", 4097), egress.EndFinal},
		"the same host, 9,000": {urlOf("www.example.com", 9000), egress.EndFinal},
	} {
		n := egresstest.New(t)
		n.Records("www.example.com. 300 IN A "+web4, "example.com. 300 IN A "+web4, "other.net. 300 IN A "+otherWeb4)
		var asked heard
		serve := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked.note(r)
			if r.URL.RawQuery == "" {
				http.Redirect(w, r, test.next, http.StatusFound)
			}
		})
		n.Serve(web4+":80", serve)
		n.Serve(otherWeb4+":80", serve)
		chain := follow(t, n.Client(nil), "http://www.example.com/", 8)
		if chain.End != test.end || test.end == egress.EndBlocked && (chain.Limited() == nil || len(asked.urls) != 1) {
			t.Errorf("%s: %s, %v; asked %v", name, chain.End, chain.Err, asked.urls)
		}
	}
}

// A name that leads to another server at its next lookup is another server: it gets neither a long URL nor many
// cookies.
func TestANameThatMoves(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		moves  bool
		length int // of the URL
		end    egress.ChainEnd
		most   int // bytes of URL and cookies in the second request
	}{
		"long URL, same server":       {false, 9000, egress.EndFinal, 9000 + 16<<10},
		"long URL, another server":    {true, 9000, egress.EndBlocked, 0},
		"many cookies, same server":   {false, 100, egress.EndFinal, 100 + 16<<10},
		"many cookies, other servers": {true, 100, egress.EndFinal, 100 + 4<<10},
	} {
		n := egresstest.New(t)
		var mu sync.Mutex
		moved := false
		n.Handle("moving.com", func(q *dns.Msg) *dns.Msg {
			mu.Lock()
			defer mu.Unlock()
			address := web4
			if moved {
				address = otherWeb4
			}
			return egresstest.Reply(q, dns.RcodeSuccess, "moving.com. 0 IN A "+address)
		})
		var asked heard
		serve := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked.note(r)
			if r.URL.RawQuery != "" {
				return
			}
			mu.Lock()
			moved = test.moves
			mu.Unlock()
			for i := range 14 {
				w.Header().Add("Set-Cookie", fmt.Sprintf("c%d=%s", i, strings.Repeat("x", 1000)))
			}
			http.Redirect(w, r, urlOf("moving.com", test.length), http.StatusFound)
		})
		n.Serve(web4+":80", serve)
		n.Serve(otherWeb4+":80", serve)
		chain := follow(t, n.Client(nil), "http://moving.com/", 8)
		if chain.End != test.end {
			t.Errorf("%s: %s, %v", name, chain.End, chain.Err)
			continue
		}
		if test.end == egress.EndBlocked {
			if len(asked.sent) != 1 {
				t.Errorf("%s: asked %d times", name, len(asked.sent))
			}
			continue
		}
		if got := asked.sent[1]; got > test.most || got < test.most*3/4 {
			t.Errorf("%s: %d bytes of URL and cookies, and %d are the bound", name, got, test.most)
		}
	}
}

// All that a run sends is bounded: a chain that goes on with long URLs is blocked, and whoever made it is not called
// dead.
func TestARunSendsNoMoreThanItMay(t *testing.T) {
	t.Parallel()
	n := withSite(t)
	var asked heard
	n.Serve(web4+":80", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.note(r)
		for i := range 15 {
			w.Header().Add("Set-Cookie", fmt.Sprintf("c%d=%s", i, strings.Repeat("x", 1000)))
		}
		http.Redirect(w, r, fmt.Sprintf("/%d?%s", len(asked.urls), strings.Repeat("x", 16_000)), http.StatusFound)
	}))
	c := n.Client(nil)
	ctx := traffic.WithMeter(t.Context(), new(traffic.Totals))
	chain := c.Follow(ctx, egress.Request{URL: parseURL(t, "http://example.com/")}, 8)
	if chain.End != egress.EndBlocked || !fault.Is(chain.Limited(), fault.Limited) || len(chain.Hops) < 3 {
		t.Errorf("%d hops, %s, %v", len(chain.Hops), chain.End, chain.Err)
	}
	sum := 0
	for _, n := range asked.sent {
		sum += n
	}
	if sum > traffic.MaxSent || sum < traffic.MaxSent/2 {
		t.Errorf("%d bytes of URLs and cookies", sum)
	}
	if _, err := c.Do(ctx, egress.Request{URL: parseURL(t, urlOf("example.com", 40_000))}); !fault.Is(err, fault.Limited) {
		t.Errorf("once more: %v", err)
	}
	first := egress.Request{URL: parseURL(t, "http://example.com/")}
	if chain := c.Follow(traffic.WithMeter(t.Context(), new(traffic.Totals)), first, 1); chain.
		End != egress.EndTooManyRedirects {
		t.Errorf("another run: %s, %v", chain.End, chain.Err)
	}
}

// Once a run has sent what it may it dials nobody and asks nothing, but what is known already is still told.
func TestNothingLeavesASpentRun(t *testing.T) {
	t.Parallel()
	n := withSite(t)
	n.Records("new.com. 300 IN A " + web4)
	n.Serve(web4+":80", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	c := n.Client(nil)
	ctx := traffic.WithMeter(context.Background(), new(traffic.Totals))
	if _, err := c.Resolve(ctx, parseURL(t, "http://example.com/").Host()); err != nil {
		t.Fatal(err)
	}
	for traffic.Room(ctx, 0) == nil {
		traffic.Dialled(ctx)
	}
	dials := len(n.Dials())
	if _, err := c.Resolve(ctx, parseURL(t, "http://example.com/").Host()); err != nil {
		t.Errorf("what is known: %v", err)
	}
	if _, err := c.Resolve(ctx, parseURL(t, "http://new.com/").Host()); !fault.Is(err, fault.Limited) {
		t.Errorf("a lookup: %v", err)
	}
	if _, err := c.Dial(ctx, addrPorts(web4 + ":80")[0]); !fault.Is(err, fault.Limited) {
		t.Errorf("a dial: %v", err)
	}
	if _, err := c.Do(ctx, egress.Request{URL: parseURL(t, "http://example.com/")}); !fault.Is(err, fault.Limited) {
		t.Errorf("a round trip: %v", err)
	}
	if got := len(n.Dials()); got != dials {
		t.Errorf("%d dials more", got-dials)
	}
}

package egress_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
	"diagnostics/hostroute"

	"github.com/miekg/dns"
)

// till keeps what was charged, and refuses some of it.
type till struct {
	refuse []string

	mu      sync.Mutex
	charged []string
}

func (c *till) charge(_ context.Context, to netip.AddrPort) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.charged = append(c.charged, to.String())
	if slices.Contains(c.refuse, to.String()) {
		return fault.LimitedFor(7*time.Second, "ADDRESS_BUSY")
	}
	return nil
}

func (c *till) settings(s *egress.Settings) { s.Charge = c.charge }

// taken gives what was charged since the last call.
func (c *till) taken() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := strings.Join(c.charged, " ")
	c.charged = nil
	return all
}

// chargedSite redirects from one address to another.
func chargedSite(t *testing.T) *egresstest.Network {
	n := egresstest.New(t)
	n.Records("one.example.com. 300 IN A 93.184.216.1", "two.example.com. 300 IN A 93.184.216.2",
		"both.example.com. 300 IN A 93.184.216.2", "both.example.com. 300 IN AAAA 2606:2800:220:1::2")
	n.Serve("93.184.216.1:80", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://two.example.com/", http.StatusFound)
	}))
	n.Serve("93.184.216.2:80", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "here")
	}))
	return n
}

func chargedURL(t *testing.T, s string) target.URL {
	t.Helper()
	u, err := target.ParseURL(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestEveryDialForAVisitorIsCharged(t *testing.T) {
	t.Parallel()
	n, c := chargedSite(t), &till{}
	client := n.Client(c.settings)
	conn, err := client.Dial(t.Context(), netip.MustParseAddrPort("93.184.216.1:80"))
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	if got := c.taken(); got != "93.184.216.1:80" {
		t.Errorf("Dial charges %q", got)
	}
	chain := client.Follow(t.Context(), egress.Request{URL: chargedURL(t, "http://one.example.com/")}, 3)
	if chain.Err != nil {
		t.Fatal(chain.Err)
	}
	if got := c.taken(); got != "93.184.216.1:80 93.184.216.2:80" {
		t.Errorf("a chain charges %q", got)
	}
	// The address without an answer is dialled too.
	if _, err := client.Do(t.Context(), egress.Request{URL: chargedURL(t, "http://both.example.com/")}); err != nil {
		t.Fatal(err)
	}
	if got := c.taken(); got != "[2606:2800:220:1::2]:80 93.184.216.2:80" {
		t.Errorf("a race charges %q", got)
	}
}

func TestDialsThatAreNotCharged(t *testing.T) {
	t.Parallel()
	n, c := withInside(t), &till{}
	n.Records("one.example.com. 300 IN A 93.184.216.1")
	n.Serve("93.184.216.1:80", http.NotFoundHandler())
	n.NameServer("1.1.1.1:53").Records("one.example.com. 300 IN A 93.184.216.1")
	client := n.Client(func(s *egress.Settings) {
		exempting("rdap.internal:8080")(s)
		c.settings(s)
	})
	for _, r := range []egress.Request{
		{URL: chargedURL(t, "http://one.example.com/"), Uncharged: true},
		{URL: operatorURL(t, "http://rdap.internal:8080/x"), Exempt: true},
	} {
		if _, err := client.Do(t.Context(), r); err != nil {
			t.Error(err)
		}
	}
	server := netip.MustParseAddrPort("1.1.1.1:53")
	if a := client.DNS().QueryServer(t.Context(), server, "one.example.com", dns.TypeA); !a.Conclusive() {
		t.Errorf("%+v", a)
	}
	if _, err := client.Resolve(t.Context(), chargedURL(t, "http://one.example.com/").Host()); err != nil {
		t.Error(err)
	}
	if got := c.taken(); got != "" {
		t.Errorf("%q were charged", got)
	}
}

func TestLimitedDialsAreNotMade(t *testing.T) {
	t.Parallel()
	n, c := chargedSite(t), &till{refuse: []string{"93.184.216.2:80"}}
	client := n.Client(c.settings)
	if _, err := client.Dial(t.Context(), netip.MustParseAddrPort("93.184.216.2:80")); !fault.Is(err, fault.Limited) {
		t.Errorf("Dial: %v", err)
	}
	// Of the other address nothing is known but that it refuses: the limit is what is reported.
	for _, url := range []string{"http://two.example.com/", "http://both.example.com/"} {
		_, err := client.Do(t.Context(), egress.Request{URL: chargedURL(t, url)})
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Limited || f.RetryAfter != 7*time.Second {
			t.Errorf("%s: %v", url, err)
		}
	}
	chain := client.Follow(t.Context(), egress.Request{URL: chargedURL(t, "http://one.example.com/")}, 3)
	if chain.End != egress.EndBlocked || chain.Followed != 1 || !fault.Is(chain.Limited(), fault.Limited) ||
		!fault.Is(chain.Err, fault.Upstream) {
		t.Errorf("%s after %d: %v, %v", chain.End, chain.Followed, chain.Err, chain.Limited())
	}
	if dials := n.Dials(); len(dials) != 2 {
		t.Errorf("dialled %v", dials)
	}
}

// A dial that is refused, or that this host has no way for, reaches no host: no visitor is charged.
func TestDialsThatAreNotMadeAreNotCharged(t *testing.T) {
	t.Parallel()
	const four, six = "93.184.216.2", "2606:2800:220:1::2"
	to := netip.MustParseAddrPort(four + ":80")
	for name, test := range map[string]struct {
		ways    routes
		kind    fault.Kind // of Dial
		charged string     // by a request for both addresses
	}{
		"no way at all":   {routes{four: hostroute.Nowhere, six: hostroute.Nowhere}, fault.Busy, ""},
		"no way to one":   {routes{four: hostroute.Nowhere}, fault.Busy, "[" + six + "]:80"},
		"its own address": {routes{four: hostroute.Here}, fault.Refused, ""},
	} {
		n, c := chargedSite(t), &till{}
		client := n.Client(c.settings, test.ways.option())
		if _, err := client.Dial(t.Context(), to); !fault.Is(err, test.kind) {
			t.Errorf("%s: Dial: %v", name, err)
		}
		if err := client.Admit(t.Context(), to); !fault.Is(err, test.kind) {
			t.Errorf("%s: Admit: %v", name, err)
		}
		if got := c.taken(); got != "" {
			t.Errorf("%s: Dial and Admit charge %q", name, got)
		}
		_, err := client.Do(t.Context(), egress.Request{URL: chargedURL(t, "http://both.example.com/")})
		if !fault.Is(err, test.kind) {
			t.Errorf("%s: %v", name, err)
		}
		if got := c.taken(); got != test.charged {
			t.Errorf("%s: a race charges %q", name, got)
		}
	}
}

// A connection without HTTP is looked up, judged and raced as all are, and no client is charged.
func TestConnectUncharged(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records("open-site.net. 300 IN A 93.184.216.34", "closed-site.net. 300 IN A 93.184.216.36",
		"both-site.net. 300 IN A 93.184.216.35", "both-site.net. 300 IN A 93.184.216.34",
		"dropped-site.net. 300 IN A 93.184.216.35", "empty-site.net. 300 IN TXT x",
		"mixed-site.net. 300 IN A 93.184.216.34", "mixed-site.net. 300 IN A 10.0.0.1")
	n.Listen("93.184.216.34:43")
	n.Drop("93.184.216.35:43")
	client := n.Client(func(s *egress.Settings) {
		s.Charge = func(_ context.Context, to netip.AddrPort) error { t.Errorf("%v is charged", to); return nil }
	})
	for _, c := range []struct {
		host string
		kind fault.Kind // 0 for a connection
		says string
	}{
		{"open-site.net", 0, ""},
		{"both-site.net", 0, ""},
		{"closed-site.net", fault.Upstream, "closed-site.net refused the connection."},
		{"dropped-site.net", fault.Timeout, "dropped-site.net did not accept a connection in time."},
		{"mixed-site.net", fault.Refused, ""},
		{"empty-site.net", fault.NoAddress, ""},
		{"gone-site.net", fault.NoAddress, ""},
	} {
		t.Run(c.host, func(t *testing.T) {
			t.Parallel()
			host, err := target.ParseHost(c.host)
			if err != nil {
				t.Fatal(err)
			}
			limit := 30 * time.Second
			if c.kind == fault.Timeout {
				limit = 100 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			conn, err := client.ConnectUncharged(ctx, host, 43)
			if conn != nil {
				defer func() { _ = conn.Close() }()
			}
			switch {
			case c.kind != 0:
				if !fault.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%v", err)
				}
			case err != nil:
				t.Error(err)
			case conn.RemoteAddr().String() != "93.184.216.34:43":
				t.Errorf("connected to %v", conn.RemoteAddr())
			}
		})
	}
}

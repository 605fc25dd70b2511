package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/limits/addresslimit"
	"diagnostics/gateway/internal/limits/ratelimit"
	"diagnostics/gateway/internal/limits/requests"

	"github.com/google/go-cmp/cmp"
)

// The stages of every kind of request, the narrowest first, by client.
func TestStages(t *testing.T) {
	t.Parallel()
	per := func(n int) ratelimit.Limit { return ratelimit.Limit{Requests: n, Window: time.Minute} }
	limits := requests.Limits{Tool: per(1), Client: per(2), Target: per(3), Samples: per(4), Pages: per(5)}
	var got []ratelimit.Stage
	e := newEdge(t, nil, trusting, func(c *Config) {
		c.Limits = limits
		c.Limiter = limiterFunc(func(_ context.Context, stages ...ratelimit.Stage) (ratelimit.Decision, error) {
			got = stages
			return allowAll(context.Background())
		})
	})
	one := func(key string, l ratelimit.Limit) ratelimit.Stage { return ratelimit.Stage{{Key: key, Limit: l}} }
	own := func(client, target string) ratelimit.Stage {
		return ratelimit.Stage{
			{Key: "tool|" + client + "|echo|" + target, Limit: limits.Tool}, {Key: "client|" + client, Limit: limits.Client},
		}
	}
	const v4, v6 = "198.51.100.1", "2001:db8:0:1234::/64"
	target := one("target|example.com", limits.Target)
	around := []ratelimit.Stage{one("client|2001:db8:0:1200::/56", per(8)), one("client|2001:db8::/48", per(32))}
	samples := []ratelimit.Stage{one("samples|"+v6, per(4)), one("samples|2001:db8:0:1200::/56", per(16)),
		one("samples|2001:db8::/48", per(64))}
	pages := []ratelimit.Stage{one("pages|"+v6, per(5)), one("pages|2001:db8:0:1200::/56", per(20)),
		one("pages|2001:db8::/48", per(80))}

	from4, from6 := "X-Real-IP: 198.51.100.1", "X-Real-IP: 2001:db8:0:1234::5"
	tests := []struct {
		name string
		send func() *answer
		want []ratelimit.Stage
	}{
		{"IPv4", func() *answer { return e.post(t, "echo", `{"input":"example.com"}`, from4) },
			[]ratelimit.Stage{own(v4, "example.com"), target}},
		{"IPv4 without a target", func() *answer { return e.post(t, "echo", `{"input":""}`, from4) },
			[]ratelimit.Stage{own(v4, "")}},
		{"IPv6", func() *answer { return e.post(t, "echo", `{"input":"example.com"}`, from6) },
			[]ratelimit.Stage{own(v6, "example.com"), around[0], around[1], target}},
		{"IPv6 without a target", func() *answer { return e.post(t, "echo", `{"input":""}`, from6) },
			[]ratelimit.Stage{own(v6, ""), around[0], around[1]}},
		{"samples over IPv4", func() *answer { return e.send(t, "GET", "/api/connection/ping", "", from4) },
			[]ratelimit.Stage{one("samples|"+v4, per(4))}},
		{"samples over IPv6", func() *answer { return e.send(t, "GET", "/api/connection/packet-loss", "", from6) }, samples},
		{"a page over IPv4", func() *answer { return e.send(t, "GET", "/", "", from4) },
			[]ratelimit.Stage{one("pages|"+v4, per(5))}},
		{"a page over IPv6", func() *answer { return e.send(t, "HEAD", "/report", "", from6) }, pages},
		{"an asset", func() *answer { return e.send(t, "GET", "/assets/0/site.css", "", from6) }, pages},
		{"an unknown path", func() *answer { return e.send(t, "GET", "/wp-login.php", "", from6) }, pages},
		{"no page", func() *answer { return e.send(t, "POST", "/", "", from6) }, nil},
		{"health", func() *answer { return e.send(t, "GET", "/healthz", "", from6) }, nil},
		{"readiness", func() *answer { return e.send(t, "GET", "/readyz", "", from6) }, nil},
		{"invalid", func() *answer { return e.post(t, "echo", `{"input":"bad"}`) }, nil},
		{"malformed", func() *answer { return e.post(t, "echo", `{"input":1}`) }, nil},
		{"denied", func() *answer { return e.post(t, "echo", `{"input":"denied.example.com"}`) }, nil},
		{"no sample", func() *answer { return e.send(t, "GET", "/api/connection/ping?n=x", "") }, nil},
	}
	for _, tt := range tests {
		got = nil
		tt.send()
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

// A multiple of the largest limit is not more than a bucket can count, and none of what is switched off.
func TestNetworkStagesOfTheExtremes(t *testing.T) {
	t.Parallel()
	const most = 1_000_000_000
	for n, want := range map[int]int{0: 0, 1: 16, most / 16: most, most: most} {
		var last ratelimit.Stage
		e := newEdge(t, nil, trusting, func(c *Config) {
			c.Limits.Samples = ratelimit.Limit{Requests: n, Window: time.Minute}
			c.Limiter = limiterFunc(func(_ context.Context, stages ...ratelimit.Stage) (ratelimit.Decision, error) {
				last = stages[len(stages)-1]
				return allowAll(context.Background())
			})
		})
		e.send(t, "GET", "/api/connection/ping", "", "X-Real-IP: 2001:db8::1")
		if got := last[0].Limit.Requests; got != want {
			t.Errorf("%d a client make %d a /48, want %d", n, got, want)
		}
	}
}

// Over the limit of pages a page is refused and says when to come again. Assets are counted with the pages and never
// refused, so that a page that was allowed works. Other clients, runs and samples are not affected.
func TestPagesAreLimited(t *testing.T) {
	t.Parallel()
	const most = 10
	e := newEdge(t, nil, trusting, defaults, func(c *Config) {
		c.Limits.Pages = ratelimit.Limit{Requests: most, Window: 100 * time.Hour}
	})
	const from = "X-Real-IP: 198.51.100.1"
	send := func(path, from string) *answer { return e.send(t, "GET", path, "", from) }
	for i := range most - 1 {
		if a := send([]string{"/", "/assets/0/site.css", "/nothing"}[i%3], from); a.StatusCode == 429 {
			t.Fatalf("request %d is refused", i)
		}
	}
	if a := send("/tools/echo", from); a.StatusCode != 200 {
		t.Errorf("the last page that is allowed: %d", a.StatusCode)
	}
	for _, path := range []string{"/", "/tools/echo?input=x", "/report", "/nothing", "/robots.txt", "/api"} {
		a := send(path, from)
		if a.StatusCode != 429 || a.Header.Get("Retry-After") != "36000" || string(a.body) != "<p>too many</p>" {
			t.Errorf("%s: %d %v %s", path, a.StatusCode, a.Header, a.body)
		}
	}
	if a := send("/assets/0/site.css", from); a.StatusCode == 429 {
		t.Error("an asset is refused")
	}
	if status := e.statusFor(t, "198.51.100.1", "example.com"); status != 200 {
		t.Errorf("a run: %d", status)
	}
	for path, client := range map[string]string{
		"/": "X-Real-IP: 198.51.100.2", "/healthz": from, "/readyz": from, "/api/openapi.yaml": from,
		"/api/connection/ping": from,
	} {
		if a := send(path, client); a.StatusCode != 200 {
			t.Errorf("%s of %s: %d", path, client, a.StatusCode)
		}
	}
	w := httptest.NewRecorder()
	e.config.Metrics.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if want := `diagnostics_rate_limited_total{from="client",limit="pages",slug="other"} 6` + "\n"; !strings.Contains(
		w.Body.String(), want) {
		t.Errorf("no line %q", want)
	}
}

// A store of limits that fails refuses no asset, and a page as it refuses a sample.
func TestPagesWithoutTheirLimits(t *testing.T) {
	t.Parallel()
	e := newEdge(t, nil, func(c *Config) {
		c.Limiter = limiterFunc(func(context.Context, ...ratelimit.Stage) (ratelimit.Decision, error) {
			return ratelimit.Decision{}, fault.New(fault.Busy, "SERVICE_BUSY", nil).ByRule(fault.LimitRedis)
		})
	})
	for path, want := range map[string]int{"/": 503, "/api/connection/ping": 503, "/assets/0/site.css": 404} {
		if a := e.send(t, "GET", path, ""); a.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, a.StatusCode, want)
		}
	}
}

// defaults are the default limits of docs/settings.md, in hours, so that nothing refills while a test runs.
func defaults(c *Config) {
	per := func(n int) ratelimit.Limit { return ratelimit.Limit{Requests: n, Window: 100 * time.Hour} }
	c.Limits = requests.Limits{Tool: per(30), Client: per(120), Target: per(300), Samples: per(1800)}
	c.Limiter = ratelimit.NewMemory()
}

// statusFor gives the status of one run on behalf of a client.
func (e *edge) statusFor(t *testing.T, client, target string) int {
	t.Helper()
	return e.post(t, "echo", `{"input":"`+target+`"}`, "X-Real-IP: "+client).StatusCode
}

// passed counts the requests of a client that pass, of n.
func (e *edge) passed(t *testing.T, n int, client, target string) int {
	t.Helper()
	passed := 0
	for range n {
		if e.statusFor(t, client, target) == 200 {
			passed++
		}
	}
	return passed
}

// One client's requests past its own share are no reason to refuse anyone else.
func TestRefusedRequestsLockNobodyOut(t *testing.T) {
	t.Parallel()
	e := newEdge(t, nil, trusting, defaults)
	if n := e.passed(t, 700, "198.51.100.1", "victim.example.com"); n != 30 {
		t.Errorf("%d of one client's requests passed, want 30", n)
	}
	// Nine others have a share each, and then the target has had its 300.
	for i := 2; i <= 10; i++ {
		if n := e.passed(t, 31, fmt.Sprint("198.51.100.", i), "victim.example.com"); n != 30 {
			t.Errorf("%d requests of client %d passed, want 30", n, i)
		}
	}
	if status := e.statusFor(t, "198.51.100.11", "victim.example.com"); status != 429 {
		t.Errorf("request 301 of a target: %d", status)
	}
	// The rejection charged the client one of its own requests and no other client any.
	if n := e.passed(t, 1, "198.51.100.12", "another.example.com"); n != 1 {
		t.Error("another target is refused")
	}
}

// The networks around a client are shared like a target: 4 clients' worth for a /56, 16 for a /48, and what one /64 is
// refused costs its neighbours nothing.
func TestNetworksAroundAClient(t *testing.T) {
	t.Parallel()
	e := newEdge(t, nil, trusting, defaults)
	address := func(net56, net64 int) string { return fmt.Sprintf("2001:db8:0:%02x%02x::1", net56, net64) }
	spend := func(net56, net64 int) int {
		passed := 0
		for i := range 5 {
			passed += e.passed(t, 30, address(net56, net64), fmt.Sprintf("t%d-%d-%d.example.com", net56, net64, i))
		}
		return passed
	}
	for net56 := range 4 {
		for net64 := range 5 {
			want := 120
			if net64 == 4 {
				want = 0 // the /56 has had its 480
			}
			if n := spend(net56, net64); n != want {
				t.Errorf("the /64 %d of the /56 %d: %d passed, want %d", net64, net56, n, want)
			}
		}
	}
	if n := spend(4, 0); n != 0 {
		t.Errorf("%d passed beyond the 1920 of a /48", n)
	}
	if status := e.statusFor(t, "2001:db8:1::1", "t.example.com"); status != 200 {
		t.Errorf("another /48 is answered %d", status)
	}
}

// A run that reaches the limit of an address is counted, whether that ends it or is reported in one of its steps; its
// headers stay those of the request's own buckets.
func TestAddressLimitsAreCounted(t *testing.T) {
	t.Parallel()
	addresses := addresslimit.New(ratelimit.NewMemory(), 1, time.Hour)
	e := newEdge(t, func(ctx context.Context, target fakeTarget) (any, error) {
		err := addresses.Allow(ctx, netip.MustParseAddrPort("93.184.216.34:443"))
		if target == "goes-on.example.com" {
			return "a step says so", nil
		}
		return "reached", err
	})
	for _, c := range []struct {
		target  string
		status  int
		counted int
	}{{"a.example.com", 200, 0}, {"b.example.com", 429, 1}, {"goes-on.example.com", 200, 2}} {
		a := e.post(t, "echo", `{"input":"`+c.target+`"}`)
		if a.StatusCode != c.status || a.Header.Get("X-RateLimit-Remaining") != "29" {
			t.Errorf("%s: %d %v %s", c.target, a.StatusCode, a.Header, a.body)
		}
		if a.StatusCode == 429 && a.Header.Get("Retry-After") != "3600" {
			t.Errorf("again after %s", a.Header.Get("Retry-After"))
		}
		w := httptest.NewRecorder()
		e.config.Metrics.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		want := fmt.Sprintf("diagnostics_rate_limited_total{from=%q,limit=%q,slug=%q} %d\n",
			"client", "client_address", "echo", c.counted)
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: no line %q", c.target, want)
		}
	}
}

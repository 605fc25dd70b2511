package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/apidoc/openapi"
	"diagnostics/gateway/internal/limits/ratelimit"
	"diagnostics/gateway/internal/tool"
)

func TestSamples(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 7, 1, 12, 0, 0, 5_000_000, time.FixedZone("", 3600))
	e := newEdge(t, nil, func(c *Config) { c.Now = func() time.Time { return now } })
	tests := []struct {
		query  string
		status int
		n      any
	}{
		{"", 200, nil},
		{"?", 200, nil},
		{"?other=1", 200, nil},
		{"?n=0", 200, 0.0},
		{"?n=7", 200, 7.0},
		{"?n=007", 200, 7.0},
		{"?n=999999999", 200, 999999999.0},
		{"?x=y&n=5", 200, 5.0},
		{"?n=1000000000", 400, nil},
		{"?n=0000000001", 400, nil},
		{"?n=", 400, nil},
		{"?n", 400, nil},
		{"?n=-1", 400, nil},
		{"?n=+1", 400, nil},
		{"?n=%2B1", 400, nil},
		{"?n=1.0", 400, nil},
		{"?n=1e3", 400, nil},
		{"?n=0x1", 400, nil},
		{"?n=%D9%A1", 400, nil},
		{"?n=1&n=1", 400, nil},
		{"?n=1%00", 400, nil},
		{"?n=%zz", 400, nil},
		{"?n=1;n=2", 400, nil},
	}
	for _, probe := range []string{"ping", "packet-loss"} {
		for _, tt := range tests {
			a := e.send(t, "GET", "/api/connection/"+probe+tt.query, "")
			data, _ := a.envelope(t, tt.status)
			if tt.status != 200 {
				continue
			}
			n, there := data["n"]
			if !there || n != tt.n || data["probe"] != probe || data["serverTime"] != "2026-07-01T11:00:00.005Z" ||
				len(data) != 3 {
				t.Errorf("%s%s: %v", probe, tt.query, data)
			}
		}
	}
}

func TestSamplesAreLight(t *testing.T) {
	e := newEdge(t, nil)
	allocs := testing.AllocsPerRun(200, func() {
		r := httptest.NewRequest(http.MethodGet, "/api/connection/ping?n=5", nil)
		e.ServeHTTP(httptest.NewRecorder(), r)
	})
	t.Logf("%.0f allocations a sample", allocs)
	if allocs > 100 {
		t.Errorf("%.0f allocations a sample", allocs)
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	e := newEdge(t, nil)
	a := e.send(t, "GET", "/healthz", "")
	if a.StatusCode != http.StatusOK || string(a.body) != "ok" {
		t.Errorf("%d %q", a.StatusCode, a.body)
	}
}

func TestReady(t *testing.T) {
	t.Parallel()
	is := func(s State) func(context.Context) State { return func(context.Context) State { return s } }
	hangs := func(ctx context.Context) State {
		if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) > readyTimeout {
			t.Errorf("the worker has until %v", deadline)
		}
		<-ctx.Done()
		return StateDown
	}
	tests := []struct {
		name          string
		redis, worker func(context.Context) State
		drain         bool
		status        int
		body          string
	}{
		{"nothing configured", nil, nil, false, 200, `{"status":"ready","redis":"off","worker":"off"}`},
		{"all well", is(StateOK), is(StateOK), false, 200, `{"status":"ready","redis":"ok","worker":"ok"}`},
		{"all lost, still ready", is(StateDown), is(StateDown), false, 200, `{"status":"ready","redis":"down","worker":"down"}`},
		{"a worker that hangs", is(StateOK), hangs, false, 200, `{"status":"ready","redis":"ok","worker":"down"}`},
		{"draining", is(StateOK), is(StateDown), true, 503, `{"status":"draining","redis":"ok","worker":"down"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := newEdge(t, nil, func(c *Config) { c.Redis, c.Worker = tt.redis, tt.worker })
			if tt.drain {
				e.Drain()
			}
			a := e.send(t, "GET", "/readyz", "")
			if a.StatusCode != tt.status || strings.TrimSpace(string(a.body)) != tt.body ||
				a.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%d %s", a.StatusCode, a.body)
			}
			// A draining instance keeps no connection that its client would use again.
			answer := httptest.NewRecorder()
			e.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), "GET", "/healthz", nil))
			if closes := answer.Header().Get("Connection") == "close"; closes != tt.drain {
				t.Errorf("Connection: close is %v", closes)
			}
			// A draining instance still works.
			e.post(t, "echo", `{"input":"a"}`).envelope(t, 200)
		})
	}
}

func TestOpenAPIIsServed(t *testing.T) {
	t.Parallel()
	e := newEdge(t, nil)
	want, err := openapi.Document(e.config.Tools)
	if err != nil {
		t.Fatal(err)
	}
	a := e.send(t, "GET", "/api/openapi.yaml", "")
	tag := a.Header.Get("ETag")
	if a.StatusCode != http.StatusOK || a.Header.Get("Content-Type") != "application/yaml" || string(a.body) != want ||
		tag == "" {
		t.Fatalf("%d %v", a.StatusCode, a.Header)
	}
	if cc := a.Header.Get("Cache-Control"); !strings.Contains(cc, "max-age") {
		t.Errorf("Cache-Control: %q", cc)
	}
	if a := e.send(t, "GET", "/api/openapi.yaml", "", "If-None-Match: "+tag); a.StatusCode != http.StatusNotModified ||
		len(a.body) != 0 {
		t.Errorf("again: %d", a.StatusCode)
	}
	for _, header := range []string{"Range: bytes=99999999-", "Range: bytes=0-9", `If-Match: "other"`} {
		a := e.send(t, "GET", "/api/openapi.yaml", "", header)
		if a.StatusCode != http.StatusOK || string(a.body) != want || a.Header.Get("Accept-Ranges") != "" {
			t.Errorf("%s: %d %v", header, a.StatusCode, a.Header)
		}
	}
}

// The address above all of the API is a page, and costs no reader any of what answers may hold.
func TestTheReferenceIsAPage(t *testing.T) {
	t.Parallel()
	e := newEdge(t, nil, func(c *Config) { c.Bounds.HeldBytes = 0 })
	if a := e.send(t, "GET", "/api", ""); a.StatusCode != http.StatusOK || string(a.body) != "<p>a page</p>" {
		t.Errorf("%d %q", a.StatusCode, a.body)
	}
	if a := e.send(t, "GET", "/", ""); a.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a page that is made for its reader, without room for it: %d", a.StatusCode)
	}
	e.send(t, "GET", "/api/", "").envelope(t, http.StatusNotFound)
}

func TestRequestIDsAreOurOwn(t *testing.T) {
	t.Parallel()
	e := newEdge(t, func(ctx context.Context, _ fakeTarget) (any, error) {
		return map[string]string{"seen": tool.CallerOf(ctx).RequestID}, nil
	})
	const theirs = "11111111-1111-4111-8111-111111111111"
	a := e.post(t, "echo", `{"input":"a"}`, "X-Request-Id: "+theirs)
	data, _ := a.envelope(t, 200)
	if id := a.Header.Get("X-Request-Id"); id == theirs || data["seen"] != id {
		t.Errorf("header %s, tool saw %v", id, data["seen"])
	}
}

func TestVisitorReachesTheTool(t *testing.T) {
	t.Parallel()
	var seen tool.Visitor
	c := func(c *Config) {
		trusting(c)
		c.Tools = []tool.Tool{tool.New(tool.Spec[fakeTarget, any]{
			Slug:    "my-ip",
			OpenAPI: fakeOpenAPI("MyIp"),
			Parse:   func(in tool.Input) (fakeTarget, error) { seen = in.Visitor; return "", nil },
			Run:     echoRun,
		})}
	}
	e := newEdge(t, nil, c)
	e.post(t, "my-ip", `{"input":""}`, "CF-Connecting-IP: 192.0.2.7").envelope(t, 200)
	if !seen.HeadersTrusted || seen.Addr.String() != "192.0.2.7" {
		t.Errorf("%+v", seen)
	}
}

func TestTwoToolsOfOneSlug(t *testing.T) {
	t.Parallel()
	one := tool.New(tool.Spec[fakeTarget, any]{Slug: "same", Parse: parseFake})
	if _, err := New(Config{Tools: []tool.Tool{one, one}}); err == nil || err.Error() != "two tools have the slug same" {
		t.Errorf("%v", err)
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	e := newEdge(t, nil, func(c *Config) {
		c.Limiter = limiterFunc(func(_ context.Context, stages ...ratelimit.Stage) (ratelimit.Decision, error) {
			key := stages[0][0].Key
			return ratelimit.Decision{Key: key, Limit: 1, Allowed: !strings.HasSuffix(key, "|limited.example.com")}, nil
		})
	})
	e.config.Metrics.RedisUp(func() bool { return false })
	for _, input := range []string{"secret.example.com", "limited.example.com", "bad"} {
		e.requestLine(t, e.post(t, "echo", `{"input":"`+input+`"}`, "X-Real-IP: 192.0.2.99").Header.Get("X-Request-Id"))
	}
	e.requestLine(t, e.send(t, "GET", "/api/connection/ping", "").Header.Get("X-Request-Id"))
	e.requestLine(t, e.send(t, "GET", "/whatever/secret", "").Header.Get("X-Request-Id"))
	w := httptest.NewRecorder()
	e.config.Metrics.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	text := w.Body.String()
	for _, want := range []string{
		`diagnostics_requests_total{from="client",outcome="ok",slug="echo",status="200"} 1`,
		`diagnostics_requests_total{from="client",outcome="invalid",slug="echo",status="400"} 1`,
		`diagnostics_requests_total{from="client",outcome="limited",slug="echo",status="429"} 1`,
		`diagnostics_requests_total{from="client",outcome="ok",slug="connection-ping",status="200"} 1`,
		`diagnostics_requests_total{from="client",outcome="not_found",slug="other",status="404"} 1`,
		`diagnostics_request_duration_seconds_count{from="client",slug="echo"} 3`,
		`diagnostics_rate_limited_total{from="client",limit="tool",slug="echo"} 1`,
		`diagnostics_rate_limited_total{from="client",limit="client",slug="echo"} 0`,
		`diagnostics_runs_in_flight 0`,
		`diagnostics_redis_up 0`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no line %s", want)
		}
	}
	for _, private := range []string{"secret", "example.com", "192.0.2", "127.0.0.1"} {
		if strings.Contains(text, private) {
			t.Errorf("the metrics hold %q", private)
		}
	}
}

func TestReadinessIsJSON(t *testing.T) {
	t.Parallel()
	var r map[string]string
	e := newEdge(t, nil)
	if err := json.Unmarshal(e.send(t, "GET", "/readyz", "").body, &r); err != nil || len(r) != 3 {
		t.Errorf("%v, %v", r, err)
	}
}

package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/apitest"
	"diagnostics/gateway/internal/httpapi"
	"diagnostics/gateway/internal/ratelimit"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tools"

	"github.com/google/go-cmp/cmp"
)

func description(t *testing.T) *apitest.Description {
	t.Helper()
	d, err := apitest.Load(httpapi.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Registry and description must name the same tools.
func TestOpenAPIKnowsTheRegistry(t *testing.T) {
	t.Parallel()
	var want, got []string
	for _, tool := range tools.All(tools.Deps{Now: time.Now}) {
		want = append(want, tool.Slug())
	}
	for _, tool := range description(t).Tools() {
		got = append(got, tool.Slug)
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the registry (-) and openapi.yaml (+) disagree:\n%s", diff)
	}
}

// The edge's own answers, on every path that the description has.
func TestOpenAPIDescribesTheEdge(t *testing.T) {
	t.Parallel()
	n, certs := network(t)
	d := description(t)
	s := gatewayOn(t, n.Client(nil), certs, nil, nil)
	big := `{"input":"` + strings.Repeat("x", 5000) + `"}`
	for _, path := range d.Paths() {
		method, path, _ := strings.Cut(path, " ")
		if method != http.MethodPost {
			continue
		}
		for body, want := range map[string]int{"": 415, "[]": 400, big: 413, `{"input":1}`: 400} {
			if status, _ := ask(t, d, s, "POST", path, path, body); status != want {
				t.Errorf("%s: status %d, want %d", path, status, want)
			}
		}
		ask(t, d, s, "POST", path, path, "{}", "Origin", "https://evil.example")
		ask(t, d, s, "GET", path, path, "")
		ask(t, d, s, "OPTIONS", path, path, "")
	}
	for _, path := range []string{"/api/connection/ping", "/api/connection/packet-loss"} {
		ask(t, d, s, "GET", path, path, "")
		ask(t, d, s, "GET", path+"?n=5", path, "")
		ask(t, d, s, "GET", path+"?n=x", path, "")
		ask(t, d, s, "GET", path, path, "", "Origin", "null")
		ask(t, d, s, "HEAD", path, path, "")
		ask(t, d, s, "POST", path, path, "")
	}
	for _, path := range []string{"/api", "/api/", "/api/none", "/api/tools/none"} {
		ask(t, d, s, "GET", path, "", "")
	}
	ask(t, d, s, "GET", "/api/openapi.yaml", "/api/openapi.yaml", "")
	ask(t, d, s, "PUT", "/api/openapi.yaml", "/api/openapi.yaml", "")
	ask(t, d, s, "GET", "/healthz", "/healthz", "")
	ask(t, d, s, "GET", "/readyz", "/readyz", "")
	for _, slug := range []string{"traceroute", "ping", "packet-loss"} {
		path := "/api/tools/" + slug
		if status, _ := ask(t, d, s, "POST", path, path, `{"input":"site.test-site.com"}`); status != 501 {
			t.Errorf("%s without a worker: %d", slug, status)
		}
	}
}

// Limits, a full instance, a run that takes too long and a failure that nobody foresaw, through a real tool.
func TestOpenAPIDescribesTroubles(t *testing.T) {
	t.Parallel()
	d := description(t)
	n, certs := network(t)
	const path, body = "/api/tools/dns-lookup", `{"input":"site.test-site.com"}`
	tests := []struct {
		name   string
		status int
		change func(*httpapi.Config)
	}{
		{"limited", 429, func(c *httpapi.Config) {
			c.Limiter = limiter{decision: ratelimit.Decision{Limit: 1, RetryAfter: time.Second}}
		}},
		{"store gone", 500, func(c *httpapi.Config) { c.Limiter = limiter{err: io.ErrUnexpectedEOF} }},
		{"full", 503, func(c *httpapi.Config) { c.MaxInFlight = 0 }},
		{"no time", 504, func(c *httpapi.Config) { c.RunLimit = time.Nanosecond }},
		{"switched off", 501, func(c *httpapi.Config) { c.Disabled = []string{"dns-lookup"} }},
		{"denied", 400, func(c *httpapi.Config) { c.Deny, _ = target.ParseDenylist("test-site.com") }},
	}
	for _, tt := range tests {
		s := gatewayOn(t, n.Client(nil), certs, nil, tt.change)
		if status, envelope := ask(t, d, s, "POST", path, path, body); status != tt.status {
			t.Errorf("%s: status %d, want %d: %v", tt.name, status, tt.status, envelope)
		}
	}
}

type limiter struct {
	decision ratelimit.Decision
	err      error
}

func (l limiter) Take(context.Context, []ratelimit.Charge) (ratelimit.Decision, error) {
	return l.decision, l.err
}

// A tool that somebody adds must be described before it is served.
func TestOpenAPIRefusesAnUnknownTool(t *testing.T) {
	t.Parallel()
	n, certs := network(t)
	s := gatewayOn(t, n.Client(nil), certs, nil, func(c *httpapi.Config) {
		c.Tools = append(c.Tools, tool.New(tool.Spec[target.Domain, int]{
			Slug:  "new-tool",
			Parse: func(tool.Input) (target.Domain, error) { return target.Domain{}, nil },
			Run:   func(context.Context, target.Domain) (int, error) { return 1, nil },
		}))
	})
	resp, err := s.Client().Post(s.URL+"/api/tools/new-tool", "application/json", bytes.NewBufferString(`{"input":"a"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	if err := description(t).Check("POST", "/api/tools/new-tool", resp, body); err == nil {
		t.Error("an answer that is not described passed")
	}
}

//go:build e2e

package e2e

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

func TestConnectionRoutes(t *testing.T) {
	for _, probe := range []string{"ping", "packet-loss"} {
		path := "/api/connection/" + probe
		a := do(t, service.Gateway, http.MethodGet, path+"?n=7", nil, nil)
		facts{"probe": probe, "n": 7, "serverTime": nonEmpty}.hold(t, a)
		show(t, path, a)
		facts{"n": nil}.hold(t, do(t, service.Gateway, http.MethodGet, path, nil, nil))
		if a := do(t, service.Gateway, http.MethodGet, path+"?n=x", nil, nil); a.Status != 400 {
			t.Errorf("%s?n=x: status %d", path, a.Status)
		}
		if a := fetch(t, service.Gateway, http.MethodHead, path, nil, nil); a.Status != 200 {
			t.Errorf("HEAD %s: status %d", path, a.Status)
		}
		if a := do(t, service.Gateway, http.MethodOptions, path, nil, nil); a.Status != 405 {
			t.Errorf("OPTIONS %s: status %d", path, a.Status)
		}
	}
}

func TestHealthAndReadiness(t *testing.T) {
	if a := fetch(t, service.Gateway, http.MethodGet, "/healthz", nil, nil); a.Status != 200 ||
		strings.TrimSpace(string(a.Body)) != "ok" {
		t.Errorf("/healthz: status %d, %q", a.Status, a.Body)
	}
	var ready struct{ Status, Redis, Worker string }
	a := fetch(t, service.Gateway, http.MethodGet, "/readyz", nil, nil)
	if err := json.Unmarshal(a.Body, &ready); err != nil || a.Status != 200 || ready.Status != "ready" ||
		ready.Redis != "off" || ready.Worker != "ok" {
		t.Errorf("/readyz: status %d, %s, %v", a.Status, a.Body, err)
	}
	var families struct {
		Families []int
		Mode     string
	}
	a = fetch(t, service.Worker, http.MethodGet, "/readyz", nil, nil)
	if err := json.Unmarshal(a.Body, &families); err != nil || len(families.Families) != 2 || families.Mode != "raw" {
		t.Errorf("the worker's /readyz: status %d, %s, %v", a.Status, a.Body, err)
	}
}

func TestOpenAPI(t *testing.T) {
	a := fetch(t, service.Gateway, http.MethodGet, "/api/openapi.yaml", nil, nil)
	if a.Status != 200 || !strings.HasPrefix(a.Header.Get("Content-Type"), "application/yaml") ||
		!strings.Contains(string(a.Body), "openapi: 3.1") {
		t.Errorf("status %d, %s, %.200s", a.Status, a.Header.Get("Content-Type"), a.Body)
	}
}

func TestPages(t *testing.T) {
	const policy = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
	paths := []string{"/", "/report", "/history", "/api", "/privacy", "/robots.txt"}
	description, err := described()
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range description.Tools() {
		paths = append(paths, "/tools/"+tool.Slug)
	}
	for _, path := range paths {
		a := fetch(t, service.Gateway, http.MethodGet, path, nil, nil)
		if a.Status != 200 {
			t.Errorf("%s: status %d", path, a.Status)
		}
		if got := a.Header.Get("Content-Security-Policy"); path != "/robots.txt" && got != policy {
			t.Errorf("%s: policy %q", path, got)
		}
	}
	if a := fetch(t, service.Gateway, http.MethodGet, "/tools/nothing", nil, nil); a.Status != 404 {
		t.Errorf("an unknown page: status %d", a.Status)
	}
}

func TestOrderOfChecks(t *testing.T) {
	own := "http://" + service.Gateway.Addr
	long := strings.Repeat("a", 5000)
	tests := []struct {
		name, method, path, body string
		header                   map[string]string
		status                   int
	}{
		{name: "unknown tool", path: "/api/tools/nothing", body: `{"input":""}`, status: 404},
		{name: "unknown route", path: "/api/nothing", status: 404},
		{name: "wrong method", method: "GET", path: "/api/tools/dns-lookup", status: 405},
		{name: "foreign origin", body: `{"input":"lab-dns.com"}`, header: map[string]string{"Origin": "http://evil.lab-site.com"}, status: 403},
		{name: "null origin", body: `{"input":"lab-dns.com"}`, header: map[string]string{"Origin": "null"}, status: 403},
		{name: "cross-site", body: `{"input":"lab-dns.com"}`, header: map[string]string{"Sec-Fetch-Site": "cross-site"}, status: 403},
		{name: "own origin", body: `{"input":"lab-dns.com"}`, header: map[string]string{"Origin": own}, status: 200},
		{name: "not JSON", body: `input=lab-dns.com`, header: map[string]string{"Content-Type": "text/plain"}, status: 415},
		{name: "compressed", body: `x`, header: map[string]string{"Content-Encoding": "gzip"}, status: 415},
		{name: "too large", body: `{"input":"` + long + `"}`, status: 413},
		{name: "broken JSON", body: `{"input":`, status: 400},
		{name: "input not a string", body: `{"input":7}`, status: 400},
		{name: "input too long", body: `{"input":"` + long[:2049] + `"}`, status: 400},
		{name: "options not an object", body: `{"input":"lab-dns.com","options":[]}`, status: 400},
		{name: "unknown keys", body: `{"input":"lab-dns.com","other":1,"options":null}`, status: 200},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			header := http.Header{"Content-Type": {"application/json"}}
			for name, value := range test.header {
				header.Set(name, value)
			}
			method, path := test.method, test.path
			if method == "" {
				method = http.MethodPost
			}
			if path == "" {
				path = "/api/tools/dns-lookup"
			}
			if a := do(t, service.Gateway, method, path, []byte(test.body), header); a.Status != test.status {
				t.Errorf("status %d, want %d: %.300s", a.Status, test.status, a.Body)
			}
		})
	}
}

func TestMyIP(t *testing.T) {
	forwarded := http.Header{"X-Forwarded-For": {"11.80.0.99, 10.0.0.1"}, "X-Real-Ip": {"2a10:80::99"}}
	a := post(t, service.Gateway, "my-ip", map[string]any{"input": ""}, forwarded.Clone())
	facts{"available": false, "ip": nil, "version": nil, "reason": nonEmpty}.hold(t, a)
	if containsAny(string(a.Body), "11.80.0.99", "2a10:80::99", "127.") {
		t.Errorf("an untrusting gateway tells an address: %s", a.Body)
	}
	trusting, err := service.StartGateway(t.Context(), "gateway-trusting", "TRUST_PROXY_HEADERS=true")
	if err != nil {
		t.Fatal(err)
	}
	a = post(t, trusting, "my-ip", map[string]any{"input": ""}, forwarded.Clone())
	facts{"available": true, "ip": "2a10:80::99", "version": 6, "reason": nil}.hold(t, a)
	show(t, "my-ip", a)
	forwarded.Set("CF-Connecting-IP", "11.80.0.98")
	a = post(t, trusting, "my-ip", map[string]any{"input": ""}, forwarded.Clone())
	facts{"available": true, "ip": "11.80.0.98", "version": 4}.hold(t, a)
	private := http.Header{"X-Real-Ip": {"10.0.0.1"}}
	facts{"available": false, "ip": nil, "reason": nonEmpty}.hold(t,
		post(t, trusting, "my-ip", map[string]any{"input": ""}, private))
}

// Limits hold in the shipped binary: a burst to one target, then 429 with the time to wait.
func TestRateLimit(t *testing.T) {
	limited, err := service.StartGateway(t.Context(), "gateway-limited", "RATE_LIMIT_REQUESTS=3", "RATE_LIMIT_WINDOW=60s")
	if err != nil {
		t.Fatal(err)
	}
	for n := range 5 {
		a := post(t, limited, "dns-lookup", map[string]any{"input": "lab-dns.com"}, nil)
		want := 200
		if n >= 3 {
			want = 429
		}
		if a.Status != want || a.Header.Get("X-RateLimit-Limit") != "3" {
			t.Errorf("request %d: status %d, want %d, limit %q", n+1, a.Status, want, a.Header.Get("X-RateLimit-Limit"))
		}
		if retry := a.Header.Get("Retry-After"); (retry != "") != (want == 429) {
			t.Errorf("request %d: Retry-After %q", n+1, retry)
		}
	}
}

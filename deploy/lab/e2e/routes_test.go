//go:build e2e

package e2e

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

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

// The fourth request of three is refused, and each response reports the limit.
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

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/httpapi"
	"diagnostics/gateway/internal/limits/addresslimit"
	"diagnostics/gateway/internal/limits/ratelimit"
)

// limitedGateway is the real edge with the real tools and address limits of so many requests, over a private internet
// with four hundred names of one address. Nothing refills while a test runs.
func limitedGateway(t *testing.T, requests int) (*httptest.Server, *egresstest.Network) {
	t.Helper()
	n, certs := network(t)
	for i := range 400 {
		n.Records(fmt.Sprintf("n%d.many-names.com. 300 IN A 93.184.216.34", i))
	}
	n.Serve("93.184.216.77:80", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://n9.many-names.com/", http.StatusFound)
	}))
	addresses := addresslimit.New(ratelimit.NewMemory(), requests, 100*time.Hour)
	client := n.Client(func(s *egress.Settings) { s.Charge = addresses.Allow }, egress.WithChecker(certs))
	return gatewayOn(t, client, certs, fakeWorker(t), func(c *httpapi.Config) {
		c.Limits.Tool, c.Limits.Client, c.Limits.Target = perMinute(10_000), perMinute(10_000), perMinute(10_000)
	}), n
}

// askAs runs a tool for a client and gives the answer with its body.
func askAs(t *testing.T, s *httptest.Server, client, slug, input string) (*http.Response, string) {
	t.Helper()
	body, err := json.Marshal(map[string]string{"input": input})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/api/tools/"+slug,
		strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Real-IP", client)
	resp, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(answer)
}

// Four hundred names of one address are one address.
func TestNamesOfOneAddress(t *testing.T) {
	t.Parallel()
	s, n := limitedGateway(t, 1200)
	passed := 0
	for i := range 400 {
		resp, body := askAs(t, s, "198.51.100.1", "http-headers", fmt.Sprintf("http://n%d.many-names.com/", i))
		switch resp.StatusCode {
		case http.StatusOK:
			passed++
		case http.StatusTooManyRequests:
			if resp.Header.Get("Retry-After") == "" || resp.Header.Get("X-RateLimit-Limit") != "10000" ||
				!strings.Contains(body, "Too many of your requests went to this server's address. Try again in ") {
				t.Fatalf("%v %s", resp.Header, body)
			}
		default:
			t.Fatalf("%d %s", resp.StatusCode, body)
		}
	}
	if dials := len(n.Dials()); passed != 120 || dials != 120 {
		t.Errorf("%d of 400 passed with %d dials, want 120", passed, dials)
	}
	for _, ask := range [][2]string{{"port-checker", "n1.many-names.com:80"}, {"traceroute", "n2.many-names.com"},
		{"ssl-checker", "93.184.216.34"}, {"uptime", "http://n3.many-names.com/"}} {
		if resp, body := askAs(t, s, "198.51.100.1", ask[0], ask[1]); resp.StatusCode != http.StatusTooManyRequests {
			t.Errorf("%s: %d %s", ask[0], resp.StatusCode, body)
		}
	}
	if resp, body := askAs(t, s, "198.51.100.2", "http-headers", "http://n1.many-names.com/"); resp.StatusCode != 200 {
		t.Errorf("another client: %d %s", resp.StatusCode, body)
	}
}

// Twenty ports of an address, over all tools and however they are reached.
func TestPortsOfOneAddress(t *testing.T) {
	t.Parallel()
	s, n := limitedGateway(t, 0)
	passed := 0
	for port := 1; port <= 120; port++ {
		resp, body := askAs(t, s, "198.51.100.1", "port-checker", fmt.Sprintf("n%d.many-names.com:%d", port, port))
		if resp.StatusCode == http.StatusOK {
			passed++
		} else if resp.StatusCode != http.StatusTooManyRequests || !strings.Contains(body, "too many different ports") {
			t.Fatalf("%d %s", resp.StatusCode, body)
		}
	}
	if dials := len(n.Dials()); passed != 20 || dials != 20 {
		t.Errorf("%d of 120 ports with %d dials, want 20", passed, dials)
	}
	for _, c := range []struct {
		client, slug, input string
		want                int
	}{
		{"198.51.100.1", "port-checker", "n1.many-names.com:7", 200},
		{"198.51.100.1", "http-headers", "http://n1.many-names.com/", 429},
		{"198.51.100.1", "ssl-checker", "n1.many-names.com:8443", 429},
		{"198.51.100.1", "ping", "n1.many-names.com", 200},
		{"198.51.100.2", "port-checker", "n1.many-names.com:99", 200},
	} {
		if resp, body := askAs(t, s, c.client, c.slug, c.input); resp.StatusCode != c.want {
			t.Errorf("%s %s of %s: %d %s", c.slug, c.input, c.client, resp.StatusCode, body)
		}
	}
	resp, body := askAs(t, s, "198.51.100.1", "redirect-checker", "http://93.184.216.77/")
	if resp.StatusCode != http.StatusOK || !strings.Contains(body, `"outcome":"blocked"`) ||
		!strings.Contains(body, "too many different ports") {
		t.Errorf("a redirect: %d %s", resp.StatusCode, body)
	}
}

// What no visitor's input led to is not charged: name servers, the four resolvers that are compared, registries.
func TestUnchargedDials(t *testing.T) {
	t.Parallel()
	s, _ := limitedGateway(t, 1)
	for round := range 3 {
		for _, ask := range [][2]string{
			{"dns-lookup", "site.test-site.com"}, {"dns-resolver-check", "site.test-site.com"},
			{"whois-lookup", "test-site.com"}, {"whois-lookup", "example.com"}, {"ip-geolocation", "93.184.216.34"},
			{"ip-geolocation", "1.1.1.1"}, {"asn-lookup", "AS15169"}, {"email-dns-health", "null-site.com"}, {"my-ip", ""},
		} {
			if resp, body := askAs(t, s, "198.51.100.1", ask[0], ask[1]); resp.StatusCode != http.StatusOK {
				t.Errorf("round %d, %s: %d %s", round, ask[0], resp.StatusCode, body)
			}
		}
	}
	// Its registry's address is the site's own, whose one request is still there.
	for i, want := range []int{http.StatusOK, http.StatusTooManyRequests} {
		if resp, body := askAs(t, s, "198.51.100.1", "port-checker", "93.184.216.34:80"); resp.StatusCode != want {
			t.Errorf("visit %d: %d %s", i, resp.StatusCode, body)
		}
	}
}

package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"diagnostics/gateway/apitest"
	"diagnostics/gateway/internal/apidoc/openapi"
	"diagnostics/gateway/internal/egress"
)

// ask sends one request and holds its answer against the description.
func ask(
	t *testing.T, d *apitest.Description, s *httptest.Server, method, path, described, body string, headers ...string,
) (int, map[string]any) {
	t.Helper()
	req, err := http.NewRequest(method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Check(method, described, resp, answer); err != nil {
		t.Errorf("%s %s: %v", method, path, err)
	}
	var envelope map[string]any
	_ = json.Unmarshal(answer, &envelope)
	return resp.StatusCode, envelope
}

// realRequests are requests to the real tools on the test's network, and what they are answered.
var realRequests = []struct {
	slug, body string
	status     int
}{
	{"dns-lookup", `{"input":"site.test-site.com"}`, 200},
	{"dns-lookup", `{"input":"alias.test-site.com"}`, 200},
	{"dns-lookup", `{"input":"no-such-name.test-site.com"}`, 200},
	{"dns-lookup", `{"input":"inside.test-site.com"}`, 200},
	{"dns-lookup", `{"input":"localhost"}`, 400},
	{"dns-lookup", `{"input":"every-type.com","options":{"types":"all"}}`, 200},
	{"dns-lookup", `{"input":"every-type.com","options":{"types":"caa, HTTPS"}}`, 200},
	{"dns-lookup", `{"input":"no-such-name.test-site.com","options":{"types":"all"}}`, 200},
	{"dns-lookup", `{"input":"34.216.184.93.in-addr.arpa","options":{"types":"PTR"}}`, 200},
	{"dns-lookup", `{"input":"1.0.0.10.in-addr.arpa","options":{"types":"PTR"}}`, 400},
	{"dns-lookup", `{"input":"93.184.216.34"}`, 400},
	{"dns-lookup", `{"input":"every-type.com","options":{"types":""}}`, 400},
	{"http-headers", `{"input":"http://site.test-site.com/"}`, 200},
	{"http-headers", `{"input":"https://site.test-site.com/moved"}`, 200},
	{"http-headers", `{"input":"https://site.test-site.com:8443/"}`, 200},
	{"http-headers", `{"input":"http://inside.test-site.com/"}`, 400},
	{"http-headers", `{"input":"http://empty.test-site.com/"}`, 400},
	{"http-headers", `{"input":"http://10.0.0.1/"}`, 400},
	{"http-headers", `{"input":"http://down.test-site.com/"}`, 502},
	{"uptime", `{"input":"https://site.test-site.com/"}`, 200},
	{"uptime", `{"input":"http://site.test-site.com/moved"}`, 200},
	{"uptime", `{"input":"http://site.test-site.com/inside"}`, 200},
	{"uptime", `{"input":"http://pair.test-site.com/"}`, 200},
	{"uptime", `{"input":"http://site.test-site.com/broken"}`, 200},
	{"uptime", `{"input":"http://site.test-site.com/missing"}`, 200},
	{"uptime", `{"input":"https://site.test-site.com:8443/"}`, 200},
	{"uptime", `{"input":"http://down.test-site.com/"}`, 200},
	{"uptime", `{"input":"http://empty.test-site.com/"}`, 200},
	{"uptime", `{"input":"http://inside.test-site.com/"}`, 400},
	{"ssl-checker", `{"input":"site.test-site.com"}`, 200},
	{"ssl-checker", `{"input":"site.test-site.com:8443"}`, 200},
	{"ssl-checker", `{"input":"93.184.216.34:443"}`, 200},
	{"ssl-checker", `{"input":"down.test-site.com"}`, 502},
	{"ssl-checker", `{"input":"site.test-site.com:80"}`, 502},
	{"ssl-checker", `{"input":"inside.test-site.com"}`, 400},
	{"port-checker", `{"input":"site.test-site.com:443"}`, 200},
	{"port-checker", `{"input":"site.test-site.com:82"}`, 200},
	{"port-checker", `{"input":"down.test-site.com:443"}`, 200},
	{"port-checker", `{"input":"site.test-site.com"}`, 400},
	{"redirect-checker", `{"input":"http://site.test-site.com/moved"}`, 200},
	{"redirect-checker", `{"input":"https://site.test-site.com:8443/inside"}`, 200},
	{"redirect-checker", `{"input":"http://site.test-site.com/page"}`, 200},
	{"redirect-checker", `{"input":"http://down.test-site.com/"}`, 200},
	{"redirect-checker", `{"input":"http://empty.test-site.com/"}`, 400},
	{"redirect-checker", `{"input":"http://inside.test-site.com/"}`, 400},
	{"robots-sitemap", `{"input":"http://site.test-site.com/page"}`, 200},
	{"robots-sitemap", `{"input":"https://site.test-site.com:8443/"}`, 200},
	{"robots-sitemap", `{"input":"http://down.test-site.com/"}`, 200},
	{"robots-sitemap", `{"input":"http://empty.test-site.com/"}`, 400},
	{"robots-sitemap", `{"input":"http://inside.test-site.com/"}`, 400},
	{"my-ip", `{"input":""}`, 200},
	{"my-ip", `{"input":"x"}`, 400},
	{"whois-lookup", `{"input":"www.test-site.com"}`, 200},
	{"whois-lookup", `{"input":"other-site.com"}`, 200},
	{"whois-lookup", `{"input":"93.184.216.34"}`, 200},
	{"whois-lookup", `{"input":"93.184.216.36"}`, 200},
	{"whois-lookup", `{"input":"93.184.216.35"}`, 502},
	{"whois-lookup", `{"input":"10.0.0.1"}`, 400},
	{"email-dns-health", `{"input":"post-site.com","options":{"dkimSelector":"S1"}}`, 200},
	{"email-dns-health", `{"input":"post-site.com"}`, 200},
	{"email-dns-health", `{"input":"site.test-site.com"}`, 200},
	{"email-dns-health", `{"input":"null-site.com","options":{"dkimSelector":null}}`, 200},
	{"email-dns-health", `{"input":"no-such-name.test-site.com"}`, 200},
	{"email-dns-health", `{"input":"post-site.com","options":{"dkimSelector":"a b"}}`, 400},
	{"dns-delegation", `{"input":"www.deleg-site.com"}`, 200},
	{"dns-delegation", `{"input":"nowhere-site.com"}`, 200},
	{"dns-delegation", `{"input":"93.184.216.34"}`, 400},
	{"dns-resolver-check", `{"input":"site.test-site.com"}`, 200},
	{"dns-resolver-check", `{"input":"site.test-site.com","options":{"recordType":"CAA"}}`, 200},
	{"dns-resolver-check", `{"input":"served.test-zone.com","options":{"recordType":"TXT"}}`, 200},
	{"dns-resolver-check", `{"input":"alias.test-zone.com"}`, 200},
	{"dns-resolver-check", `{"input":"differs.test-site.com","options":{"recordType":"TXT"}}`, 200},
	{"dns-resolver-check", `{"input":"site.test-site.com","options":{"recordType":"ANY"}}`, 400},
	{"security-headers", `{"input":"https://site.test-site.com/"}`, 200},
	{"security-headers", `{"input":"http://site.test-site.com/moved"}`, 200},
	{"security-headers", `{"input":"http://site.test-site.com/missing"}`, 200},
	{"security-headers", `{"input":"https://site.test-site.com:8443/"}`, 200},
	{"security-headers", `{"input":"http://site.test-site.com/inside"}`, 502},
	{"security-headers", `{"input":"http://inside.test-site.com/"}`, 400},
	{"security-headers", `{"input":"http://down.test-site.com/"}`, 502},
	{"asn-lookup", `{"input":"93.184.216.34"}`, 200},
	{"asn-lookup", `{"input":"2606:2800:220:1::34"}`, 200},
	{"asn-lookup", `{"input":"AS15133"}`, 200},
	{"asn-lookup", `{"input":"AS1"}`, 200},
	{"asn-lookup", `{"input":"93.184.216.35"}`, 502},
	{"asn-lookup", `{"input":"AS64512"}`, 400},
	{"ip-geolocation", `{"input":"93.184.216.34"}`, 200},
	{"ip-geolocation", `{"input":"93.184.216.35"}`, 502},
	{"ip-geolocation", `{"input":"93.184.216.36"}`, 200},
	{"ip-geolocation", `{"input":"10.0.0.1"}`, 400},
	{"traceroute", `{"input":"93.184.216.34"}`, 200},
	{"traceroute", `{"input":"site.test-site.com","options":{"family":"ipv5"}}`, 400},
	{"traceroute", `{"input":"alias.test-site.com","options":{"family":"ipv4"}}`, 502},
	{"traceroute", `{"input":"down.test-site.com"}`, 503},
	{"ping", `{"input":"93.184.216.34"}`, 200},
	{"ping", `{"input":"inside.test-site.com"}`, 400},
	{"packet-loss", `{"input":"93.184.216.34"}`, 200},
	{"packet-loss", `{"input":"127.0.0.1"}`, 400},
	{"packet-loss", `{"input":"down.test-site.com"}`, 503},
}

// Every answer here comes from the real tools; each is held against the description, and a status that the table does
// not expect fails.
func TestOpenAPIDescribesEveryRealAnswer(t *testing.T) {
	t.Parallel()
	n, certs := network(t)
	s := gatewayOn(t, n.Client(nil, egress.WithChecker(certs)), certs, fakeWorker(t), nil)
	d := description(t)
	for _, tt := range realRequests {
		path := "/api/tools/" + tt.slug
		status, envelope := ask(t, d, s, "POST", path, path, tt.body)
		if status != tt.status {
			t.Errorf("%s %s: status %d, want %d: %v", tt.slug, tt.body, status, tt.status, envelope)
		}
	}
}

// The request that a description shows is answered, and no tool takes an address of the gateway's own host.
func TestOpenAPIShowsRequestsThatWork(t *testing.T) {
	t.Parallel()
	n, certs := network(t)
	s := gatewayOn(t, n.Client(nil, egress.WithChecker(certs)), certs, fakeWorker(t), nil)
	d := description(t)
	for _, one := range registry() {
		slug, path := one.Slug(), "/api/tools/"+one.Slug()
		for body, want := range map[string]int{typical(t, d, slug): 200, `{"input":"127.0.0.1"}`: 400} {
			if status, envelope := ask(t, d, s, "POST", path, path, body); status != want {
				t.Errorf("%s: on the network of gateway/network_test.go %s is answered with %d, want %d: %v",
					openapi.File(slug), body, status, want, envelope)
			}
		}
	}
}

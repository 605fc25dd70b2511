//go:build e2e

package e2e

import (
	"strings"
	"testing"
)

// check is one request to a tool with the facts that must hold of its answer.
type check struct {
	name    string
	input   string
	options map[string]any
	status  int // 200 where 0
	facts   facts
}

func runChecks(t *testing.T, slug string, checks []check) {
	t.Parallel()
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := call(t, slug, c.input, c.options)
			want := c.status
			if want == 0 {
				want = 200
			}
			if a.Status != want {
				t.Fatalf("%s %q: status %d, want %d: %.500s", slug, c.input, a.Status, want, a.Body)
			}
			c.facts.hold(t, a)
		})
	}
}

func TestDNSLookup(t *testing.T) {
	runChecks(t, "dns-lookup", []check{
		{name: "unescaped text", input: "lab-dns.com.", facts: facts{
			"records.TXT": func(v any) bool {
				list, _ := v.([]any)
				for _, text := range list {
					if text == `two chunks, a quote " and a semicolon;` {
						return len(list) == 3
					}
				}
				return false
			},
		}},
		{name: "a name inside is not there", input: "redis.backend", facts: facts{
			"records.A": []string{}, "errors.A": "ENOTFOUND", "errors.MX": "ENOTFOUND", "errors.SOA": "ENOTFOUND", "details.A.rcode": "NXDOMAIN"}},
		{name: "nor through an alias", input: "inside.probe-case.com", facts: facts{
			"records.A": []string{}, "errors.A": "ENOTFOUND", "records.CNAME": []string{"redis.backend"}}},
		{name: "a network's name", input: "redis.project_inside", status: 400},
		{name: "a cloud's name", input: "metadata.goog", status: 400},
		{name: "a bad name", input: "lab dns.com", status: 400},
		{name: "some types", input: "types.lab-dns.com", options: map[string]any{"types": "hinfo, HTTPS"}, facts: facts{
			"records.HTTPS.0.params.alpn": "h3,h2", "records.HTTPS.1.target": "edge.lab-site.com", "records.HINFO.0.os": "Red Hat; Linux\\ \u00c8",
			"records.A": "(absent)", "details.A": "(absent)", "errors": map[string]any{}}},
		{name: "unknown type", input: "types.lab-dns.com", options: map[string]any{"types": "A,ANY"}, status: 400},
		{name: "types of the wrong kind", input: "types.lab-dns.com", options: map[string]any{"types": []string{"A"}}, status: 400},
		{name: "a reverse name", input: "1.0.90.11.in-addr.arpa", options: map[string]any{"types": "PTR"}, facts: facts{
			"records.PTR": []string{"clean.lab-transit.net"}}},
		{name: "a private address's reverse name", input: "1.0.0.10.in-addr.arpa", options: map[string]any{"types": "PTR"}, status: 400},
		{name: "an address", input: "11.90.0.1", status: 400},
	})
}

func TestHTTPHeaders(t *testing.T) {
	fast := internet.Site("fast")
	runChecks(t, "http-headers", []check{
		{name: "an address", input: "http://" + fast.V4.String() + "/", facts: facts{"status": 200}},
		{name: "an IPv6 address", input: "http://[" + fast.V6.String() + "]/", facts: facts{"status": 200}},
	})
}

func TestUptime(t *testing.T) {
	runChecks(t, "uptime", []check{
		{name: "to https", input: "http://upgrade.lab-site.com/", facts: facts{"verdict": "up", "finalUrl": "https://upgrade.lab-site.com/"}},
		{name: "404", input: "http://notfound.lab-site.com/", facts: facts{"online": true, "verdict": "degraded", "status": 404}},
		{name: "500", input: "http://broken.lab-site.com/", facts: facts{"online": false, "verdict": "down", "status": 500}},
		{name: "503", input: "http://unavailable.lab-site.com/", facts: facts{"online": false, "verdict": "down", "status": 503}},
		{name: "expired certificate", input: "https://expired.lab-site.com/", facts: facts{
			"online": true, "verdict": "degraded", "certificateValid": false, "reason": nonEmpty}},
	})
}

func TestPortChecker(t *testing.T) {
	fast := internet.Site("fast")
	runChecks(t, "port-checker", []check{
		{name: "host unreachable", input: "unreachable.lab-transit.net:443", facts: facts{"reachable": false, "state": "unreachable"}},
		{name: "IPv6", input: "[" + fast.V6.String() + "]:443", facts: facts{"state": "open", "addresses.0.family": 6}},
		{name: "IPv4", input: fast.V4.String() + ":443", facts: facts{"state": "open", "addresses.0.family": 4}},
	})
}

func containsAny(s string, parts ...string) bool {
	for _, part := range parts {
		if strings.Contains(s, part) {
			return true
		}
	}
	return false
}

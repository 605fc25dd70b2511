//go:build compose

package compose

import (
	"net/http"
	"sync/atomic"
	"testing"
)

// Every tool has what it needs in its container: names, providers, ports, mail, and the worker's packets.
func TestEachTool(t *testing.T) {
	at := origin(t)
	for _, test := range []struct {
		slug, input string
		options     map[string]any
		parts       []string
	}{
		{"dns-lookup", "lab-dns.com", nil, []string{`"A":["11.80.0.1"]`, `"exchange":"mail.lab-site.com"`}},
		{"http-headers", "https://fast.lab-site.com/", nil, []string{`"status":200`, `"authorized":true`}},
		{"ssl-checker", "fast.lab-site.com", nil, []string{`"authorized":true`, `"protocol":"TLSv1.3"`}},
		{"ssl-checker", "mail.lab-site.com:25", nil, []string{`"authorized":true`, `"starttls":"smtp"`}},
		{"uptime", "http://upgrade.lab-site.com/", nil, []string{`"verdict":"up"`, `"finalUrl":"https://upgrade.lab-site.com/"`}},
		{"port-checker", "fast.lab-site.com:443", nil, []string{`"state":"open"`}},
		{"port-checker", "fast.lab-site.com:81", nil, []string{`"state":"closed"`}},
		{"my-ip", "", nil, []string{`"available":false`}},
		{"ip-geolocation", "11.80.0.1", nil, []string{`"name":"LAB-SITES"`, `"asn":212002`}},
		{"asn-lookup", "11.90.0.1", nil, []string{`"announced":true`, `LAB-FAR`}},
		{"whois-lookup", "charity-site.org", nil, []string{`"found":true`, `"name":"charity-site.org"`}},
		{"redirect-checker", "http://redirects.lab-site.com/chain/3", nil, []string{`"outcome":"final"`, `"redirectCount":3`}},
		{"robots-sitemap", "https://robots.lab-site.com/", nil, []string{`"effect":"rules"`}},
		{"dns-resolver-check", "agree.lab-resolve.com", map[string]any{"recordType": "A"}, []string{`"status":"agree"`}},
		{"email-dns-health", "lab-good-mail.com", map[string]any{"dkimSelector": "s1"}, []string{`"overall":"pass"`}},
		{"security-headers", "https://sec-good.lab-site.com/", nil, []string{`"id":"hsts"`, `"status":200`}},
		{"traceroute", "clean.lab-transit.net", nil, []string{`"reached":true`}},
		{"ping", "clean.lab-transit.net", nil, []string{`"received":10`, `"lossPercent":0`}},
		{"packet-loss", "clean.lab-transit.net", nil, []string{`"received":50`, `"lossPercent":0`}},
	} {
		t.Run(test.slug+" "+test.input, func(t *testing.T) {
			t.Parallel()
			a, err := newVisitor().ask(at, test.slug, test.input, test.options, nil)
			if err != nil {
				t.Fatal(err)
			}
			a.wants(t, test.slug, http.StatusOK, test.parts...)
		})
	}
}

// The worker's container has the rights that traces need, of each kind, and shows the way through the two routers: this
// host, whose private address is hidden (and which answers few probes a second), and the one behind it.
func TestTraces(t *testing.T) {
	at := origin(t)
	var hidden atomic.Bool
	t.Cleanup(func() {
		if !hidden.Load() {
			t.Error("no trace has the first router")
		}
	})
	for _, options := range []map[string]any{
		{"protocol": "icmp"}, {"protocol": "udp"}, {"protocol": "tcp", "port": 80}, {"protocol": "tcp", "port": 9},
	} {
		t.Run(options["protocol"].(string), func(t *testing.T) {
			t.Parallel()
			a, err := newVisitor().ask(at, "traceroute", "11.90.0.1", options, nil)
			if err != nil {
				t.Fatal(err)
			}
			a.wants(t, "traceroute", http.StatusOK, `"reached":true`)
			type hop struct {
				Address string
				Hidden  bool
			}
			reported, err := read[struct {
				Data struct{ Hops []hop }
			}](a.body)
			if err != nil {
				t.Fatal(err)
			}
			hops := reported.Data.Hops
			if len(hops) != 3 || hops[0].Address != "" || hops[1].Address != routerAddress || hops[2].Address != "11.90.0.1" {
				t.Fatalf("not the three hops: %s", a.body)
			}
			hidden.Store(hidden.Load() || hops[0].Hidden)
		})
	}
}

func TestPages(t *testing.T) {
	get(t, origin(t)+"/tools/dns-lookup").wants(t, "a page", http.StatusOK, "<form")
	get(t, origin(t)+"/api/openapi.yaml").wants(t, "the OpenAPI file", http.StatusOK, "openapi: 3.1")
}

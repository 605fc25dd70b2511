package tools

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tools/emaildnshealth"
	"diagnostics/gateway/internal/tools/httpheaders"
	"diagnostics/gateway/internal/tools/internal/toolstest"
	"diagnostics/gateway/internal/tools/packetloss"
	"diagnostics/gateway/internal/tools/ping"
	"diagnostics/gateway/internal/tools/portchecker"
	"diagnostics/gateway/internal/tools/redirectchecker"
	"diagnostics/gateway/internal/tools/robotssitemap"
	"diagnostics/gateway/internal/tools/securityheaders"
	"diagnostics/gateway/internal/tools/sslchecker"
	"diagnostics/gateway/internal/tools/traceroute"
	"diagnostics/gateway/internal/tools/uptime"
)

// What a limit says, which steps repeat.
const (
	overLimit = "ADDRESS_BUSY"
	saysLimit = "Too many requests are going to this server's address at the moment. Try again in 7 seconds."
)

// limitedAt refuses the dials to some addresses, as a limit does.
func limitedAt(addresses ...string) func(*egress.Settings) {
	return func(s *egress.Settings) {
		s.Charge = func(_ context.Context, to netip.AddrPort) error {
			if slices.Contains(addresses, to.Addr().String()) {
				return fault.LimitedFor(7*time.Second, overLimit)
			}
			return nil
		}
	}
}

const (
	v4, v6    = toolstest.WebV4, toolstest.WebV6
	elsewhere = "93.184.216.99" // where the site's redirects, sitemaps and policy lead
)

// limitedWeb is a site of both families, and another that it leads to.
func limitedWeb(t *testing.T) *egresstest.Network {
	t.Helper()
	n := egresstest.New(t)
	n.Records("example.com. 300 IN A "+v4, "example.com. 300 IN AAAA "+v6, "four.example.com. 300 IN A "+v4,
		"other.example.com. 300 IN A "+elsewhere,
		"example.com. 300 IN MX 10 example.com.", `_mta-sts.example.com. 300 IN TXT "v=STSv1; id=1"`,
		"mta-sts.example.com. 300 IN A "+elsewhere)
	site := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			_, _ = w.Write([]byte("User-agent: *\nSitemap: http://other.example.com/sitemap.xml\n"))
		case "/moved":
			http.Redirect(w, r, "http://other.example.com/", http.StatusFound)
		}
	})
	certificate := toolstest.NewAuthority(t).Issue("example.com", time.Now().Add(time.Hour))
	for _, at := range []string{v4, "[" + v6 + "]", elsewhere} {
		n.Serve(at+":80", site)
	}
	n.ServeTLS(v4+":443", certificate, site)
	return n
}

// at follows a path such as "families.ipv4.state" or "hops.1.statusText" in a result.
func at(t *testing.T, result any, path string) any {
	t.Helper()
	var here any = toolstest.Fields(t, result)
	for step := range strings.SplitSeq(path, ".") {
		switch v := here.(type) {
		case map[string]any:
			here = v[step]
		case []any:
			i := int(step[0] - '0')
			if len(step) != 1 || i >= len(v) {
				t.Fatalf("no %s of %s in %v", step, path, v)
			}
			here = v[i]
		default:
			t.Fatalf("no %s of %s in %v", step, path, here)
		}
	}
	return here
}

// Where a limit stands before the first dial the run fails as Limited; in a later step, that step says so, and nothing
// is reported as the target's fault.
func TestLimitsOfAnAddress(t *testing.T) {
	t.Parallel()
	all := []string{v4, v6, elsewhere}
	type fields map[string]any
	cases := []struct {
		name, slug, input string
		at                []string
		kind              fault.Kind // of the failure, 0 for a result
		fields            fields
	}{
		{"first", "http-headers", "http://example.com/", all, fault.Limited, nil},
		{"one family", "http-headers", "http://example.com/", []string{v6}, 0, fields{"address": v4}},
		{"one family, the other dead", "http-headers", "http://example.com:81/", []string{v6}, fault.Limited, nil},
		{"not followed", "http-headers", "http://example.com/moved", []string{elsewhere}, 0, fields{"status": 302.0}},

		{"first", "security-headers", "http://example.com/", all, fault.Limited, nil},
		{"later hop", "security-headers", "http://example.com/moved", []string{elsewhere}, fault.Upstream, nil},

		{"first", "redirect-checker", "http://example.com/", all, fault.Limited, nil},
		{"later hop", "redirect-checker", "http://example.com/moved", []string{elsewhere}, 0, fields{
			"outcome": "blocked", "hops.1.statusText": saysLimit, "hops.1.status": nil, "redirectCount": 0.0, "finalUrl": nil,
			"summary": "No redirect was followed. The next destination was not visited. " + saysLimit,
		}},

		{"first", "uptime", "http://example.com/", all, fault.Limited, nil},
		{"only family", "uptime", "http://four.example.com/", all, fault.Limited, nil},
		{"one family", "uptime", "http://example.com/", []string{v4}, 0, fields{
			"verdict": "up", "online": true, "reason": nil, "families.ipv4.state": "skipped", "families.ipv4.reason": saysLimit,
			"families.ipv4.address": v4, "families.ipv6.state": "up",
		}},
		{"one family, the other dead", "uptime", "http://example.com:81/", []string{v4}, fault.Limited, nil},
		{"later hop", "uptime", "http://example.com/moved", []string{elsewhere}, 0, fields{
			"verdict": "degraded", "online": true, "reason": "A redirect could not be followed: " + saysLimit,
		}},

		{"first", "robots-sitemap", "http://example.com/", all, fault.Limited, nil},
		{"sitemap elsewhere", "robots-sitemap", "http://example.com/", []string{elsewhere}, 0, fields{
			"robots.status": "found", "sitemaps.0.status": "unreachable", "sitemaps.0.issues.0.code": "LIMIT_REACHED",
			"sitemaps.0.issues.0.severity": "info", "sitemaps.0.issues.0.message": "The file was not fetched. " + saysLimit,
		}},

		{"first", "ssl-checker", "example.com", all, fault.Limited, nil},
		{"one address", "ssl-checker", "example.com", []string{v6}, 0, fields{"address": v4}},
		{"one address, the other dead", "ssl-checker", "example.com", []string{v4}, fault.Limited, nil},

		{"first", "port-checker", "example.com:80", all, fault.Limited, nil},
		{"one address", "port-checker", "example.com:80", []string{v4}, 0, fields{
			"state": "open", "address": v6, "addresses.0.state": "skipped", "addresses.0.reason": saysLimit,
			"addresses.0.responseTimeMs": nil, "addresses.1.state": "open",
		}},
		{"one address, the other closed", "port-checker", "example.com:81", []string{v4}, fault.Limited, nil},

		{"policy", "email-dns-health", "example.com", []string{elsewhere}, 0, fields{
			"checks.mtaSts.status": "error", "checks.mtaSts.issues.0.code": "MTASTS_NOT_FINISHED",
			"checks.mtaSts.issues.0.message": "The policy could not be fetched: " + saysLimit,
		}},

		{"before the worker", "ping", "example.com", []string{v4}, fault.Limited, nil},
		{"before the worker", "packet-loss", "example.com", []string{v4}, fault.Limited, nil},
		{"before the worker", "traceroute", "example.com", []string{v4}, fault.Limited, nil},
	}
	for _, c := range cases {
		t.Run(c.slug+" "+c.name, func(t *testing.T) {
			t.Parallel()
			n := limitedWeb(t)
			worker := &toolstest.Worker{Families: []int{4, 6}}
			client, asked := n.Client(limitedAt(c.at...)), worker.Start(t)
			for _, tl := range []tool.Tool{
				httpheaders.New(client), securityheaders.New(client, time.Now), redirectchecker.New(client), uptime.New(client),
				robotssitemap.New(client), portchecker.New(client),
				sslchecker.New(client, certs.Checker{}, toolstest.Store(t), time.Now),
				emaildnshealth.New(client), ping.New(client, asked), packetloss.New(client, asked),
				traceroute.New(client, asked, nil),
			} {
				if tl.Slug() != c.slug {
					continue
				}
				got, err := toolstest.Run(t.Context(), tl, tool.Input{Text: c.input})
				if c.kind != 0 {
					wantFault(t, err, c.kind)
				} else if err != nil {
					t.Fatal(err)
				}
				for path, want := range c.fields {
					if value := at(t, got, path); value != want {
						t.Errorf("%s: %v, want %v", path, value, want)
					}
				}
			}
			for _, dial := range n.Dials() {
				if slices.Contains(c.at, dial.Addr().String()) {
					t.Errorf("%v was dialled", dial)
				}
			}
			if len(worker.Requests()) != 0 {
				t.Error("the worker was asked")
			}
		})
	}
}

func wantFault(t *testing.T, err error, kind fault.Kind) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != kind || !strings.HasSuffix(f.Sentence(), saysLimit) {
		t.Fatalf("got %v, want kind %d and %q", err, kind, saysLimit)
	}
	if kind == fault.Limited && f.RetryAfter != 7*time.Second {
		t.Errorf("again after %s", f.RetryAfter)
	}
}

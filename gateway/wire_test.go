package main

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/gateway/internal/config"
	"diagnostics/gateway/internal/limits/pace"
	"diagnostics/gateway/internal/limits/ratelimit"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tools"
	"diagnostics/gateway/web"

	"github.com/alicebob/miniredis/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
)

// In no stretch of time is a server asked more often than its burst and what its pace gives in that time, by any number
// of clients.
func TestServerBuckets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limiter := pace.New(serverBuckets{ratelimit.NewMemory()})
		slow := pace.Pace{Burst: 3, Every: 2100 * time.Millisecond}
		var mu sync.Mutex
		var asked []time.Time
		var running sync.WaitGroup
		for i := range 600 {
			running.Go(func() {
				if limiter.Wait(t.Context(), "one:443", slow, tool.Caller{Client: fmt.Sprint(i)}) == nil {
					mu.Lock()
					defer mu.Unlock()
					asked = append(asked, time.Now())
				}
			})
			time.Sleep(100 * time.Millisecond)
		}
		running.Wait()
		const stretch = 10500*time.Millisecond - time.Microsecond
		most := 0
		for i, from := range asked {
			n := 0
			for _, at := range asked[i:] {
				if at.Sub(from) < stretch {
					n++
				}
			}
			most = max(most, n)
		}
		if most != 7 && most != 8 {
			t.Errorf("%d times in 10.5 s", most)
		}
		if err := limiter.Wait(t.Context(), "other:443", slow, tool.Caller{}); err != nil {
			t.Errorf("another server: %v", err)
		}
	})
}

// asnZone answers for a zone of its own on loopback and counts the questions.
func asnZone(t *testing.T, texts map[string]string) (address string, asked *atomic.Int32) {
	t.Helper()
	asked = new(atomic.Int32)
	return nameServer(t, func(w dns.ResponseWriter, q *dns.Msg) {
		asked.Add(1)
		m := new(dns.Msg).SetReply(q)
		text, ok := texts[q.Question[0].Name]
		if !ok {
			m.Rcode = dns.RcodeNameError
		} else {
			m.Answer = []dns.RR{&dns.TXT{Hdr: dns.RR_Header{Name: q.Question[0].Name, Rrtype: dns.TypeTXT, Class: dns.ClassINET,
				Ttl: 300}, Txt: []string{text}}}
		}
		_ = w.WriteMsg(m)
	}), asked
}

// The setting names the zone, the operator's resolvers are asked, and what one instance learnt the others know.
func TestASNAnswersAreShared(t *testing.T) {
	t.Parallel()
	resolver, asked := asnZone(t, map[string]string{
		"31.108.90.216.origin.mapping.test-site.com.": "23028 | 216.90.108.0/24 | US | arin | 1998-09-25",
		"as23028.mapping.test-site.com.":              "23028 | US | arin | 2002-01-04 | TEAM-CYMRU, US",
	})
	env := []string{"DNS_RESOLVERS=" + resolver, "NAT64_PREFIXES=2001:db8:64::/96",
		"ASN_DNS_ZONE=Mapping.Test-Site.com.", "RATE_LIMIT_REDIS_URL=redis://" +
			miniredis.RunT(t).Addr()}
	for i, s := range []*started{start(t, env...), start(t, env...)} {
		resp, body := s.post(t, "asn-lookup", "216.90.108.31")
		cached := []string{`"cached":false`, `"cached":true`}[i]
		if resp.StatusCode != http.StatusOK || !strings.Contains(body, `"zone":"mapping.test-site.com"`) ||
			!strings.Contains(body, `"name":"TEAM-CYMRU, US"`) || !strings.Contains(body, cached) {
			t.Errorf("instance %d: %d %s", i, resp.StatusCode, body)
		}
	}
	if n := asked.Load(); n != 3 { // origins, peers and one name
		t.Errorf("%d questions", n)
	}
}

// TestPrivacyFollowsTheSettings: the page matches the settings.
func TestPrivacyFollowsTheSettings(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		env  []string
		want web.Privacy
	}{
		"none": {nil, web.Privacy{Window: time.Minute, ASNZone: "asn.cymru.com"}},
		"all": {[]string{"RATE_LIMIT_WINDOW=5m", "DNS_RESOLVERS=192.0.2.53", "RDAP_BASE_URL=https://rdap.example.net/",
			"ASN_DNS_ZONE=asn.example.net", "AUDIT_LOG_FILE=/audit.log", "RATE_LIMIT_REDIS_URL=redis://192.0.2.6"},
			web.Privacy{AuditLog: true, Shared: true, Window: 5 * time.Minute, OwnResolvers: true,
				Redirector: "rdap.example.net", ASNZone: "asn.example.net"}},
		"a port of the redirector": {[]string{"RDAP_BASE_URL=https://[2001:db8::1]:8443/rdap"},
			web.Privacy{Window: time.Minute, ASNZone: "asn.cymru.com", Redirector: "2001:db8::1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := config.Parse(tt.env)
			if err != nil {
				t.Fatal(err)
			}
			if got := privacy(c); got != tt.want {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
}

// TestThePageOnPrivacy is that of a gateway that runs.
func TestThePageOnPrivacy(t *testing.T) {
	t.Parallel()
	s := start(t, "RATE_LIMIT_WINDOW=5m", "DISABLED_TOOLS=dns-resolver-check")
	_, page := s.get(t, s.url+"/privacy")
	if !strings.Contains(page, "within 5 minutes") || strings.Contains(page, "Quad9") ||
		!strings.Contains(page, "that the operator of this instance has chosen") {
		t.Error(page)
	}
}

// A stop timeout of a service is longer than its own shutdown, and so is that of the proxy before it: the proxy stops
// first, with the runs that pass through it.
func TestWhatStopsAServiceWaits(t *testing.T) {
	t.Parallel()
	c, err := config.Parse(nil)
	if err != nil {
		t.Fatal(err)
	}
	own := time.Duration(c.ShutdownDelay) + time.Duration(c.ShutdownTimeout)
	for path, setting := range map[string]struct {
		pattern string
		times   int
	}{
		"../docker-compose.yml":                         {`(?m)^    stop_grace_period: (\d+)s$`, 2},
		"../deploy/compose.tls.yml":                     {`(?m)^    stop_grace_period: (\d+)s$`, 1},
		"../deploy/systemd/diagnostics-gateway.service": {`(?m)^TimeoutStopSec=(\d+)$`, 1},
		"../deploy/systemd/diagnostics-worker.service":  {`(?m)^TimeoutStopSec=(\d+)$`, 1},
	} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(setting.pattern).FindAllStringSubmatch(string(text), -1)
		if len(found) != setting.times {
			t.Errorf("%s says %d times how long to wait, want %d", path, len(found), setting.times)
		}
		for _, said := range found {
			if wait, err := time.ParseDuration(said[1] + "s"); err != nil || wait < own+5*time.Second {
				t.Errorf("%s waits %s s, and a service needs up to %v", path, said[1], own)
			}
		}
	}
}

// registry is every tool there is, to look at and not to run.
func registry() []tool.Tool { return tools.All(tools.Deps{Now: time.Now}) }

// document is the API's description of every tool.
func document() (string, error) {
	d, err := describedAPI()
	return d.text, err
}

// complete reports once which part of a tool is missing: without it nothing starts, and every test would fail.
func complete() error {
	_, err := newPages(config.Config{}, registry(), false, nil)
	return err
}

// These tools are part of the public API, in this order. An added one needs no line here.
func TestThePromisedToolsAreThere(t *testing.T) {
	t.Parallel()
	want := []string{
		"dns-lookup", "http-headers", "ssl-checker", "uptime", "port-checker", "my-ip", "ip-geolocation", "asn-lookup",
		"whois-lookup", "redirect-checker", "robots-sitemap", "dns-resolver-check", "email-dns-health", "security-headers",
		"traceroute", "ping", "packet-loss",
	}
	onTheWorker := []string{"traceroute", "ping", "packet-loss"}
	var got []string
	for _, one := range registry() {
		if !slices.Contains(want, one.Slug()) {
			continue
		}
		got = append(got, one.Slug())
		if one.NeedsWorker() != slices.Contains(onTheWorker, one.Slug()) {
			t.Errorf("%s needs the worker: %t", one.Slug(), one.NeedsWorker())
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the promised tools (-) and those of the registry (+) differ:\n%s", diff)
	}
}

// Runs of one's own load may need more files too, so the limit is compared on loopback as well.
func TestTooFewFilesAreWarnedOfOnLoopback(t *testing.T) {
	t.Parallel()
	s := start(t, "MAX_CONNECTIONS=1000000000", "MAX_IN_FLIGHT=1000000")
	warned := s.log.line(t, "MAX_CONNECTIONS with MAX_IN_FLIGHT may need more files than this process may open: "+
		"raise the limit (ulimit -n, LimitNOFILE), or lower the settings")
	if warned["needed"] != 1e9+40e6+64 {
		t.Errorf("%v", warned)
	}
}

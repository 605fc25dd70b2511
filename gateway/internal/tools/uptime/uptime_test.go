package uptime

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/egress/http1"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/toolstest"
	"diagnostics/gateway/internal/tools/internal/webview"
	"diagnostics/shared/parallel"
	"diagnostics/shared/progress"

	"github.com/miekg/dns"
)

// quick are bounds that a test can wait for.
var quick = limits{first: 2 * time.Second, second: 2 * time.Second, pause: 10 * time.Millisecond,
	beside: time.Minute, notice: time.Minute}

// network has a site of both families and one of each alone.
func network(t *testing.T) *egresstest.Network {
	t.Helper()
	n := egresstest.New(t)
	n.Records(
		"example.com. 300 IN A "+toolstest.WebV4,
		"example.com. 300 IN AAAA "+toolstest.WebV6,
		"four.example.com. 300 IN A "+toolstest.WebV4,
		"six.example.com. 300 IN AAAA "+toolstest.WebV6,
	)
	return n
}

func run(t *testing.T, n *egresstest.Network, bounds limits, url string, opts ...egress.Option) (Result, error) {
	t.Helper()
	got, err := toolstest.Run(t.Context(), newWithin(n.Client(nil, opts...), bounds), toolstest.URLInput(url))
	if err != nil {
		return Result{}, err
	}
	checkReport(t, got.(*Result))
	return *got.(*Result), nil
}

func mustRun(t *testing.T, n *egresstest.Network, url string, opts ...egress.Option) Result {
	t.Helper()
	got, err := run(t, n, quick, url, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func serveBoth(n *egresstest.Network, four, six http.Handler) {
	n.Serve(toolstest.WebV4Port80, four)
	n.Serve(toolstest.WebV6Port80, six)
}

func TestUptimeUp(t *testing.T) {
	t.Parallel()
	n := network(t)
	serveBoth(n, toolstest.StatusHandler(200), toolstest.StatusHandler(200))
	got := mustRun(t, n, "http://example.com/path?q")
	if !got.Online || got.Verdict != "up" || toolstest.Number(got.Status) != 200 ||
		toolstest.Text(got.StatusText) != "OK" || got.Reason != nil {
		t.Errorf("got %+v, reason %s", got, toolstest.Text(got.Reason))
	}
	if toolstest.Text(got.FinalURL) != "http://example.com/path?q" || got.URL != "http://example.com/path?q" ||
		got.CertificateValid != nil {
		t.Errorf("got %+v", got)
	}
	if got.ResponseTimeMs == nil || got.Timings == nil || *got.ResponseTimeMs != got.Timings.TotalMs ||
		got.Timings.DNSMs <= 0 {
		t.Errorf("response time %v, timings %+v", got.ResponseTimeMs, got.Timings)
	}
	for want, f := range map[string]familyState{toolstest.WebV4: got.Families.IPv4, toolstest.WebV6: got.Families.IPv6} {
		if f.State != "up" || toolstest.Text(f.Address) != want || toolstest.Number(f.Status) != 200 ||
			f.ResponseTimeMs == nil || f.Reason != nil {
			t.Errorf("family of %s is %+v", want, f)
		}
	}
	toolstest.WantDials(t, n, toolstest.WebV4Port80, toolstest.WebV6Port80)
}

func TestUptimeShape(t *testing.T) {
	t.Parallel()
	n := network(t)
	fields := toolstest.Fields(t, mustRun(t, n, "http://example.com/"))
	for _, name := range []string{"conclusion", "findings", "url", "online", "verdict", "status", "statusText",
		"responseTimeMs", "finalUrl",
		"certificateValid", "reason", "timings", "challenge", "families", "notes"} {
		if _, ok := fields[name]; !ok {
			t.Errorf("no %s", name)
		}
	}
	if len(fields) != 15 {
		t.Errorf("%d fields: %v", len(fields), fields)
	}
	for _, name := range []string{"status", "statusText", "responseTimeMs", "finalUrl", "certificateValid", "timings",
		"challenge"} {
		if fields[name] != nil {
			t.Errorf("%s of a dead site is %v", name, fields[name])
		}
	}
	for _, family := range []string{"ipv4", "ipv6"} {
		f, _ := fields["families"].(map[string]any)[family].(map[string]any)
		if len(f) != 6 || f["state"] != "down" || f["address"] == nil || f["status"] != nil || f["responseTimeMs"] != nil ||
			f["reason"] == nil {
			t.Errorf("%s is %v", family, f)
		}
	}
}

func TestUptimeOfABrokenHeader(t *testing.T) {
	t.Parallel()
	n := toolstest.WebNetwork(t)
	for _, at := range []string{toolstest.WebV4Port80, toolstest.WebV6Port80} {
		toolstest.ServeRaw(n, at, "HTTP/1.1 200 OK\r\n<!DOCTYPE html>\r\nContent-Length: 0\r\n\r\n")
	}
	r := mustRun(t, n, "http://example.com/")
	if r.Verdict != verdictUp || len(r.Notes) != 1 || r.Notes[0].Code != http1.HeaderLineSkipped {
		t.Errorf("%+v", r)
	}
}

func TestUptimeStatuses(t *testing.T) {
	t.Parallel()
	cases := []struct {
		status  int
		online  bool
		verdict string
		reason  string
	}{
		{200, true, "up", "<null>"},
		{399, true, "up", "<null>"},
		{400, true, "degraded", "The server answered 400 Bad Request."},
		{404, true, "degraded", "The server answered 404 Not Found."},
		{499, true, "degraded", "The server answered 499 status code 499."}, // net/http's own phrase
		{500, false, "down", "The server answered 500 Internal Server Error."},
		{503, false, "down", "The server answered 503 Service Unavailable."},
	}
	for _, c := range cases {
		t.Run(fmt.Sprint(c.status), func(t *testing.T) {
			t.Parallel()
			n := network(t)
			serveBoth(n, toolstest.StatusHandler(c.status), toolstest.StatusHandler(c.status))
			got := mustRun(t, n, "http://example.com/")
			if got.Online != c.online || got.Verdict != c.verdict || toolstest.Number(got.Status) != c.status ||
				toolstest.Text(got.Reason) != c.reason {
				t.Errorf("got %+v, reason %s", got, toolstest.Text(got.Reason))
			}
			state := "up"
			if !c.online {
				state = "down"
			}
			if f := got.Families.IPv6; f.State != state || toolstest.Number(f.Status) != c.status ||
				toolstest.Text(f.Reason) != c.reason {
				t.Errorf("IPv6 is %+v", f)
			}
		})
	}
}

// failFirst answers the first request with one handler and the rest with another, and counts.
func failFirst(count *atomic.Int32, first, rest http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if count.Add(1) == 1 {
			first.ServeHTTP(w, r)
			return
		}
		rest.ServeHTTP(w, r)
	})
}

// TestUptimeLeavingTheFamily: a site is not blamed for a redirect to a host that has only the other family.
func TestUptimeLeavingTheFamily(t *testing.T) {
	t.Parallel()
	n := network(t)
	n.Serve(toolstest.WebV6Port80, toolstest.RedirectHandler("http://four.example.com/"))
	n.Serve(toolstest.WebV4Port80, toolstest.StatusHandler(200))
	got := mustRun(t, n, "http://six.example.com/")
	if got.Verdict != "up" || toolstest.Text(got.FinalURL) != "http://four.example.com/" ||
		got.Families.IPv6.State != "up" || toolstest.Text(got.Families.IPv6.Address) != toolstest.WebV6 {
		t.Fatalf("got %+v, reason %s", got, toolstest.Text(got.Reason))
	}
}

func TestUptimeOneMoreTry(t *testing.T) {
	t.Parallel()
	hangUp := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	cases := []struct {
		name        string
		first, rest http.Handler
		requests    int32
		verdict     string
		status      int
	}{
		{"up at once", toolstest.StatusHandler(200), toolstest.StatusHandler(500), 1, "up", 200},
		{"500 then 200", toolstest.StatusHandler(500), toolstest.StatusHandler(200), 2, "up", 200},
		{"500 then 404", toolstest.StatusHandler(500), toolstest.StatusHandler(404), 2, "degraded", 404},
		{"nothing then 200", hangUp, toolstest.StatusHandler(200), 2, "up", 200},
		{"503 then nothing", toolstest.StatusHandler(503), hangUp, 2, "down", 503},
		{"nothing twice", hangUp, hangUp, 2, "down", -1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n := network(t)
			var requests atomic.Int32
			n.Serve(toolstest.WebV4Port80, failFirst(&requests, c.first, c.rest))
			got := mustRun(t, n, "http://four.example.com/")
			if got.Verdict != c.verdict || toolstest.Number(got.Status) != c.status || requests.Load() != c.requests {
				t.Fatalf("verdict %s, status %d, %d requests", got.Verdict, toolstest.Number(got.Status), requests.Load())
			}
		})
	}
}

func TestUptimeFamilies(t *testing.T) {
	t.Parallel()
	ok := toolstest.StatusHandler(200)
	noRoute := func(n *egresstest.Network) {
		n.Serve(toolstest.WebV4Port80, ok)
		n.Fail(toolstest.WebV6Port80, syscall.ENETUNREACH)
	}
	cases := []struct {
		name       string
		serve      func(*egresstest.Network)
		host       string
		has        egress.Families
		verdict    string
		four, six  string
		reasonHas  string
		sixAddress string
	}{
		{"IPv6 refuses", func(n *egresstest.Network) { n.Serve(toolstest.WebV4Port80, ok) }, "example.com", egress.Families{V4: true, V6: true}, "degraded", "up", "down", "Over IPv6: example.com refused the connection.", toolstest.WebV6},
		{"IPv6 is silent", func(n *egresstest.Network) { n.Serve(toolstest.WebV4Port80, ok); n.Drop(toolstest.WebV6Port80) }, "example.com", egress.Families{V4: true, V6: true}, "degraded", "up", "down", "Over IPv6: ", toolstest.WebV6},
		{"IPv6 has no route", noRoute, "example.com", egress.Families{V4: true, V6: true}, "degraded", "up", "down", "Over IPv6: ", toolstest.WebV6},
		{"IPv4 is broken", func(n *egresstest.Network) { n.Serve(toolstest.WebV6Port80, ok) }, "example.com", egress.Families{V4: true, V6: true}, "degraded", "down", "up", "Over IPv4: ", toolstest.WebV6},
		{"IPv6 answers 500", func(n *egresstest.Network) { serveBoth(n, ok, toolstest.StatusHandler(500)) }, "example.com", egress.Families{V4: true, V6: true}, "degraded", "up", "down", "Over IPv6: The server answered 500", toolstest.WebV6},
		{"IPv6 answers 404", func(n *egresstest.Network) { serveBoth(n, ok, toolstest.StatusHandler(404)) }, "example.com", egress.Families{V4: true, V6: true}, "degraded", "up", "up", "Over IPv6: The server answered 404", toolstest.WebV6},
		{"this host lacks IPv6", func(n *egresstest.Network) { n.Serve(toolstest.WebV4Port80, ok) }, "example.com", egress.Families{V4: true}, "up", "up", "skipped", "", toolstest.WebV6},
		{"this host lacks IPv4", func(n *egresstest.Network) { n.Serve(toolstest.WebV6Port80, ok) }, "example.com", egress.Families{V6: true}, "up", "skipped", "up", "", toolstest.WebV6},
		{"site without IPv6", func(n *egresstest.Network) { n.Serve(toolstest.WebV4Port80, ok) }, "four.example.com", egress.Families{V4: true, V6: true}, "up", "up", "noAddress", "", "<null>"},
		{"site without IPv4", func(n *egresstest.Network) { n.Serve(toolstest.WebV6Port80, ok) }, "six.example.com", egress.Families{V4: true, V6: true}, "up", "noAddress", "up", "", toolstest.WebV6},
		{"both dead", func(*egresstest.Network) {}, "example.com", egress.Families{V4: true, V6: true}, "down", "down", "down", "example.com refused the connection.", toolstest.WebV6},
		{"IPv4 literal", func(n *egresstest.Network) { n.Serve(toolstest.WebV4Port80, ok) }, toolstest.WebV4, egress.Families{V4: true, V6: true}, "up", "up", "noAddress", "", "<null>"},
		{"IPv6 literal", func(n *egresstest.Network) { n.Serve(toolstest.WebV6Port80, ok) }, "[" + toolstest.WebV6 + "]", egress.Families{V4: true, V6: true}, "up", "noAddress", "up", "", toolstest.WebV6},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n := network(t)
			c.serve(n)
			bounds := quick
			bounds.first, bounds.second = time.Second, 100*time.Millisecond
			got, err := run(t, n, bounds, "http://"+c.host+"/", egress.WithFamilies(c.has))
			if err != nil {
				t.Fatal(err)
			}
			if got.Verdict != c.verdict || got.Online == (c.verdict == "down") || got.Families.IPv4.State != c.four ||
				got.Families.IPv6.State != c.six {
				t.Fatalf("got %+v, reason %s", got, toolstest.Text(got.Reason))
			}
			if c.reasonHas == "" && got.Reason != nil || c.reasonHas != "" &&
				!strings.HasPrefix(toolstest.Text(got.Reason), c.reasonHas) {
				t.Errorf("the reason is %s", toolstest.Text(got.Reason))
			}
			if toolstest.Text(got.Families.IPv6.Address) != c.sixAddress {
				t.Errorf("the IPv6 address is %s", toolstest.Text(got.Families.IPv6.Address))
			}
			// Where both families answer, the first of them gives the status.
			status := toolstest.Number(got.Status)
			if c.verdict != "down" && status != toolstest.Number(got.Families.IPv4.Status) &&
				status != toolstest.Number(got.Families.IPv6.Status) {
				t.Errorf("the status is %d", status)
			}
			for _, f := range []familyState{got.Families.IPv4, got.Families.IPv6} {
				if (f.State == "up" && toolstest.Number(f.Status) == 200) != (f.Reason == nil) {
					t.Errorf("family %+v: reason %s", f, toolstest.Text(f.Reason))
				}
			}
		})
	}
}

// TestUptimeWithoutRouteOfItsFamily: whether such a site is up cannot be measured from here, and that is a failure of
// ours.
func TestUptimeWithoutRouteOfItsFamily(t *testing.T) {
	t.Parallel()
	n := network(t)
	_, err := run(t, n, quick, "http://six.example.com/", egress.WithFamilies(egress.Families{V4: true}))
	if !fault.Is(err, fault.Upstream) ||
		err.Error() != "This service has no IPv6 connection, and the target has only IPv6 addresses." {
		t.Fatalf("got %v", err)
	}
}

// TestUptimeWithAFaultOfOurs: nor can it be measured when this service lacks the means.
func TestUptimeWithAFaultOfOurs(t *testing.T) {
	t.Parallel()
	n := network(t)
	n.Fail(toolstest.WebV4+":80", toolstest.OurFault)
	n.Fail("["+toolstest.WebV6+"]:80", toolstest.OurFault)
	if got, err := run(t, n, quick, "http://example.com/"); !errors.Is(err, toolstest.OurFault) {
		t.Fatalf("got %+v, %v", got, err)
	}
}

func TestUptimeTopFieldsAreOfTheFamilyThatAnsweredFirst(t *testing.T) {
	t.Parallel()
	for first, second := range map[string]string{toolstest.WebV4Port80: toolstest.WebV6Port80,
		toolstest.WebV6Port80: toolstest.WebV4Port80} {
		t.Run(first, func(t *testing.T) {
			t.Parallel()
			n, ended := network(t), make(chan struct{})
			toolstest.ServeRaw(n, first, "HTTP/1.1 200 First\r\nContent-Length: 0\r\n\r\n")
			n.Serve(second, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-ended }))
			feed := new(progress.Feed)
			running := parallel.Start(func() error {
				got, err := toolstest.Run(progress.With(t.Context(), feed), New(n.Client(nil)),
					toolstest.URLInput("http://example.com/"))
				if r, is := got.(*Result); !is || toolstest.Text(r.StatusText) != "First" || r.Verdict != "up" {
					t.Errorf("got %+v, %v", got, err)
				}
				return err
			})
			toolstest.AwaitStep(t, feed, "family", map[string]string{toolstest.WebV4Port80: "4",
				toolstest.WebV6Port80: "6"}[first])
			close(ended)
			_ = running.Wait()
		})
	}
}

// TestUptimeNames covers what the lookup decides; a name without an address is a site that is down, not a wrong input.
func TestUptimeNames(t *testing.T) {
	t.Parallel()
	servfail := func(q *dns.Msg) *dns.Msg { return new(dns.Msg).SetRcode(q, dns.RcodeServerFailure) }
	cases := []struct {
		name  string
		setup func(*egresstest.Network)
		state string     // of both families
		kind  fault.Kind // where it is no result
	}{
		{"no such name", func(*egresstest.Network) {}, "noAddress", 0},
		{"no address", func(n *egresstest.Network) { n.Records("site.example.net. 60 IN TXT x") }, "noAddress", 0},
		{"name servers fail", func(n *egresstest.Network) { n.Handle("site.example.net", servfail) }, "down", 0},
		{"private", func(n *egresstest.Network) { n.Records("site.example.net. 60 IN A 10.0.0.1") }, "", fault.Refused},
		{"metadata", func(n *egresstest.Network) { n.Records("site.example.net. 60 IN A 169.254.169.254") }, "", fault.Refused},
		{"mixed", func(n *egresstest.Network) {
			n.Records("site.example.net. 60 IN A "+toolstest.WebV4, "site.example.net. 60 IN AAAA ::1")
		}, "", fault.Refused},
		{"alias of an inside name", func(n *egresstest.Network) { n.Records("site.example.net. 60 IN CNAME db.internal.") }, "", fault.Refused},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n := egresstest.New(t)
			c.setup(n)
			got, err := run(t, n, quick, "http://site.example.net/")
			switch {
			case c.kind != 0:
				if !fault.Is(err, c.kind) {
					t.Fatalf("got %v, want kind %d", err, c.kind)
				}
			case err != nil:
				t.Fatal(err)
			case got.Online || got.Verdict != "down" || got.Reason == nil || got.Families.IPv4.State != c.state ||
				got.Families.IPv6.State != c.state:
				t.Fatalf("got %+v, reason %s", got, toolstest.Text(got.Reason))
			}
			if dials := n.Dials(); len(dials) != 0 {
				t.Fatalf("dials: %v", dials)
			}
		})
	}
}

// TestUptimeNameServersRecover: the lookup, too, has one more try.
func TestUptimeNameServersRecover(t *testing.T) {
	t.Parallel()
	n := network(t)
	n.Serve(toolstest.WebV4Port80, toolstest.StatusHandler(200))
	var failing atomic.Bool
	failing.Store(true)
	n.Handle("four.example.com", func(q *dns.Msg) *dns.Msg {
		if failing.Load() {
			return new(dns.Msg).SetRcode(q, dns.RcodeServerFailure)
		}
		return n.Recursive(q)
	})
	bounds := quick
	bounds.pause = 300 * time.Millisecond
	time.AfterFunc(100*time.Millisecond, func() { failing.Store(false) })
	got, err := run(t, n, bounds, "http://four.example.com/")
	if err != nil || got.Verdict != "up" {
		t.Fatalf("got %+v, %v", got, err)
	}
}

// TestUptimeFamilyThatCouldNotBeLookedUp: name servers that fail for one type do not say that there is no address of
// it.
func TestUptimeFamilyThatCouldNotBeLookedUp(t *testing.T) {
	t.Parallel()
	n := network(t)
	n.Serve(toolstest.WebV4Port80, toolstest.StatusHandler(200))
	n.Handle("four.example.com", func(q *dns.Msg) *dns.Msg {
		if q.Question[0].Qtype == dns.TypeAAAA {
			return new(dns.Msg).SetRcode(q, dns.RcodeServerFailure)
		}
		return n.Recursive(q)
	})
	got := mustRun(t, n, "http://four.example.com/")
	want := rows.Sentence(saidUnlooked, finding.Args{"host": "four.example.com", "by": "IPv6"})
	if got.Verdict != "up" || got.Families.IPv6.State != "noAddress" || toolstest.Text(got.Families.IPv6.Reason) != want {
		t.Fatalf("got %+v, IPv6: %s", got, toolstest.Text(got.Families.IPv6.Reason))
	}
	n.Handle("four.example.com", n.Recursive)
	got = mustRun(t, n, "http://four.example.com/")
	if toolstest.Text(got.Families.IPv6.Reason) != "four.example.com has no IPv6 address." {
		t.Fatalf("IPv6: %s", toolstest.Text(got.Families.IPv6.Reason))
	}
}

// TestUptimeRebinding: a name whose second answer is private is refused then, and nothing goes there.
func TestUptimeRebinding(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	var requests atomic.Int32
	n.Handle("rebind.example.net", func(q *dns.Msg) *dns.Msg {
		m := new(dns.Msg).SetReply(q)
		if q.Question[0].Qtype != dns.TypeA {
			return m
		}
		address := toolstest.WebV4
		if requests.Add(1) > 1 {
			address = "127.0.0.1"
		}
		rr, err := dns.NewRR("rebind.example.net. 0 IN A " + address)
		if err != nil {
			return nil
		}
		m.Answer = append(m.Answer, rr)
		return m
	})
	_, err := run(t, n, quick, "http://rebind.example.net/")
	if !fault.Is(err, fault.Refused) {
		t.Fatalf("got %v", err)
	}
	if dials := n.Dials(); len(dials) != 0 {
		t.Fatalf("dials: %v", dials)
	}
}

func TestUptimeRedirects(t *testing.T) {
	t.Parallel()
	// count serves /n as a redirect to /n-1, and /0 as the page.
	count := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var left int
		if _, err := fmt.Sscanf(r.URL.Path, "/%d", &left); err == nil && left > 0 {
			http.Redirect(w, r, fmt.Sprintf("/%d", left-1), http.StatusFound)
		}
	})
	cases := []struct {
		name    string
		handler http.Handler
		path    string
		verdict string
		status  int
		final   string
		reason  string
	}{
		{"five", count, "/5", "up", 200, "http://example.com/0", "<null>"},
		{"six", count, "/6", "degraded", 302, "http://example.com/1", "The target redirects more than 5 times."},
		{"private address", toolstest.RedirectHandler("http://10.0.0.1/"), "/", "degraded", 302, "http://example.com/", "The site redirects to a URL that this service does not visit, because it is not public or contains a user name."},
		{"mapped loopback", toolstest.RedirectHandler("http://[::ffff:127.0.0.1]/"), "/", "degraded", 302, "http://example.com/", "*"},
		{"credentials", toolstest.RedirectHandler("http://a:b@example.com/"), "/", "degraded", 302, "http://example.com/", "The site redirects to a URL that this service does not visit, because it is not public or contains a user name."},
		{"name that is private", toolstest.RedirectHandler("http://inside.example.com/"), "/", "degraded", 302, "http://example.com/", "The site redirects to a URL that this service does not visit, because it is not public or contains a user name."},
		{"dead host", toolstest.RedirectHandler("http://dead.example.com/"), "/", "degraded", 302, "http://example.com/", "A redirect could not be followed: dead.example.com refused the connection."},
		{"host of one family", toolstest.RedirectHandler("http://four.example.com:8080/"), "/", "up", 200, "http://four.example.com:8080/", "<null>"},
		{"not found at the end", toolstest.RedirectHandler("http://four.example.com:8081/"), "/", "degraded", 404, "http://four.example.com:8081/", "The server answered 404 Not Found."},
		{"error at the end", toolstest.RedirectHandler("http://both.example.com:8082/"), "/", "down", 500, "http://both.example.com:8082/", "The server answered 500 Internal Server Error."},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n := network(t)
			n.Records(
				"inside.example.com. 60 IN A 192.168.0.1", "inside.example.com. 60 IN AAAA fd00::1",
				"dead.example.com. 60 IN A 93.184.216.99", "dead.example.com. 60 IN AAAA 2606:2800:220:1::99",
				"both.example.com. 60 IN A "+toolstest.WebV4, "both.example.com. 60 IN AAAA "+toolstest.WebV6,
			)
			serveBoth(n, c.handler, c.handler)
			n.Serve(toolstest.WebV4+":8080", toolstest.StatusHandler(200))
			n.Serve(toolstest.WebV4+":8081", toolstest.StatusHandler(404))
			n.Serve(toolstest.WebV4+":8082", toolstest.StatusHandler(500))
			n.Serve("["+toolstest.WebV6+"]:8082", toolstest.StatusHandler(500))
			got := mustRun(t, n, "http://example.com"+c.path)
			if got.Verdict != c.verdict || got.Online != (c.verdict != "down") {
				t.Fatalf("got %+v, reason %s", got, toolstest.Text(got.Reason))
			}
			if c.reason != "*" && toolstest.Text(got.Reason) != c.reason {
				t.Errorf("the reason is %s", toolstest.Text(got.Reason))
			}
			if toolstest.Text(got.FinalURL) != c.final || toolstest.Number(got.Status) != c.status {
				t.Errorf("final %s, status %d", toolstest.Text(got.FinalURL), toolstest.Number(got.Status))
			}
			if strings.Contains(toolstest.Text(got.Reason), "10.0.0.1") ||
				strings.Contains(toolstest.Text(got.Reason), "192.168") {
				t.Errorf("the reason names an inner address: %s", toolstest.Text(got.Reason))
			}
			toolstest.WantDials(t, n, toolstest.WebV4Port80, toolstest.WebV6Port80, "93.184.216.99:80",
				"[2606:2800:220:1::99]:80",
				toolstest.WebV4+":8080", toolstest.WebV4+":8081", toolstest.WebV4+":8082", "["+toolstest.WebV6+"]:8082")
		})
	}
}

func TestUptimeCertificates(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		config func(*toolstest.Authority) *tls.Config
		valid  bool
		code   string
	}{
		{"valid", func(a *toolstest.Authority) *tls.Config { return a.Issue("example.com", time.Now().Add(time.Hour)) }, true, ""},
		{"expired", func(a *toolstest.Authority) *tls.Config { return a.Issue("example.com", time.Now().Add(-time.Hour)) }, false, "CERT_HAS_EXPIRED"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n, ca := network(t), toolstest.NewAuthority(t)
			n.ServeTLS(toolstest.WebV4+":443", c.config(ca), toolstest.StatusHandler(200))
			n.ServeTLS("["+toolstest.WebV6+"]:443", c.config(ca), toolstest.StatusHandler(200))
			got := mustRun(t, n, "https://example.com/", ca.Option())
			if !got.Online || got.CertificateValid == nil || *got.CertificateValid != c.valid ||
				toolstest.Number(got.Status) != 200 || got.Timings.TLSMs == nil {
				t.Fatalf("got %+v", got)
			}
			verdict, reason := "up", "<null>"
			if !c.valid {
				verdict, reason = "degraded", "The certificate of example.com is not valid: "+fault.Rows.Clause(c.code, nil)+"."
			}
			if got.Verdict != verdict || toolstest.Text(got.Reason) != reason {
				t.Errorf("verdict %s, reason %s", got.Verdict, toolstest.Text(got.Reason))
			}
		})
	}
}

// TestUptimeCertificateOnTheWay: an invalid certificate counts also where the answer behind it comes without TLS, or
// with a valid one.
func TestUptimeCertificateOnTheWay(t *testing.T) {
	t.Parallel()
	n, ca := network(t), toolstest.NewAuthority(t)
	n.ServeTLS(toolstest.WebV4+":443", ca.SelfSign("four.example.com"),
		toolstest.RedirectHandler("http://four.example.com/"))
	n.Serve(toolstest.WebV4Port80, toolstest.StatusHandler(200))
	got := mustRun(t, n, "https://four.example.com/", ca.Option())
	if got.Verdict != "degraded" || got.CertificateValid == nil || *got.CertificateValid ||
		toolstest.Text(got.FinalURL) != "http://four.example.com/" {
		t.Fatalf("got %+v", got)
	}
}

func TestUptimeEndsWithItsVisitor(t *testing.T) {
	t.Parallel()
	n := network(t)
	n.Drop(toolstest.WebV4Port80)
	n.Drop(toolstest.WebV6Port80)
	client := n.Client(nil)
	ctx, leave := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, leave)
	_, err := toolstest.Run(ctx, New(client), tool.Input{Text: "http://example.com/"})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
}

// TestUptimeBoundsFitTheRun: a run is cut after 30 s, and by then its result must have come.
func TestUptimeBoundsFitTheRun(t *testing.T) {
	t.Parallel()
	const run = 30 * time.Second
	b := defaultLimits
	lookups := 2*dnsclient.Tries*dnsclient.Timeout + b.pause
	if total := lookups + b.first + b.pause + b.second; total >= run {
		t.Fatalf("the bounds add up to %v", total)
	}
	if b.first < egress.HTTPTimeout {
		t.Fatalf("the first try ends after %v, before its exchange", b.first)
	}
}

func TestMain(m *testing.M) { toolstest.Main(m) }

func TestRows(t *testing.T) {
	t.Parallel()
	toolstest.Rows(t, rows)
}

// TestUptimeBeyondOurBounds: an answer that this service does not read to the end is no failure of the site.
func TestUptimeBeyondOurBounds(t *testing.T) {
	t.Parallel()
	n := network(t)
	long := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for i := range 8 {
			w.Header().Set(fmt.Sprintf("X-Long-%d", i), strings.Repeat("x", 10<<10))
		}
	})
	n.Serve(toolstest.WebV4Port80, long)
	n.ServeTLS(toolstest.WebV4+":443", toolstest.NewAuthority(t).SelfSign("four.example.com"), long)
	n.Serve("["+toolstest.WebV6+"]:80", long)
	for _, url := range []string{"http://four.example.com/", "https://four.example.com/", "http://example.com/"} {
		got := mustRun(t, n, url)
		if !got.Online || got.Verdict != verdictDegraded || got.Status != nil || got.Families.IPv4.State != uptimeUp ||
			got.Families.IPv4.Status != nil || got.Conclusion.State != finding.Unknown ||
			got.Conclusion.Code != webview.CodeNotRead {
			t.Errorf("%s: %s, online %t, %+v", url, got.Verdict, got.Online, got.Conclusion)
		}
	}
}

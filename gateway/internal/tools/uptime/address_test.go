package uptime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/budget/traffic"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/challenge"
	"diagnostics/gateway/internal/tools/internal/toolstest"
	"diagnostics/shared/parallel"
	"diagnostics/shared/progress"
)

const (
	one, two, three, four = toolstest.WebV4, "93.184.216.35", "93.184.216.36", "93.184.216.37"
)

// many is a name with these IPv4 addresses, tried in this order.
func many(t *testing.T, addresses ...string) *egresstest.Network {
	t.Helper()
	n := egresstest.New(t)
	for _, a := range addresses {
		n.Records("many.example.com. 300 IN A " + a)
	}
	return n
}

// silent takes connections and says nothing.
func silent(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

// states writes an address's list as "address state status".
func states(f familyState) string {
	var list []string
	for _, a := range f.Addresses {
		list = append(list, fmt.Sprintf("%s %s %d", a.Address, a.State, toolstest.Number(a.Status)))
	}
	return strings.Join(list, ", ")
}

// TestUptimeAddresses: each address by its own answer, one dead of several in words.
func TestUptimeAddresses(t *testing.T) {
	t.Parallel()
	ok, broken, missing := toolstest.StatusHandler(200), toolstest.StatusHandler(500), toolstest.StatusHandler(404)
	type served map[string]any // a handler, silent, or nothing: a refused connection
	rows := []struct {
		name      string
		addresses []string
		at        served
		verdict   string
		family    string
		address   string
		list      string
		reason    string
	}{
		{"all well", []string{one, two, three}, served{one: ok, two: ok, three: ok}, "up", "up 200", one,
			one + " up 200, " + two + " up 200, " + three + " up 200", "<null>"},
		{"no more than three", []string{one, two, three, four}, served{one: ok, two: ok, three: ok}, "up", "up 200", one,
			one + " up 200, " + two + " up 200, " + three + " up 200", "<null>"},
		{"the last is dead", []string{one, two, three}, served{one: ok, two: ok}, "degraded", "up 200", one,
			one + " up 200, " + two + " up 200, " + three + " down -1",
			"At " + three + ": many.example.com refused the connection."},
		{"the first is dead", []string{one, two}, served{two: ok}, "degraded", "up 200", two,
			one + " down -1, " + two + " up 200", "At " + one + ": many.example.com refused the connection."},
		{"the first fails", []string{one, two}, served{one: broken, two: ok}, "degraded", "up 200", two,
			one + " down 500, " + two + " up 200", "At " + one + ": The server answered 500 Internal Server Error."},
		{"each its own trouble", []string{one, two, three}, served{one: ok, two: broken}, "degraded", "up 200", one,
			one + " up 200, " + two + " down 500, " + three + " down -1", "At " + two +
				": The server answered 500 Internal Server Error. At " + three + ": many.example.com refused the connection."},
		{"one has not the page", []string{one, two}, served{one: missing, two: ok}, "degraded", "up 404", one,
			one + " up 404, " + two + " up 200", "At " + one + ": The server answered 404 Not Found."},
		{"none has the page", []string{one, two}, served{one: missing, two: missing}, "degraded", "up 404", one,
			one + " up 404, " + two + " up 404", "The server answered 404 Not Found."},
		{"all are dead", []string{one, two, three}, served{}, "down", "down -1", one,
			one + " down -1, " + two + " down -1, " + three + " down -1", "many.example.com refused the connection."},
		{"a fourth is alive", []string{one, two, three, four}, served{four: ok}, "degraded", "up 200", four,
			one + " down -1, " + two + " down -1, " + three + " down -1",
			"At " + one + ", " + two + " and " + three + ": many.example.com refused the connection."},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			n := many(t, r.addresses...)
			for a, what := range r.at {
				if handler, is := what.(http.Handler); is {
					n.Serve(a+":80", handler)
				} else {
					n.ServeConn(a+":80", silent)
				}
			}
			bounds := limits{first: 400 * time.Millisecond, second: 300 * time.Millisecond, pause: 10 * time.Millisecond,
				beside: time.Minute, notice: time.Minute}
			got, err := run(t, n, bounds, "http://many.example.com/")
			if err != nil {
				t.Fatal(err)
			}
			f := got.Families.IPv4
			if got.Verdict != r.verdict || toolstest.Text(got.Reason) != r.reason || toolstest.Text(f.Reason) != r.reason {
				t.Errorf("%s: %s; IPv4: %s", got.Verdict, toolstest.Text(got.Reason), toolstest.Text(f.Reason))
			}
			if family := fmt.Sprintf("%s %d", f.State, toolstest.Number(f.Status)); family != r.family ||
				toolstest.Text(f.Address) != r.address {
				t.Errorf("IPv4 is %s at %s", family, toolstest.Text(f.Address))
			}
			if list := states(f); list != r.list {
				t.Errorf("got %s", list)
			}
		})
	}
}

// TestTheFirstAddressIsTold: the one that the chain meets too, while the others are waited for.
func TestTheFirstAddressIsTold(t *testing.T) {
	t.Parallel()
	n := many(t, one, two)
	reported := make(chan struct{})
	n.Serve(one+":80", toolstest.StatusHandler(404))
	n.Serve(two+":80", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-reported }))
	tl, feed := newWithin(n.Client(nil), limits{first: 30 * time.Second, second: time.Second,
		beside: time.Minute, notice: time.Minute}), new(progress.Feed)
	running := parallel.Start(func() error {
		_, err := toolstest.Run(progress.With(t.Context(), feed), tl, toolstest.URLInput("http://many.example.com/"))
		return err
	})
	value, _ := toolstest.AwaitStep(t, feed, "address", one)
	close(reported)
	if want := `"address":"` + one + `","state":"up","status":404,`; !strings.Contains(value, want) {
		t.Errorf("reported %s, want %s", value, want)
	}
	if err := running.Wait(); err != nil {
		t.Error(err)
	}
	toolstest.AwaitStep(t, feed, "address", two)
}

// TestUptimeAddressesOfBothFamilies: what is wrong with single addresses of either is one sentence.
func TestUptimeAddressesOfBothFamilies(t *testing.T) {
	t.Parallel()
	n := many(t, one, two)
	n.Records("many.example.com. 300 IN AAAA "+toolstest.WebV6, "many.example.com. 300 IN AAAA 2606:2800:220:1::35")
	n.Serve(one+":80", toolstest.StatusHandler(200))
	n.Serve("["+toolstest.WebV6+"]:80", toolstest.StatusHandler(200))
	got := mustRun(t, n, "http://many.example.com/")
	const want = "At 93.184.216.35 and 2606:2800:220:1::35: many.example.com refused the connection."
	if got.Verdict != "degraded" || toolstest.Text(got.Reason) != want ||
		toolstest.Text(got.Families.IPv6.Reason) != "At 2606:2800:220:1::35: many.example.com refused the connection." {
		t.Errorf("%s: %s", got.Verdict, toolstest.Text(got.Reason))
	}
}

// TestUptimeFollowsOneAddress: redirects are followed once, the others' are an answer.
func TestUptimeFollowsOneAddress(t *testing.T) {
	t.Parallel()
	n := many(t, one, two, three)
	n.Records("end.example.com. 300 IN A 93.184.216.99")
	for _, a := range []string{one, two, three} {
		n.Serve(a+":80", toolstest.RedirectHandler("http://end.example.com/"))
	}
	var ends atomic.Int32
	n.Serve("93.184.216.99:80", failFirst(&ends, toolstest.StatusHandler(200), toolstest.StatusHandler(500)))
	got := mustRun(t, n, "http://many.example.com/")
	want := one + " up 302, " + two + " up 302, " + three + " up 302"
	if got.Verdict != "up" || states(got.Families.IPv4) != want || toolstest.Number(got.Families.IPv4.Status) != 200 ||
		ends.Load() != 1 {
		t.Errorf("%s: %s, %d requests of the end", got.Verdict, states(got.Families.IPv4), ends.Load())
	}
	for _, a := range []string{one, two, three} {
		to := netip.MustParseAddrPort(a + ":80")
		if dials := slices.DeleteFunc(n.Dials(), func(d netip.AddrPort) bool { return d != to }); len(dials) != 1 {
			t.Errorf("%d connections to %s", len(dials), a)
		}
	}
}

// TestUptimeAddressAtItsLimit: what was not tried is skipped, and where nothing else answers there is no verdict.
func TestUptimeAddressAtItsLimit(t *testing.T) {
	t.Parallel()
	limited := func(at string) func(*egress.Settings) {
		return func(s *egress.Settings) {
			s.Charge = func(_ context.Context, to netip.AddrPort) error {
				if to.Addr().String() == at {
					return fault.LimitedFor(7*time.Second, "ADDRESS_BUSY")
				}
				return nil
			}
		}
	}
	for _, row := range []struct{ limited, alive, list string }{
		{two, one, one + " up 200, " + two + " skipped -1"},
		{one, two, one + " skipped -1, " + two + " up 200"},
		{one, "", ""},
		{two, "", ""},
	} {
		n := many(t, one, two)
		if row.alive != "" {
			n.Serve(row.alive+":80", toolstest.StatusHandler(200))
		}
		got, err := toolstest.Run(t.Context(), newWithin(n.Client(limited(row.limited)), quick),
			toolstest.URLInput("http://many.example.com/"))
		if row.alive == "" {
			if !fault.Is(err, fault.Limited) {
				t.Errorf("%s: got %+v, %v", row.limited, got, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if r := got.(*Result); r.Verdict != "up" || r.Reason != nil || states(r.Families.IPv4) != row.list {
			t.Errorf("%s: %s, %s", row.limited, r.Verdict, states(r.Families.IPv4))
		}
	}
}

// TestUptimeAddressesOfAMissingFamily: they are reported as not tried.
func TestUptimeAddressesOfAMissingFamily(t *testing.T) {
	t.Parallel()
	n := many(t, one)
	n.Serve(one+":80", toolstest.StatusHandler(200))
	for i := range 4 {
		n.Records(fmt.Sprintf("many.example.com. 300 IN AAAA 2606:2800:220:1::%d", i+1))
	}
	got := mustRun(t, n, "http://many.example.com/", egress.WithFamilies(egress.Families{V4: true}))
	six := got.Families.IPv6
	if got.Verdict != "up" || six.State != "skipped" || len(six.Addresses) != 3 || six.Addresses[2].State != "skipped" ||
		toolstest.Text(six.Addresses[0].Reason) != "This service has no IPv6 connection." {
		t.Errorf("%s: %+v", got.Verdict, six)
	}
}

// TestUptimeChallenge: a bot challenge is named, whatever verdict its status gives; a plain refusal is none.
func TestUptimeChallenge(t *testing.T) {
	t.Parallel()
	const words = " Cloudflare asks visitors to prove that they are human, which this service cannot do. " +
		"The site itself may be fine."
	rows := []struct {
		status  int
		mark    string
		verdict string
		reason  string
	}{
		{403, "challenge", "degraded", "The server answered 403 Forbidden." + words},
		{503, "challenge", "down", "The server answered 503 Service Unavailable." + words},
		{200, "challenge", "degraded", "The server answered 200 OK." + words},
		{403, "", "degraded", "The server answered 403 Forbidden."},
	}
	for _, r := range rows {
		n := network(t)
		n.Serve(toolstest.WebV4Port80, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Server", "cloudflare")
			if r.mark != "" {
				w.Header().Set("Cf-Mitigated", r.mark)
			}
			w.WriteHeader(r.status)
		}))
		got := mustRun(t, n, "http://four.example.com/")
		want := (*challenge.Challenge)(nil)
		if r.mark != "" {
			want = &challenge.Challenge{Vendor: "Cloudflare"}
		}
		if got.Verdict != r.verdict || got.Online == (r.verdict == "down") || toolstest.Text(got.Reason) != r.reason ||
			(got.Challenge == nil) != (want == nil) || want != nil && *got.Challenge != *want {
			t.Errorf("%d %s: %s, %s, %v", r.status, r.mark, got.Verdict, toolstest.Text(got.Reason), got.Challenge)
		}
	}
}

// TestUptimeConflictingLocations: browsers stop at such an answer, so that the site is not well.
func TestUptimeConflictingLocations(t *testing.T) {
	t.Parallel()
	for status, reason := range map[string]string{
		"302 Found": "The target sends conflicting Location headers in one redirect, and browsers stop there.",
		"200 OK":    "The server answered 200 OK with conflicting Location headers, so browsers show an error.",
	} {
		n := many(t, one, two)
		for _, a := range []string{one, two} {
			toolstest.ServeRaw(n, a+":80", "HTTP/1.1 "+status+"\r\nLocation: /a\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n")
		}
		got := mustRun(t, n, "http://many.example.com/")
		if got.Verdict != "degraded" || toolstest.Text(got.Reason) != reason {
			t.Errorf("%s: %s, %s", status, got.Verdict, toolstest.Text(got.Reason))
		}
	}
}

// A site whose redirects are more than a run may send is degraded, for a reason that names this check, and not down.
func TestARunSendsNoMoreThanItMay(t *testing.T) {
	t.Parallel()
	n := network(t)
	serve := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var step int
		_, _ = fmt.Sscanf(r.URL.Path, "/%d", &step)
		http.Redirect(w, r, fmt.Sprintf("/%d?%s", step+1, strings.Repeat("x", 16_000)), http.StatusFound)
	})
	n.Serve(toolstest.WebV4Port80, serve)
	n.Serve("["+toolstest.WebV6+"]:80", serve)
	tl := newWithin(n.Client(nil), quick)
	run := traffic.WithMeter(t.Context(), new(traffic.Totals))
	got, err := toolstest.Run(run, tl, toolstest.URLInput("http://example.com/"))
	if err != nil {
		t.Fatal(err)
	}
	r := got.(*Result)
	if r.Verdict != verdictDegraded || !r.Online ||
		!strings.Contains(toolstest.Text(r.Reason), "may not send any more") {
		t.Errorf("%s, online %t: %s", r.Verdict, r.Online, toolstest.Text(r.Reason))
	}
	for _, f := range []familyState{r.Families.IPv4, r.Families.IPv6} {
		if f.State != uptimeUp {
			t.Errorf("%+v", f)
		}
	}
}

// answered is a hop with an answer; code is what is wrong with its certificate.
func answered(t *testing.T, url string, status int, phrase, code string) egress.Hop {
	t.Helper()
	verdict := certs.Verdict{Authorized: code == "", Code: code}
	if code == certs.DefectCostly {
		verdict.Code, verdict.Defects = certs.CodeNoLocalIssuer, []string{code}
	}
	return egress.Hop{URL: parsed(t, url), Response: &egress.Response{
		Status: status, StatusText: phrase, TLS: &egress.TLS{Verdict: verdict},
	}}
}

func failed(t *testing.T, url string, kind fault.Kind, code string, args finding.Args) egress.Hop {
	t.Helper()
	return egress.Hop{URL: parsed(t, url), Err: fault.Wrap(kind, errors.New("not to be shown"), code, args)}
}

func parsed(t *testing.T, url string) target.URL {
	t.Helper()
	u, err := target.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestEveryTrouble: each kind has its own sentence, and what has the same sentence is the same trouble.
func TestEveryTrouble(t *testing.T) {
	t.Parallel()
	const site, next = "https://example.com/", "https://www.example.com/"
	example := finding.Args{"host": "example.com"}
	page := answered(t, site, 200, "OK", "")
	redirect := answered(t, site, 302, "Found", "")
	ended := func(end egress.ChainEnd, hops ...egress.Hop) egress.Chain {
		return egress.Chain{End: end, Err: fault.New(fault.Upstream, "REDIRECT_LOOP", nil), Hops: hops}
	}
	lost := failed(t, next, fault.Upstream, "CONNECTION_REFUSED", finding.Args{"host": "www.example.com"})
	unreachable := egress.Chain{End: egress.EndUnreachable, Err: lost.Err, Hops: []egress.Hop{redirect, lost}}
	rows := []struct {
		name   string
		chain  egress.Chain
		reason string
	}{
		{"none", ended(egress.EndFinal, page), ""},
		{"none after a redirect", ended(egress.EndFinal, redirect, answered(t, next, 399, "", "")), ""},
		{"status", ended(egress.EndFinal, answered(t, site, 404, "Not Found", "")), "The server answered 404 Not Found."},
		{"own phrase", ended(egress.EndFinal, answered(t, site, 404, "Nothing", "")), "The server answered 404 Nothing."},
		{"status without phrase", ended(egress.EndFinal, answered(t, site, 477, "", "")), "The server answered 477."},
		{"silence", ended(egress.EndUnreachable, failed(t, site, fault.Timeout, "TLS_TIMEOUT", example)), "example.com did not finish the TLS handshake in time."},
		{"refused target", ended(egress.EndBlocked, failed(t, site, fault.Refused, "TARGET_DENIED", nil)), "The operator of this service does not allow this target."},
		{"loop", ended(egress.EndLoop, redirect), "The redirects form a loop."},
		{"too many", ended(egress.EndTooManyRedirects, redirect), "The target redirects more than 5 times."},
		{"no Location", ended(egress.EndMissingLocation, redirect), "The target redirects without naming a destination."},
		{"bad Location", ended(egress.EndInvalidLocation, redirect), "The target redirects to something that is not a valid URL."},
		{"other scheme", ended(egress.EndUnsupportedScheme, redirect), "The target redirects to a URL that is neither http nor https."},
		{"blocked", ended(egress.EndBlocked, redirect), "The site redirects to a URL that this service does not visit, because it is not public or contains a user name."},
		{"deadline on the way", ended(egress.EndDeadline, redirect, failed(t, next, fault.Timeout, "TLS_TIMEOUT", example)), "The check ran out of time before the redirects ended."},
		{"dead host behind a redirect", unreachable, "A redirect could not be followed: www.example.com refused the connection."},
		{"certificate", ended(egress.EndFinal, answered(t, site, 200, "OK", "CERT_HAS_EXPIRED")), "The certificate of example.com is not valid: it has expired."},
		{"certificate not verified", ended(egress.EndFinal, answered(t, site, 200, "OK", certs.DefectCostly)), ""},
		{"certificate on the way", ended(egress.EndFinal, answered(t, site, 302, "Found", "CERT_HAS_EXPIRED"), answered(t, next, 200, "OK", "CERT_NOT_YET_VALID")), "The certificate of example.com is not valid: it has expired."},
		{"certificate of another host", ended(egress.EndFinal, redirect, answered(t, next, 200, "OK", "CERT_HAS_EXPIRED")), "The certificate of www.example.com is not valid: it has expired."},
		{"status and certificate", ended(egress.EndFinal, answered(t, site, 404, "", "CERT_HAS_EXPIRED")), "The server answered 404 Not Found. The certificate of example.com is not valid: it has expired."},
	}
	for _, row := range rows {
		check := familyCheck{family: 4, chain: row.chain}
		if got := words(check.trouble().said()); got != row.reason {
			t.Errorf("%s: %q", row.name, got)
		}
		if none := check.trouble() == (trouble{}); none != (row.reason == "") {
			t.Errorf("%s: no trouble is %t", row.name, none)
		}
		for _, other := range rows {
			both := []familyCheck{check, {family: 6, chain: other.chain}}
			if same := both[0].trouble() == both[1].trouble(); same != (row.reason == other.reason) {
				t.Errorf("%s and %s: the same trouble is %t", row.name, other.name, same)
			}
			if got, want := words(joinReasons(both)), joined(row.reason, other.reason); got != want {
				t.Errorf("%s and %s: %q, want %q", row.name, other.name, got, want)
			}
		}
	}
}

// joined is what is reported of two families with these reasons.
func joined(four, six string) string {
	switch {
	case four == six:
		return four
	case four == "":
		return "Over IPv6: " + six
	case six == "":
		return "Over IPv4: " + four
	}
	return "Over IPv4: " + four + " Over IPv6: " + six
}

func words(all []said) string {
	if joined := inWords(all); joined != nil {
		return *joined
	}
	return ""
}

package rdap

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/cache"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/providers/registry"
)

func TestAnswersAreCached(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.on(redirectorHost+"/domain/one-site.com", to("https://"+registryHost+"/com/v1/domain/ONE-SITE.COM"))
	w.on(registryHost+"/com/v1/domain/one-site.com", domainBody("ONE-SITE.COM"))
	both := []string{redirectorHost + "/domain/one-site.com", registryHost + "/com/v1/domain/ONE-SITE.COM"}

	a, err := w.domain("one-site.com")
	if err != nil || !a.Found || a.Reason != "" || a.Domain.Name != "one-site.com" || a.Notices == nil {
		t.Fatalf("%+v, %v", a, err)
	}
	if len(a.Sources) != 1 || a.Sources[0].Name != "Registry RDAP" || a.Sources[0].Cached ||
		a.Sources[0].URL != "https://"+both[1] || a.Sources[0].FetchedAt.IsZero() {
		t.Errorf("sources %+v", a.Sources)
	}
	w.wantAsked(both...)
	w.advance(registry.KeepFound - time.Second)
	again, err := w.domain("one-site.com")
	if err != nil || !again.Sources[0].Cached || !again.Sources[0].FetchedAt.Equal(a.Sources[0].FetchedAt) {
		t.Errorf("again: %+v, %v", again, err)
	}
	w.wantAsked()
	w.advance(2 * time.Second)
	if c, err := w.domain("one-site.com"); err != nil || c.Sources[0].Cached {
		t.Errorf("after an hour: %+v, %v", c, err)
	}
	w.wantAsked(both...)
}

func TestTheTwoKindsOf404(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.on(redirectorHost+"/domain/free-site.com", to("https://"+registryHost+"/domain/free-site.com"))
	w.on(registryHost+"/domain/free-site.com", status(404, "Content-Type", "application/rdap+json"))
	for _, cached := range []bool{false, true} {
		a, err := w.domain("free-site.com")
		if err != nil || a.Found || a.Reason != NotFound || a.Domain != nil || a.Sources[0].Name != "Registry RDAP" ||
			a.Sources[0].Cached != cached {
			t.Errorf("%+v, %v", a, err)
		}
	}
	w.wantAsked(redirectorHost+"/domain/free-site.com", registryHost+"/domain/free-site.com")
	c, err := w.domain("site.zz")
	if err != nil || c.Found || c.Reason != NoService || c.Sources[0].Name != "RDAP redirector" ||
		c.Sources[0].URL != "https://"+redirectorHost+"/domain/site.zz" {
		t.Errorf("%+v, %v", c, err)
	}
	// A registry that leads back to the redirector is known.
	w.on(redirectorHost+"/domain/back-site.com", to("https://"+registryHost+"/domain/back-site.com"))
	w.on(registryHost+"/domain/back-site.com", to("https://"+redirectorHost+"/back/back-site.com"))
	if a, err := w.domain("back-site.com"); err != nil || a.Reason != NotFound {
		t.Errorf("%+v, %v", a, err)
	}
	w.wantAsked(redirectorHost+"/domain/site.zz", redirectorHost+"/domain/back-site.com",
		registryHost+"/domain/back-site.com", redirectorHost+"/back/back-site.com")
	w.advance(registry.KeepOther + time.Second)
	for _, name := range []string{"site.zz", "free-site.com"} {
		if a, err := w.domain(name); err != nil || a.Sources[0].Cached {
			t.Errorf("after a minute: %+v, %v", a, err)
		}
	}
	w.wantAsked(redirectorHost+"/domain/site.zz",
		redirectorHost+"/domain/free-site.com", registryHost+"/domain/free-site.com")

	n, err := w.network("8.8.8.8")
	if err != nil || n.Found || n.Reason != NoService || n.Source.Name != "RDAP redirector" {
		t.Errorf("%+v, %v", n, err)
	}
	w.on(redirectorHost+"/ip/8.8.4.4", to("https://"+registryHost+"/ip/8.8.4.4"))
	if n, err = w.network("8.8.4.4"); err != nil || n.Reason != NotFound || n.Source.Name != "Registry RDAP" {
		t.Errorf("%+v, %v", n, err)
	}
}

// The first registry refers to the one that has the block.
func TestNetworkAtAnotherRegistry(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for address, ends := range map[string][3]string{
		"8.8.8.8":      {"8.8.8.0", "8.8.8.255", "8.8.8.0/24"},
		"2606:4700::1": {"2606:4700::", "2606:4700:ffff:ffff:ffff:ffff:ffff:ffff", "2606:4700::/32"},
	} {
		w.on(redirectorHost+"/ip/"+address, to("https://"+registryHost+"/registry/ip/"+address))
		w.on(registryHost+"/registry/ip/"+address, to("https://"+secondHost+"/ip/"+address))
		w.on(secondHost+"/ip/"+address, networkBody(ends[0], ends[1]))
		a, err := w.network(address)
		if err != nil || !a.Found || a.Network.CIDRs[0] != ends[2] ||
			a.Source.URL != mustURL(t, "https://"+secondHost).Append("ip", address).String() || a.Notices == nil {
			t.Errorf("%+v, %v", a, err)
		}
		w.wantAsked(redirectorHost+"/ip/"+address, registryHost+"/registry/ip/"+address, secondHost+"/ip/"+address)
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	big := `{"objectClassName":"domain","ldhName":"one-site.com","x":"` + strings.Repeat("x", 5<<20) + `"}`
	for _, c := range []struct {
		name     string
		registry http.HandlerFunc
		kind     fault.Kind
		sentence string
	}{
		{"500", status(500), fault.Upstream, "status 500"},
		{"403", status(403), fault.Upstream, "status 403"},
		{"no content", status(204), fault.Upstream, "status 204"},
		{"a web page", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, `{"objectClassName":"domain","ldhName":"one-site.com"}`)
		}, fault.Upstream, "web page"},
		{"5 MiB", rdapBody(big), fault.Upstream, "1 MiB"},
		{"deep", rdapBody(strings.Repeat("[", 1<<18)), fault.Upstream, "an invalid answer"},
		{"a byte order mark", rdapBody("\xef\xbb\xbf{}"), fault.Upstream, "an invalid answer"},
		{"cut short", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/rdap+json")
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, `{"objectClassName":`)
		}, fault.Upstream, "in the middle of its answer"},
		{"another name", domainBody("two-site.com"), fault.Upstream, "an invalid answer"},
		{"another name in Unicode alone", rdapBody(`{"objectClassName":"domain","unicodeName":"two-site.com"}`), fault.Upstream,
			"an invalid answer"},
		{"to http", to("http://" + secondHost + "/domain/one-site.com"), fault.Upstream, "not https"},
		{"to a private address", to("https://10.0.0.1/domain/one-site.com"), fault.Upstream, "not a public URL"},
		{"to a private name", to("https://rdap.internal/domain/one-site.com"), fault.Upstream, "not a public URL"},
		{"to a name at a private address", to("https://rdap.inside-site.com/domain/one-site.com"), fault.Upstream, "not at a public address"},
		{"to a name without address", to("https://nowhere.second-site.com/domain/one-site.com"), fault.Upstream, "no address"},
		{"to a port that refuses", to("https://" + secondHost + ":444/domain/one-site.com"), fault.Upstream, "refused the connection"},
		{"to nothing", status(302), fault.Upstream, "not a public URL"},
		{"to credentials", to("https://u:p@" + secondHost + "/"), fault.Upstream, "not a public URL"},
		{"in circles", to("https://" + registryHost + "/domain/one-site.com"), fault.Upstream, "more than 4 times"},
		{"out of service", status(503, "Retry-After", "7"), fault.Upstream, "out of service"},
	} {
		w := newWorld(t, nil)
		w.on(redirectorHost+"/domain/one-site.com", to("https://"+registryHost+"/domain/one-site.com"))
		w.on(registryHost+"/domain/one-site.com", c.registry)
		_, err := w.domain("one-site.com")
		if f := wantFailure(t, err, c.kind, c.sentence); c.name == "out of service" && f.RetryAfter != 7*time.Second {
			t.Errorf("retry after %v", f.RetryAfter)
		}
		// Nothing of it is kept: as soon as the registry recovers, it answers.
		w.on(registryHost+"/domain/one-site.com", domainBody("one-site.com"))
		if a, err := w.domain("one-site.com"); err != nil || !a.Found || a.Sources[0].Cached {
			t.Errorf("%s: then %+v, %v", c.name, a, err)
		}
		for _, d := range w.net.Dials() {
			if d.Addr() == netip.MustParseAddr("10.0.0.1") {
				t.Errorf("%s: dialled %v", c.name, d)
			}
		}
	}
}

func TestFourRedirectsAndNoMore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.on(redirectorHost+"/domain/one-site.com", to("https://"+registryHost+"/1"))
	w.on(registryHost+"/1", to("/2")) // relative
	w.on(registryHost+"/2", to("//"+secondHost+"/3"))
	w.on(secondHost+"/3", to("https://"+secondHost+"/4"))
	w.on(secondHost+"/4", domainBody("one-site.com"))
	if a, err := w.domain("one-site.com"); err != nil || !a.Found {
		t.Errorf("four: %+v, %v", a, err)
	}
	w.on(redirectorHost+"/domain/two-site.com", to("https://"+redirectorHost+"/domain/one-site.com"))
	_, err := w.domain("two-site.com")
	wantFailure(t, err, fault.Upstream, "more than 4 times")
}

func TestCertificatesMustBeValid(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.net.Records("rdap.alias-site.com. 300 IN A 93.184.216.2")
	w.on(redirectorHost+"/domain/one-site.com", to("https://rdap.alias-site.com/domain/one-site.com"))
	_, err := w.domain("one-site.com")
	wantFailure(t, err, fault.Upstream, "certificate")
	w.wantAsked(redirectorHost + "/domain/one-site.com")
}

func TestSlowRegistry(t *testing.T) {
	t.Parallel()
	const bound = time.Second
	release := make(chan struct{})
	w := newWorld(t, func(c *Config) { c.Timeout = bound })
	t.Cleanup(func() { close(release) })
	w.on(redirectorHost+"/domain/one-site.com", to("https://"+registryHost+"/domain/one-site.com"))
	w.on(redirectorHost+"/domain/two-site.com", to("https://"+registryHost+"/domain/two-site.com"))
	w.on(registryHost+"/domain/one-site.com", func(http.ResponseWriter, *http.Request) { <-release })
	w.on(registryHost+"/domain/two-site.com", func(out http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(out, "{")
		out.(http.Flusher).Flush()
		<-release
	})
	for _, name := range []string{"one-site.com", "two-site.com"} {
		_, err := w.domain(name)
		wantFailure(t, err, fault.Timeout, "in time")
	}
	w.on(registryHost+"/domain/one-site.com", domainBody("one-site.com"))
	if a, err := w.domain("one-site.com"); err != nil || !a.Found {
		t.Errorf("then %+v, %v", a, err)
	}
}

func TestVisitorWhoLeaves(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	arrived := make(chan struct{})
	w.on(redirectorHost+"/domain/one-site.com", func(_ http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-arrived; cancel() }()
	if _, err := w.Domain(ctx, "one-site.com", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// A date is one of the server's clock, not of ours.
func TestPauseUntilADate(t *testing.T) {
	t.Parallel()
	for _, apart := range []time.Duration{0, time.Hour, -time.Hour} {
		w := newWorld(t, nil)
		theirs := w.clock().Add(apart)
		w.on(redirectorHost+"/domain/one-site.com", status(429, "Date", theirs.Format(http.TimeFormat),
			"Retry-After", theirs.Add(30*time.Second).Format(http.TimeFormat)))
		_, err := w.domain("one-site.com")
		if f := wantFailure(t, err, fault.Busy, "asked too often"); f.RetryAfter != 30*time.Second {
			t.Errorf("clocks %v apart: retry after %v", apart, f.RetryAfter)
		}
	}
}

func TestRedirectorsPauseIsNotNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.on(redirectorHost+"/domain/one-site.com", status(429))
	_, err := w.domain("one-site.com")
	if f := wantFailure(t, err, fault.Busy, "The registration data service of this site"); f.RetryAfter != defaultPause ||
		strings.Contains(f.Sentence(), redirectorHost) {
		t.Errorf("%v after %v", f, f.RetryAfter)
	}
}

// What this service lacks is not reported as a fault of the server.
func TestOurOwnFaultStaysOurs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.net.Fail("93.184.216.1:443", fault.New(fault.Busy, "SHORTAGE_HERE", nil))
	_, err := w.domain("one-site.com")
	wantFailure(t, err, fault.Busy, "cannot make connections")
}

// The operator's own redirector may be where no visitor's target can be; what it leads to may not.
func TestPrivateRedirector(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	memory := cache.NewMemory(1 << 20)
	t.Cleanup(memory.Close)
	client := n.Client(func(s *egress.Settings) { s.ExemptHosts = []string{"10.0.0.5:8443"} })
	c, err := New(Config{Egress: client, Base: "https://10.0.0.5:8443/rdap/", Cache: memory})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Domain(t.Context(), "one-site.com", nil)
	wantFailure(t, err, fault.Upstream, "cannot be reached")
	if d := n.Dials(); len(d) != 1 || d[0] != netip.MustParseAddrPort("10.0.0.5:8443") {
		t.Errorf("dialled %v", d)
	}
	_, err = c.Network(t.Context(), netip.MustParseAddr("8.8.8.8"))
	wantFailure(t, err, fault.Upstream, "cannot be reached")
}

func TestPrivateRedirectorMayLeadWithinItself(t *testing.T) {
	t.Parallel()
	const inside = insideHost + ":8443"
	w := newWorld(t, func(c *Config) { c.Base = "https://" + inside + "/rdap" })
	w.on(inside+"/rdap/domain/one-site.com", to("https://"+inside+"/v2/domain/one-site.com"))
	w.on(inside+"/v2/domain/one-site.com", to("/v3/domain/one-site.com"))
	w.on(inside+"/v3/domain/one-site.com", domainBody("one-site.com"))
	a, err := w.domain("one-site.com")
	if err != nil || !a.Found || a.Sources[0].URL != "" {
		t.Errorf("%+v, %v", a, err)
	}
	w.wantAsked(inside+"/rdap/domain/one-site.com", inside+"/v2/domain/one-site.com", inside+"/v3/domain/one-site.com")

	// Another port of it, and the way back into it by a stranger's word, are refused.
	w.on(inside+"/rdap/domain/two-site.com", to("https://"+insideHost+":8444/domain/two-site.com"))
	w.on(inside+"/rdap/domain/three-site.com", to("https://"+registryHost+"/domain/three-site.com"))
	w.on(registryHost+"/domain/three-site.com", to("https://"+inside+"/v3/domain/one-site.com"))
	for _, name := range []string{"two-site.com", "three-site.com"} {
		_, err := w.domain(name)
		wantFailure(t, err, fault.Upstream, "not a public URL")
	}
	w.wantAsked(inside+"/rdap/domain/two-site.com", inside+"/rdap/domain/three-site.com",
		registryHost+"/domain/three-site.com")
	// Nothing that it has not got is said to come from it by name.
	b, err := w.domain("site.zz")
	if err != nil || b.Reason != NoService || b.Sources[0].URL != "" {
		t.Errorf("%+v, %v", b, err)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	memory := cache.NewMemory(1 << 10)
	t.Cleanup(memory.Close)
	client := egresstest.New(t).Client(nil)
	for name, c := range map[string]Config{
		"no way out": {Base: "https://rdap.org", Cache: memory}, "no cache": {Egress: client, Base: "https://rdap.org"},
		"http": {Egress: client, Base: "http://rdap.org", Cache: memory}, "no URL": {Egress: client, Base: "rdap.org", Cache: memory},
	} {
		if _, err := New(c); err == nil {
			t.Errorf("%s passes", name)
		}
	}
}

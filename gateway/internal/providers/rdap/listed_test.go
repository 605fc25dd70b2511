package rdap

import (
	"context"
	"net/netip"
	"strings"
	"testing"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/limits/pace"
	"diagnostics/gateway/internal/target"

	"github.com/miekg/dns"
)

// lists are listed registries: base URLs by top-level domain and by block.
type lists map[string]string

func (l lists) Domain(_ context.Context, name string) (target.URL, bool) {
	return l.base(name[strings.LastIndexByte(name, '.')+1:])
}

func (l lists) Address(_ context.Context, a netip.Addr) (target.URL, bool) {
	for block := range l {
		if p, err := netip.ParsePrefix(block); err == nil && p.Contains(a) {
			return l.base(block)
		}
	}
	return target.URL{}, false
}

func (l lists) Stale() bool { return l["stale"] != "" }

func (l lists) base(key string) (target.URL, bool) {
	u, err := target.ParseURL(l[key])
	return u, err == nil
}

func mustURL(t testing.TB, s string) target.URL {
	t.Helper()
	u, err := target.ParseOperatorURL(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func listedWorld(t *testing.T, l lists) (*world, *slots) {
	t.Helper()
	s := &slots{}
	return newWorld(t, func(c *Config) { c.Registries, c.Pace = l, pace.New(s) }), s
}

// A listed registry is queried at once, whatever became of it, and the redirector never.
func TestListedName(t *testing.T) {
	t.Parallel()
	w, _ := listedWorld(t, lists{"com": "https://" + registryHost + "/com/v1/"})
	w.on(registryHost+"/com/v1/domain/one-site.com", domainBody("one-site.com"))
	w.on(registryHost+"/com/v1/domain/gone-site.com", status(404, "Content-Type", "application/rdap+json"))
	w.on(registryHost+"/com/v1/domain/page-site.com", status(404, "Content-Type", "text/html"))
	w.on(registryHost+"/com/v1/domain/broken-site.com", status(500))
	a, err := w.domain("one-site.com")
	if err != nil || !a.Found || a.Sources[0].Name != "Registry RDAP" ||
		a.Sources[0].URL != "https://"+registryHost+"/com/v1/domain/one-site.com" {
		t.Errorf("%+v, %v", a, err)
	}
	for _, name := range []string{"gone-site.com", "page-site.com"} {
		if a, err := w.domain(name); err != nil || a.Reason != NotFound || a.Undelegated {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
	_, err = w.domain("broken-site.com")
	wantFailure(t, err, fault.Upstream, "The registration server "+registryHost+" answered with the status 500.")
	w.wantAsked(registryHost+"/com/v1/domain/one-site.com", registryHost+"/com/v1/domain/gone-site.com",
		registryHost+"/com/v1/domain/page-site.com", registryHost+"/com/v1/domain/broken-site.com")
}

// Where the lists are old, the redirector is queried about what a listed registry fails at: it may have moved. One that
// says in its own format that it has no such name is where it was.
func TestOldLists(t *testing.T) {
	t.Parallel()
	w, _ := listedWorld(t, lists{"com": "https://" + registryHost, "8.0.0.0/8": "https://" + registryHost, "stale": "yes"})
	w.on(registryHost+"/domain/page-site.com", status(404, "Content-Type", "text/html"))
	w.on(redirectorHost+"/domain/page-site.com", to("https://"+secondHost+"/domain/page-site.com"))
	w.on(secondHost+"/domain/page-site.com", domainBody("page-site.com"))
	w.on(registryHost+"/ip/8.8.8.8", status(500))
	w.on(redirectorHost+"/ip/8.8.8.8", to("https://"+secondHost+"/ip/8.8.8.8"))
	w.on(secondHost+"/ip/8.8.8.8", networkBody("8.8.8.0", "8.8.8.255"))
	if a, err := w.domain("page-site.com"); err != nil || !a.Found {
		t.Errorf("%+v, %v", a, err)
	}
	if a, err := w.network("8.8.8.8"); err != nil || !a.Found {
		t.Errorf("%+v, %v", a, err)
	}
	w.wantAsked(registryHost+"/domain/page-site.com", redirectorHost+"/domain/page-site.com",
		secondHost+"/domain/page-site.com", registryHost+"/ip/8.8.8.8", redirectorHost+"/ip/8.8.8.8",
		secondHost+"/ip/8.8.8.8")

	// It leads back, lists none, or fails too: what the registry said stands.
	w.on(redirectorHost+"/domain/back-site.com", to("https://"+registryHost+"/domain/back-site.com"))
	w.on(redirectorHost+"/domain/failing-site.com", status(500))
	for _, name := range []string{"back-site.com", "none-site.com", "failing-site.com"} {
		w.on(registryHost+"/domain/"+name, status(502))
		_, err := w.domain(name)
		wantFailure(t, err, fault.Upstream, registryHost+" answered with the status 502.")
	}
	w.wantAsked(registryHost+"/domain/back-site.com", redirectorHost+"/domain/back-site.com",
		registryHost+"/domain/back-site.com", registryHost+"/domain/none-site.com", redirectorHost+"/domain/none-site.com",
		registryHost+"/domain/failing-site.com", redirectorHost+"/domain/failing-site.com")
	w.on(registryHost+"/domain/gone-site.com", status(404, "Content-Type", "application/rdap+json"))
	if a, err := w.domain("gone-site.com"); err != nil || a.Reason != NotFound {
		t.Errorf("%+v, %v", a, err)
	}
	w.wantAsked(registryHost + "/domain/gone-site.com")
}

// What is kept of a name says that there is no such top-level domain only where it says that there is no service.
func TestWhatFitsAnUndelegatedName(t *testing.T) {
	t.Parallel()
	for reason, want := range map[Reason]bool{NoService: true, NotFound: false} {
		if got := domainFits("a.zz")(domainRecord{Reason: reason, Undelegated: true}); got != want {
			t.Errorf("%s: fits is %t", reason, got)
		}
	}
}

// The redirector has what the lists do not.
func TestUnlistedName(t *testing.T) {
	t.Parallel()
	w, _ := listedWorld(t, lists{"com": "https://" + registryHost})
	for _, name := range []string{"one-site.de", "two-site.de"} {
		w.on(redirectorHost+"/domain/"+name, to("https://"+secondHost+"/domain/"+name))
		w.on(secondHost+"/domain/"+name, domainBody(name))
		if a, err := w.domain(name); err != nil || !a.Found {
			t.Errorf("%+v, %v", a, err)
		}
	}
	w.wantAsked(redirectorHost+"/domain/one-site.de", secondHost+"/domain/one-site.de",
		redirectorHost+"/domain/two-site.de", secondHost+"/domain/two-site.de")
	a, err := w.domain("one-site.es")
	if err != nil || a.Reason != NoService || a.Undelegated || a.Sources[0].Name != "RDAP redirector" {
		t.Errorf("%+v, %v", a, err)
	}
	w.wantAsked(redirectorHost + "/domain/one-site.es")
}

// A name below no top-level domain fails at once and costs no slot anywhere: one question to the resolver for each
// last label that the public suffix list does not have.
func TestUndelegatedName(t *testing.T) {
	t.Parallel()
	w, s := listedWorld(t, lists{"com": "https://" + registryHost})
	for _, name := range strings.Fields("a.zz b.zz c.nosuch d.nosuch e.xn--nosuch f.zz") {
		a, err := w.domain(name)
		if err != nil || a.Found || a.Reason != NoService || !a.Undelegated || len(a.Sources) != 1 ||
			a.Sources[0].Name != "DNS root zone" || a.Sources[0].URL != "" {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
	w.wantAsked()
	s.wantTaken(t)
	for _, tld := range []string{"zz", "nosuch", "xn--nosuch"} {
		if n := w.net.QueriesFor(tld, dns.TypeNS); n != 1 {
			t.Errorf("%s: %d questions", tld, n)
		}
	}
	if n := w.net.QueriesFor("de", dns.TypeNS); n != 0 {
		t.Errorf("de: %d questions", n)
	}
	// It is kept as other answers of none are.
	if a, err := w.domain("a.zz"); err != nil || !a.Undelegated || !a.Sources[0].Cached {
		t.Errorf("again: %+v, %v", a, err)
	}
}

// A top-level domain that the public suffix list does not have may be a new one: the root's word counts, and where
// there is none the redirector's.
func TestNewTopLevelDomain(t *testing.T) {
	t.Parallel()
	w, _ := listedWorld(t, lists{})
	w.net.Records("brandnew. 300 IN NS a.nic.brandnew.")
	w.net.Handle("broken.", func(q *dns.Msg) *dns.Msg {
		m := new(dns.Msg)
		return m.SetRcode(q, dns.RcodeServerFailure)
	})
	for _, name := range []string{"a.brandnew", "a.broken"} {
		w.on(redirectorHost+"/domain/"+name, to("https://"+registryHost+"/domain/"+name))
		w.on(registryHost+"/domain/"+name, domainBody(name))
		if a, err := w.domain(name); err != nil || !a.Found {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
}

// A listed registry of addresses may lead to the one that has a part of its block now.
func TestListedAddress(t *testing.T) {
	t.Parallel()
	w, _ := listedWorld(t, lists{
		"8.0.0.0/8": "https://" + registryHost + "/registry/", "2600::/12": "https://" + secondHost,
	})
	w.on(registryHost+"/registry/ip/8.8.8.8", networkBody("8.8.8.0", "8.8.8.255"))
	w.on(registryHost+"/registry/ip/8.9.0.1", to("https://"+secondHost+"/ip/8.9.0.1"))
	w.on(secondHost+"/ip/8.9.0.1", networkBody("8.9.0.0", "8.9.255.255"))
	w.on(secondHost+"/ip/2600::1", networkBody("2600::", "2600:ffff:ffff:ffff:ffff:ffff:ffff:ffff"))
	for _, address := range strings.Fields("8.8.8.8 8.9.0.1 2600::1") {
		if a, err := w.network(address); err != nil || !a.Found {
			t.Errorf("%s: %+v, %v", address, a, err)
		}
	}
	w.wantAsked(registryHost+"/registry/ip/8.8.8.8", registryHost+"/registry/ip/8.9.0.1", secondHost+"/ip/8.9.0.1",
		secondHost+"/ip/2600::1")
}

func TestUnlistedAddress(t *testing.T) {
	t.Parallel()
	w, _ := listedWorld(t, lists{"8.0.0.0/8": "https://" + registryHost})
	w.on(redirectorHost+"/ip/9.9.9.9", to("https://"+secondHost+"/ip/9.9.9.9"))
	w.on(secondHost+"/ip/9.9.9.9", networkBody("9.9.9.0", "9.9.9.255"))
	if a, err := w.network("9.9.9.9"); err != nil || !a.Found {
		t.Errorf("%+v, %v", a, err)
	}
	w.wantAsked(redirectorHost+"/ip/9.9.9.9", secondHost+"/ip/9.9.9.9")
	if a, err := w.network("9.9.8.1"); err != nil || a.Reason != NoService {
		t.Errorf("%+v, %v", a, err)
	}
}

// Without lists, as with an operator's own redirector, nothing is judged by its top-level domain.
func TestAnOwnRedirectorIsAskedForEverything(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.on(redirectorHost+"/domain/a.zz", to("https://"+registryHost+"/domain/a.zz"))
	w.on(registryHost+"/domain/a.zz", domainBody("a.zz"))
	if a, err := w.domain("a.zz"); err != nil || !a.Found {
		t.Errorf("%+v, %v", a, err)
	}
	if n := w.net.QueriesFor("zz", dns.TypeNS); n != 0 {
		t.Errorf("%d questions", n)
	}
}

package ipgeolocation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"diagnostics/gateway/internal/cache"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/limits/pace"
	"diagnostics/gateway/internal/providers/rdap"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/registration"
	"diagnostics/gateway/internal/tools/internal/toolstest"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
)

const (
	apnicNetwork = `{"objectClassName":"ip network","handle":"1.1.1.0 - 1.1.1.255","startAddress":"1.1.1.0","endAddress":"1.1.1.255","ipVersion":"v4",
		"name":"APNIC-LABS","type":"ASSIGNED PORTABLE","country":"AU","parentHandle":"1.0.0.0 - 1.255.255.255","status":["active"],
		"entities":[{"roles":["registrant"],"vcardArray":["vcard",[["version",{},"text","4.0"],["kind",{},"text","org"],["fn",{},"text","APNIC Research and Development"]]]},
			{"roles":["abuse"],"vcardArray":["vcard",[["version",{},"text","4.0"],["kind",{},"text","group"],["fn",{},"text","IRT"],["email",{},"text","helpdesk@apnic.example"]]]}]}`
	arinNetwork = `{"objectClassName":"ip network","handle":"NET6-2001-4860-1","startAddress":"2001:4860::","endAddress":"2001:4860:ffff:ffff:ffff:ffff:ffff:ffff","ipVersion":"v6",
		"name":"GOOGLE-IPV6","type":"DIRECT ALLOCATION","status":["active"],"entities":[]}`
)

// locator is the tool on a private internet with a registry and an ASN service.
type locator struct {
	*egresstest.Network
	tool tool.Tool
}

func newLocator(t *testing.T, registry http.HandlerFunc) locator {
	t.Helper()
	return newLocatorOf(t, registry, nil)
}

// newLocatorOf has a share of the servers' time, of which nil is all.
func newLocatorOf(t *testing.T, registry http.HandlerFunc, share pace.Buckets) locator {
	t.Helper()
	n := egresstest.New(t)
	authority := toolstest.NewAuthority(t)
	n.Records("rdap.test-site.com. 300 IN A 93.184.216.34", "registry.test-site.com. 300 IN A 93.184.216.35")
	n.ServeTLS("93.184.216.34:443", authority.Issue("rdap.test-site.com", time.Now().Add(time.Hour)), registry)
	n.ServeTLS("93.184.216.35:443", authority.Issue("registry.test-site.com", time.Now().Add(time.Hour)),
		toolstest.StatusHandler(http.StatusNotFound))
	out := n.Client(nil, authority.Option())
	store := cache.NewMemory(1 << 20)
	t.Cleanup(store.Close)
	var limiter *pace.Limiter
	if share != nil {
		limiter = pace.New(share)
	}
	registries, err := rdap.New(rdap.Config{
		Egress: out, Base: "https://rdap.test-site.com", Cache: store, Pace: limiter,
	})
	if err != nil {
		t.Fatal(err)
	}
	return locator{n, New(out, registries, toolstest.ASNClient(t, out))}
}

func (l locator) run(ctx context.Context, t *testing.T, address string) (Result, error) {
	t.Helper()
	job, err := l.tool.Parse(tool.Input{Text: address})
	if err != nil {
		t.Fatal(err)
	}
	result, err := job.Run(ctx)
	return result.(Result), err
}

func (l locator) locate(t *testing.T, address string) Result {
	t.Helper()
	result, err := l.run(t.Context(), t, address)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(strings.ToLower(result.Note), "located") || !strings.Contains(result.Note, "registered in") {
		t.Errorf("note %q", result.Note)
	}
	return result
}

func registry(networks map[string]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		network, ok := networks[strings.TrimPrefix(r.URL.Path, "/ip/")]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/rdap+json")
		_, _ = io.WriteString(w, network)
	}
}

func TestIPGeolocation(t *testing.T) {
	t.Parallel()
	l := newLocator(t, registry(map[string]string{"1.1.1.1": apnicNetwork}))
	l.Records(
		toolstest.ASNLine("1.1.1.1.origin", "13335 | 1.1.1.0/24 | AU | apnic | 2011-08-11"),
		toolstest.ASNLine("as13335", "13335 | US | arin | 2010-07-14 | CLOUDFLARENET - Cloudflare, Inc., US"),
		"1.1.1.1.in-addr.arpa. 300 IN PTR One.test-site.com.",
	)
	got := l.locate(t, "1.1.1.1")
	for i := range got.Sources {
		if got.Sources[i].FetchedAt == "" || got.Sources[i].Cached {
			t.Errorf("source %+v", got.Sources[i])
		}
		got.Sources[i].FetchedAt = "then"
	}
	got.Sources[0].Name = "the registry"
	out, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(out), `"findings":[],`)
	want := `"ip":"1.1.1.1","version":4,"network":{"handle":"1.1.1.0 - 1.1.1.255","name":"APNIC-LABS","type":"ASSIGNED PORTABLE","cidrs":["1.1.1.0/24"],` +
		`"startAddress":"1.1.1.0","endAddress":"1.1.1.255","parentHandle":"1.0.0.0 - 1.255.255.255","status":["active"],"redactions":[]},` +
		`"country":"AU","countryName":"Australia","countrySource":"rdap","organization":"APNIC Research and Development","abuseContact":"helpdesk@apnic.example",` +
		`"asn":{"asn":13335,"name":"CLOUDFLARENET - Cloudflare, Inc., US","prefix":"1.1.1.0/24","country":"AU","registry":"apnic","allocated":"2011-08-11"},"hostname":"one.test-site.com",` +
		`"note":"This network is registered in Australia (AU), according to its registry. A registration says who holds the addresses, not where they are used.",` +
		`"sources":[{"name":"the registry","url":"https://rdap.test-site.com/ip/1.1.1.1","fetchedAt":"then","cached":false},{"name":"Team Cymru","zone":"asn.cymru.com","fetchedAt":"then","cached":false}]}`
	if diff := cmp.Diff(want, rest); diff != "" || got.Conclusion.Code != codeHolder {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, s := range l.locate(t, "1.1.1.1").Sources {
		if !s.Cached {
			t.Errorf("the second time: %+v", s)
		}
	}
}

// Where the country comes from, and what the note says of what is missing.
func TestIPGeolocationSources(t *testing.T) {
	t.Parallel()
	const address, origin = "2001:4860:4860::8888",
		"8.8.8.8.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.6.8.4.0.6.8.4.1.0.0.2.origin6"
	withCountry := strings.Replace(arinNetwork, `"type"`, `"country":"DE","type"`, 1)
	for name, test := range map[string]struct {
		network string
		arrange func(l locator)
		country string // code, name, source
		asn     uint32
		note    string
		sources int
	}{
		"from the ASN service": {arinNetwork, func(l locator) {
			l.Records(toolstest.ASNLine(origin, "15169 | 2001:4860::/32 | US | arin | 2005-03-14"))
		}, "US United States asn", 15169, "registered in the United States (US), according to the ASN service", 2},
		"the registry goes first": {withCountry, func(l locator) {
			l.Records(toolstest.ASNLine(origin, "15169 | 2001:4860::/32 | US | arin | 2005-03-14"))
		}, "DE Germany rdap", 15169, "registered in Germany (DE), according to its registry", 2},
		"from no one": {arinNetwork, func(l locator) {
			l.Records(toolstest.ASNLine(origin, "15169 | 2001:4860::/32 |  | arin | 2005-03-14"))
		}, "", 15169, "No source says which country this network is registered in.", 2},
		"not announced":         {withCountry, func(locator) {}, "DE Germany rdap", 0, rows.Sentence(registration.CodeNotAnnounced, finding.Args{"address": address}), 2},
		"a code without a name": {strings.Replace(arinNetwork, `"type"`, `"country":"XZ","type"`, 1), func(locator) {}, "XZ  rdap", 0, "registered in XZ, according to its registry", 2},
		"several origins": {withCountry, func(l locator) {
			l.Records(toolstest.ASNLine(origin, "36040 15169 | 2001:4860::/32 | US | arin | 2005-03-14"))
		}, "DE Germany rdap", 15169, "a mistake or a hijack. Only AS15169 is shown here; the ASN lookup shows all.", 2},
		"a shorter prefix of another": {withCountry, func(l locator) {
			l.Records(toolstest.ASNLine(origin, "15169 | 2001:4860::/32 | US | arin | 2005-03-14"),
				toolstest.ASNLine(origin, "1 | 2001::/16 | US | arin | 2005-03-14"))
		}, "DE Germany rdap", 15169, "where they are used.", 2},
		"no name": {withCountry, func(l locator) {
			l.Records(toolstest.ASNLine(origin, "15169 | 2001:4860::/32 | US | arin | 2005-03-14"))
			l.Handle("as15169.asn.cymru.com", toolstest.Failing(dns.RcodeServerFailure))
		}, "DE Germany rdap", 15169, rows.Sentence(registration.CodeNamesMissing, nil), 2},
		"the ASN service fails": {withCountry, func(l locator) {
			l.Handle(origin+".asn.cymru.com", toolstest.Failing(dns.RcodeServerFailure))
		}, "DE Germany rdap", 0, rows.Sentence(codeASNMissing, nil), 1},
		"the ASN service raves": {arinNetwork, func(l locator) {
			l.Records(toolstest.ASNLine(origin, "<html>"))
		}, "", 0, rows.Sentence(codeASNMissing, nil), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLocator(t, registry(map[string]string{address: test.network}))
			test.arrange(l)
			got := l.locate(t, address)
			country := ""
			if got.Country != nil {
				country = *got.Country + " " + deref(got.CountryName) + " " + *got.CountrySource
			}
			if country != test.country || got.Version != 6 || len(got.Sources) != test.sources ||
				!strings.Contains(got.Note, test.note) {
				t.Errorf("country %q, %d sources, note %q", country, len(got.Sources), got.Note)
			}
			if test.asn == 0 != (got.ASN == nil) || got.ASN != nil && got.ASN.ASN != test.asn {
				t.Errorf("asn %+v", got.ASN)
			}
			if got.Organization != nil || got.AbuseContact != nil {
				t.Errorf("%v, %v", got.Organization, got.AbuseContact)
			}
		})
	}
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// TestIPGeolocationWithoutAResolver: what the registry said is reported, though the AS number could not be queried.
func TestIPGeolocationWithoutAResolver(t *testing.T) {
	t.Parallel()
	l := newLocator(t, registry(map[string]string{"1.1.1.1": apnicNetwork}))
	l.Handle("1.1.1.1.origin.asn.cymru.com", toolstest.Failing(dns.RcodeServerFailure))
	l.Handle("com", toolstest.Failing(dns.RcodeServerFailure))
	got, err := l.run(t.Context(), t, "1.1.1.1")
	if err != nil || got.Network == nil || got.ASN != nil || len(got.Sources) != 1 ||
		!strings.Contains(got.Note, "This service could not ask the ASN service") {
		t.Errorf("%+v, %v", got, err)
	}
}

// registryFault is a way in which there is nothing to be had of a registry.
type registryFault struct {
	registry http.HandlerFunc
	arrange  func(l locator) // nil for nothing
	kind     fault.Kind
	retry    bool   // a wait is reported
	says     string // part of the sentence
	sources  int    // beside the ASN service
}

func registryFaults() map[string]registryFault {
	return map[string]registryFault{
		"fails": {registry: toolstest.StatusHandler(http.StatusInternalServerError).ServeHTTP, kind: fault.Upstream,
			says: "answered with the status 500."},
		"is no RDAP": {registry: func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") },
			kind: fault.Upstream, says: "sent a web page instead of registration data."},
		"is silent": {arrange: func(l locator) { l.Fail("93.184.216.34:443", syscall.ETIMEDOUT) }, kind: fault.Timeout,
			says: "did not answer in time."},
		"asks to wait": {registry: toolstest.StatusHandler(http.StatusTooManyRequests).ServeHTTP, kind: fault.Busy, retry: true,
			says: "has been asked too often. Try again in 10 seconds."},
		"is out of service": {registry: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "5")
			w.WriteHeader(http.StatusServiceUnavailable)
		}, kind: fault.Upstream, retry: true, says: "is out of service. Try again in 5 seconds."},
		"is unknown to all": {registry: toolstest.StatusHandler(http.StatusNotFound).ServeHTTP, kind: fault.Upstream,
			says: "No registry that offers registration data (RDAP) is known for this address.", sources: 1},
		// The registry may also say that it has no such object, behind a redirector that knew it.
		"has nothing": {registry: toolstest.RedirectHandler("https://registry.test-site.com/ip/1.1.1.1").ServeHTTP,
			kind: fault.Upstream, says: "The registry has no registration data for this address.", sources: 1},
	}
}

// TestIPGeolocationWithoutTheRegistry: the ASN service's answer is reported without any of a registry.
func TestIPGeolocationWithoutTheRegistry(t *testing.T) {
	t.Parallel()
	for name, test := range registryFaults() {
		for _, announced := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, announced: %t", name, announced), func(t *testing.T) {
				t.Parallel()
				l := newLocator(t, test.registry)
				if test.arrange != nil {
					test.arrange(l)
				}
				said := []string{"We do not know which country this network is registered in.", "No network announces 1.1.1.1"}
				if announced {
					l.Records(toolstest.ASNLine("1.1.1.1.origin", "13335 | 1.1.1.0/24 | AU | apnic | 2011-08-11"))
					said = []string{"This network is registered in Australia (AU), according to the ASN service. "}
				}
				got := l.locate(t, "1.1.1.1")
				if got.Network != nil || got.Organization != nil || got.AbuseContact != nil || (got.ASN != nil) != announced {
					t.Errorf("%+v", got)
				}
				if country := deref(got.Country) + deref(got.CountrySource); announced != (country == "AUasn") ||
					!announced && country != "" {
					t.Errorf("country %q", country)
				}
				for _, part := range append(said, test.says) {
					if !strings.Contains(got.Note, part) {
						t.Errorf("the note %q lacks %q", got.Note, part)
					}
				}
				if len(got.Sources) != test.sources+1 || got.Sources[test.sources].Zone == "" {
					t.Errorf("sources %+v", got.Sources)
				}
			})
		}
	}
}

// TestIPGeolocationFailures: where no one answers, the registry's failure is reported.
func TestIPGeolocationFailures(t *testing.T) {
	t.Parallel()
	for name, test := range registryFaults() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLocator(t, test.registry)
			if test.arrange != nil {
				test.arrange(l)
			}
			l.Handle("1.1.1.1.origin.asn.cymru.com", toolstest.Failing(dns.RcodeServerFailure))
			result, err := l.run(t.Context(), t, "1.1.1.1")
			var f *fault.Error
			if !errors.As(err, &f) || f.Kind != test.kind || (f.RetryAfter > 0) != test.retry ||
				!strings.Contains(f.Sentence(), test.says) {
				t.Errorf("%+v, %v", result, err)
			}
		})
	}
}

// usedUp is a share of a server of which nothing is left.
type usedUp struct{}

func (usedUp) Take(context.Context, string, int, time.Duration) (bool, time.Duration, error) {
	return false, 2 * pace.MaxWait, nil
}

// Many clients at once use up this service's share of a registry. The others are queried all the same.
func TestIPGeolocationWhenTheShareIsUsedUp(t *testing.T) {
	t.Parallel()
	l := newLocatorOf(t, registry(map[string]string{"1.1.1.1": apnicNetwork}), usedUp{})
	l.Records(toolstest.ASNLine("1.1.1.1.origin", "13335 | 1.1.1.0/24 | AU | apnic | 2011-08-11"),
		"1.1.1.1.in-addr.arpa. 300 IN PTR one.test-site.com.")
	got := l.locate(t, "1.1.1.1")
	const says = "Too many registrations are being looked up at the moment. Try again in 10 seconds."
	if got.Network != nil || got.ASN == nil || deref(got.Country) != "AU" || deref(got.Hostname) != "one.test-site.com" ||
		len(got.Sources) != 1 || !strings.Contains(got.Note, says) {
		t.Errorf("%+v", got)
	}
	fresh := newLocatorOf(t, nil, usedUp{})
	fresh.Handle("1.1.1.1.origin.asn.cymru.com", toolstest.Failing(dns.RcodeServerFailure))
	_, err := fresh.run(t.Context(), t, "1.1.1.1")
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Busy || f.RetryAfter != 2*pace.MaxWait {
		t.Errorf("without the ASN service: %v", err)
	}
}

// The name of an address is beside the question: what goes wrong with it costs nothing but the name.
func TestIPGeolocationTellsTheName(t *testing.T) {
	t.Parallel()
	const owner, missing = "1.1.1.1.in-addr.arpa", "hostname could not be looked up"
	for name, test := range map[string]struct {
		arrange func(l locator)
		want    string
		missing bool
	}{
		"a name":          {func(l locator) { l.Records(owner + ". 300 IN PTR One.test-site.com.") }, "one.test-site.com", false},
		"no name":         {func(locator) {}, "", false},
		"markup":          {func(l locator) { l.Records(owner + `. 300 IN PTR <b>.test-site.com.`) }, "", false},
		"an inner name":   {func(l locator) { l.Records(owner + ". 300 IN PTR db.corp.internal.") }, "", false},
		"a failure":       {func(l locator) { l.Handle(owner, toolstest.Failing(dns.RcodeServerFailure)) }, "", true},
		"a refusal":       {func(l locator) { l.Handle(owner, toolstest.Failing(dns.RcodeRefused)) }, "", true},
		"a second answer": {func(l locator) { l.Records(owner+". 300 IN PTR localhost.", owner+". 300 IN PTR two.test-site.com.") }, "two.test-site.com", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLocator(t, registry(map[string]string{"1.1.1.1": apnicNetwork}))
			test.arrange(l)
			got := l.locate(t, "1.1.1.1")
			if deref(got.Hostname) != test.want || got.Network == nil || strings.Contains(got.Note, missing) != test.missing {
				t.Errorf("%q, note %q", deref(got.Hostname), got.Note)
			}
		})
	}
}

// TestIPGeolocationShortage: a service that lacks the means to query reports that, and no half of an answer.
func TestIPGeolocationShortage(t *testing.T) {
	t.Parallel()
	l := newLocator(t, nil)
	l.Fail("93.184.216.34:443", toolstest.OurFault)
	l.Records(toolstest.ASNLine("1.1.1.1.origin", "13335 | 1.1.1.0/24 | AU | apnic | 2011-08-11"))
	if result, err := l.run(t.Context(), t, "1.1.1.1"); !errors.Is(err, toolstest.OurFault) {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestIPGeolocationEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	l := newLocator(t, registry(map[string]string{"1.1.1.1": apnicNetwork}))
	ctx, cancel := context.WithCancel(t.Context())
	l.Handle("1.1.1.1.origin.asn.cymru.com", func(*dns.Msg) *dns.Msg {
		cancel()
		return nil
	})
	if _, err := l.run(ctx, t, "1.1.1.1"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestCountriesInASentence(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"US": "the United States (US)", "NL": "the Netherlands (NL)", "AU": "Australia (AU)",
		"KY": "the Cayman Islands (KY)", "DO": "the Dominican Republic (DO)", "CZ": "Czechia (CZ)", "EU": "the European Union (EU)"} {
		r := Result{Country: &code, CountryName: new(countryName(code))}
		if got := r.country(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestCountryName(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"US": "United States", "GB": "United Kingdom", "UK": "United Kingdom", "NA": "Namibia", "EU": "European Union", "AP": "Asia-Pacific",
		"XZ": "", "QQ": "", "ZZ": "", "": "", "001": "",
	} {
		if got := countryName(code); got != want {
			t.Errorf("%s: %q, want %q", code, got, want)
		}
	}
}

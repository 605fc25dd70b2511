package ipgeolocation

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"diagnostics/gateway/internal/cache"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/providers/rdap"
	"diagnostics/gateway/internal/tool"
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
	n := egresstest.New(t)
	authority := toolstest.NewAuthority(t)
	n.Records("rdap.test-site.com. 300 IN A 93.184.216.34", "registry.test-site.com. 300 IN A 93.184.216.35")
	n.ServeTLS("93.184.216.34:443", authority.Issue("rdap.test-site.com", time.Now().Add(time.Hour)), registry)
	n.ServeTLS("93.184.216.35:443", authority.Issue("registry.test-site.com", time.Now().Add(time.Hour)),
		toolstest.StatusHandler(http.StatusNotFound))
	out := n.Client(nil, authority.Option())
	store := cache.NewMemory(1 << 20)
	t.Cleanup(store.Close)
	registries, err := rdap.New(rdap.Config{Egress: out, Base: "https://rdap.test-site.com", Cache: store})
	if err != nil {
		t.Fatal(err)
	}
	return locator{n, New(registries, toolstest.ASNClient(t, out))}
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
	want := `{"ip":"1.1.1.1","version":4,"network":{"handle":"1.1.1.0 - 1.1.1.255","name":"APNIC-LABS","type":"ASSIGNED PORTABLE","cidrs":["1.1.1.0/24"],` +
		`"startAddress":"1.1.1.0","endAddress":"1.1.1.255","parentHandle":"1.0.0.0 - 1.255.255.255","status":["active"]},` +
		`"country":"AU","countryName":"Australia","countrySource":"rdap","organization":"APNIC Research and Development","abuseContact":"helpdesk@apnic.example",` +
		`"asn":{"asn":13335,"name":"CLOUDFLARENET - Cloudflare, Inc., US","prefix":"1.1.1.0/24","country":"AU","registry":"apnic","allocated":"2011-08-11"},` +
		`"note":"This network is registered in Australia (AU), says its registry. A registration tells who holds the addresses, not where they are used.",` +
		`"sources":[{"name":"the registry","url":"https://rdap.test-site.com/ip/1.1.1.1","fetchedAt":"then","cached":false},{"name":"Team Cymru","zone":"asn.cymru.com","fetchedAt":"then","cached":false}]}`
	if diff := cmp.Diff(want, string(out)); diff != "" {
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
		}, "US United States asn", 15169, "registered in United States (US), says the ASN service", 2},
		"the registry goes first": {withCountry, func(l locator) {
			l.Records(toolstest.ASNLine(origin, "15169 | 2001:4860::/32 | US | arin | 2005-03-14"))
		}, "DE Germany rdap", 15169, "registered in Germany (DE), says its registry", 2},
		"from nobody": {arinNetwork, func(l locator) {
			l.Records(toolstest.ASNLine(origin, "15169 | 2001:4860::/32 |  | arin | 2005-03-14"))
		}, "", 15169, "Nobody says which country this network is registered in.", 2},
		"not announced":         {withCountry, func(locator) {}, "DE Germany rdap", 0, "No network announces this address at present.", 2},
		"a code without a name": {strings.Replace(arinNetwork, `"type"`, `"country":"XZ","type"`, 1), func(locator) {}, "XZ  rdap", 0, "registered in XZ, says its registry", 2},
		"several origins": {withCountry, func(l locator) {
			l.Records(toolstest.ASNLine(origin, "36040 15169 | 2001:4860::/32 | US | arin | 2005-03-14"))
		}, "DE Germany rdap", 15169, "AS15169 is one of several origins", 2},
		"a shorter prefix of another": {withCountry, func(l locator) {
			l.Records(toolstest.ASNLine(origin, "15169 | 2001:4860::/32 | US | arin | 2005-03-14"),
				toolstest.ASNLine(origin, "1 | 2001::/16 | US | arin | 2005-03-14"))
		}, "DE Germany rdap", 15169, "where they are used.", 2},
		"no name": {withCountry, func(l locator) {
			l.Records(toolstest.ASNLine(origin, "15169 | 2001:4860::/32 | US | arin | 2005-03-14"))
			l.Handle("as15169.asn.cymru.com", toolstest.Failing(dns.RcodeServerFailure))
		}, "DE Germany rdap", 15169, registration.NoteNamesMissing, 2},
		"the ASN service fails": {withCountry, func(l locator) {
			l.Handle(origin+".asn.cymru.com", toolstest.Failing(dns.RcodeServerFailure))
		}, "DE Germany rdap", 0, "The ASN service failed to answer, so the AS number is missing.", 1},
		"the ASN service raves": {arinNetwork, func(l locator) {
			l.Records(toolstest.ASNLine(origin, "<html>"))
		}, "", 0, "The ASN service failed to answer, so the AS number is missing.", 1},
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

// TestIPGeolocationWithoutAResolver: what the registry said is told, though nobody could ask for the AS number.
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

func TestIPGeolocationFailures(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		registry http.HandlerFunc
		arrange  func(l locator)
		kind     fault.Kind
	}{
		"the registry fails":        {toolstest.StatusHandler(http.StatusInternalServerError).ServeHTTP, nil, fault.Upstream},
		"the registry is no RDAP":   {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, nil, fault.Upstream},
		"nobody knows the registry": {toolstest.StatusHandler(http.StatusNotFound).ServeHTTP, nil, fault.Upstream},
		"the registry is silent":    {nil, func(l locator) { l.Fail("93.184.216.34:443", syscall.ETIMEDOUT) }, fault.Timeout},
		"both fail": {toolstest.StatusHandler(http.StatusInternalServerError).ServeHTTP, func(l locator) {
			l.Handle("1.1.1.1.origin.asn.cymru.com", func(*dns.Msg) *dns.Msg { return nil })
		}, fault.Upstream},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLocator(t, test.registry)
			if test.arrange != nil {
				test.arrange(l)
			}
			began := time.Now()
			if result, err := l.run(t.Context(), t, "1.1.1.1"); !fault.Is(err, test.kind) {
				t.Errorf("%+v, %v", result, err)
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("took %v: the registry's failure is the end", took)
			}
		})
	}
}

// The registry may also say that it has no such object, behind a redirector that knew it.
func TestIPGeolocationUnknownToItsRegistry(t *testing.T) {
	t.Parallel()
	l := newLocator(t, toolstest.RedirectHandler("https://registry.test-site.com/ip/1.1.1.1").ServeHTTP)
	_, err := l.run(t.Context(), t, "1.1.1.1")
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Upstream ||
		f.Sentence != "The registry has no registration data for this address." {
		t.Errorf("got %v", err)
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

package whoislookup

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/cache"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/providers/rdap"
	"diagnostics/gateway/internal/providers/whois"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tools/internal/toolstest"

	"github.com/google/go-cmp/cmp"
)

// registrations answers at the test's redirector, path by path; what is not in it is 404.
type registrations map[string]string

func (r registrations) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	path := strings.TrimPrefix(request.URL.Path, "/rdap/")
	body, known := r[path]
	switch {
	case !known:
		w.WriteHeader(http.StatusNotFound)
	case strings.HasPrefix(body, "https://"):
		http.Redirect(w, request, body, http.StatusFound)
	case body == "busy":
		w.Header().Set("Retry-After", "12")
		w.WriteHeader(http.StatusTooManyRequests)
	case body == "slow":
		<-request.Context().Done()
	default:
		w.Header().Set("Content-Type", "application/rdap+json")
		_, _ = io.WriteString(w, body)
	}
}

// newRegistrations is whois-lookup over a redirector at /rdap/ and a registry at /registry/ of one host.
func newRegistrations(t *testing.T, redirector, registry registrations) tool.Tool {
	t.Helper()
	n := egresstest.New(t)
	n.Records("redirector-site.net. 300 IN A 93.184.216.34", "registry-site.net. 300 IN A 93.184.216.35",
		"whois.iana.org. 300 IN A 93.184.216.36", "whois.registry-site.net. 300 IN A 93.184.216.37")
	serveLines(t, n.Listen("93.184.216.36:43"), ianaServers)
	serveLines(t, n.Listen("93.184.216.37:43"), registeredNames)
	ca := toolstest.NewAuthority(t)
	n.ServeTLS("93.184.216.34:443", ca.Issue("redirector-site.net", time.Now().Add(time.Hour)), redirector)
	n.ServeTLS("93.184.216.35:443", ca.Issue("registry-site.net", time.Now().Add(time.Hour)), registry)
	memory := cache.NewMemory(1 << 20)
	t.Cleanup(memory.Close)
	client := n.Client(nil, ca.Option())
	registries, err := rdap.New(rdap.Config{
		Egress: client, Base: "https://redirector-site.net/rdap", Cache: memory, Timeout: 300 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	port43, err := whois.New(whois.Config{Egress: client, Cache: memory, Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return New(registries, port43)
}

func run(t *testing.T, tl tool.Tool, input string) (map[string]any, error) {
	t.Helper()
	job, err := tl.Parse(tool.Input{Text: input})
	if err != nil {
		t.Fatal(err)
	}
	result, err := job.Run(t.Context())
	if err != nil {
		return nil, err
	}
	fields := toolstest.Fields(t, result)
	if report := result.(Result).Report; report.Conclusion.Code == "" || report.Findings == nil {
		t.Errorf("%+v", report)
	}
	delete(fields, "conclusion")
	delete(fields, "findings")
	for _, s := range fields["sources"].([]any) {
		at := s.(map[string]any)
		fetched, err := time.Parse(time.RFC3339, at["fetchedAt"].(string))
		if err != nil || fetched.Location() != time.UTC || time.Since(fetched) > time.Minute { // a moment, no duration
			t.Errorf("fetchedAt %v", at["fetchedAt"])
		}
		delete(at, "fetchedAt")
	}
	return fields, nil
}

// wantFields compares a whole result, except its report and the moments of its sources, with JSON.
func wantFields(t *testing.T, got map[string]any, want string) {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal([]byte(want), &fields); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fields, got); diff != "" {
		t.Error(diff)
	}
}

const bookShop = `{"objectClassName":"domain","handle":"D7-UK","ldhName":"xn--bcher-kva.co.uk","status":["active"],
	"events":[{"eventAction":"registration","eventDate":"2001-02-03"},{"eventAction":"expiration","eventDate":"2030-02-03T04:05:06.7+01:00"}],
	"nameservers":[{"ldhName":"NS1.Registry-Site.net."}],"secureDNS":{"delegationSigned":true,"dsData":[{"keyTag":1,"algorithm":13,"digestType":2,"digest":"ab01"}]},
	"notices":[{"title":"Terms","description":["Be","kind."]}],
	"entities":[{"roles":["registrar"],"publicIds":[{"type":"IANA Registrar ID","identifier":"376"}],"vcardArray":["vcard",[["fn",{},"text","A Registrar"]]]},
		{"roles":["registrant"],"vcardArray":["vcard",[["kind",{},"text","individual"],["fn",{},"text","Jane Doe"],["email",{},"text","jane@bookshop.net"],
			["adr",{"cc":"GB"},"text",["","","1 Hidden Street","","","",""]]]]}],
	"redacted":[{"name":{"type":"Registrant Phone"},"reason":{"type":"Server policy"}},{"name":{"type":"Registry Domain ID"}}]}`

func TestWhoisOfADomain(t *testing.T) {
	t.Parallel()
	tl := newRegistrations(t,
		registrations{"domain/xn--bcher-kva.co.uk": "https://registry-site.net/registry/domain/xn--bcher-kva.co.uk"},
		registrations{"/registry/domain/xn--bcher-kva.co.uk": bookShop})
	const want = `{"query":"shop.www.xn--bcher-kva.co.uk","queryType":"domain","found":true,"registrableDomain":"xn--bcher-kva.co.uk",
		"domain":{"name":"xn--bcher-kva.co.uk","unicodeName":"bücher.co.uk","handle":"D7-UK","status":["active"],
			"registrar":{"name":"A Registrar","ianaId":"376","url":null,"abuseEmail":null,"abusePhone":null},
			"events":{"registered":"2001-02-03T00:00:00Z","expires":"2030-02-03T03:05:06Z","updated":null,"transferred":null,"registrarExpires":null},
			"nameservers":["ns1.registry-site.net"],"dnssec":{"signed":true,"ds":[{"keyTag":1,"algorithm":13,"digestType":2,"digest":"AB01"}]},
			"contacts":[{"roles":["registrant"],"organization":null,"country":"GB","redacted":true,"redactions":[{"name":"Registrant Phone","reason":"Server policy"}]}],
			"redactions":[{"name":"Registry Domain ID","reason":null}]},
		"network":null,"notices":[{"title":"Terms","description":"Be kind."}],"reason":null,
		"sources":[{"name":"Registry RDAP","url":"https://registry-site.net/registry/domain/xn--bcher-kva.co.uk","cached":CACHED}]}`
	for _, cached := range []string{"false", "true"} {
		got, err := run(t, tl, "shop.www.Bücher.co.uk")
		if err != nil {
			t.Fatal(err)
		}
		wantFields(t, got, strings.Replace(want, "CACHED", cached, 1))
	}
}

func TestWhoisOfAnAddress(t *testing.T) {
	t.Parallel()
	tl := newRegistrations(t, registrations{"ip/2606:4700::1111": `{"objectClassName":"ip network","handle":"NET6-1","name":"NET","type":"DIRECT ALLOCATION",
		"startAddress":"2606:4700::","endAddress":"2606:4700:ffff:ffff:ffff:ffff:ffff:ffff","parentHandle":"NET6-0","country":"US","status":["active"]}`}, nil)
	got, err := run(t, tl, "2606:4700::1111")
	if err != nil {
		t.Fatal(err)
	}
	wantFields(t, got, `{"query":"2606:4700::1111","queryType":"ip","found":true,"registrableDomain":null,"domain":null,
		"network":{"handle":"NET6-1","name":"NET","type":"DIRECT ALLOCATION","cidrs":["2606:4700::/32"],"startAddress":"2606:4700::",
			"endAddress":"2606:4700:ffff:ffff:ffff:ffff:ffff:ffff","parentHandle":"NET6-0","status":["active"],"redactions":[]},
		"notices":[],"reason":null,"sources":[{"name":"Registry RDAP","url":"https://redirector-site.net/rdap/ip/2606:4700::1111","cached":false}]}`)
}

func TestWhoisThatFindsNothing(t *testing.T) {
	t.Parallel()
	tl := newRegistrations(t, registrations{
		"domain/free.com": "https://registry-site.net/domain/free.com",
		"ip/8.8.4.4":      "https://registry-site.net/ip/8.8.4.4",
	}, nil)
	// IANA lists no WHOIS server for the two top-level domains without RDAP.
	asked := func(tld string) (notices, source string) {
		return `{"title":"Nothing found over WHOIS","description":"IANA lists no WHOIS server for .` + tld + `.","fromService":true}`,
			`,{"name":"whois","server":"whois.iana.org","cached":false}`
	}
	absence := map[string]string{
		"domain": `{"title":"No such registration","description":"The registry has no such registration. Reserved and blocked names look the same.","fromService":true}`,
		"ip":     `{"title":"No such registration","description":"The registry has no registration for a network around this address. Reserved blocks look the same.","fromService":true}`,
	}
	for _, c := range []struct{ input, queryType, registrable, reason, source, url string }{
		{"www.free.com", "domain", `"free.com"`, "notFound", "Registry RDAP", "https://registry-site.net/domain/free.com"},
		{"www.nothing.zz", "domain", `"nothing.zz"`, "noRdapService", "RDAP redirector", "https://redirector-site.net/rdap/domain/nothing.zz"},
		{"co.uk", "domain", `"co.uk"`, "noRdapService", "RDAP redirector", "https://redirector-site.net/rdap/domain/co.uk"},
		{"8.8.4.4", "ip", "null", "notFound", "Registry RDAP", "https://registry-site.net/ip/8.8.4.4"},
		{"8.8.8.8", "ip", "null", "noRdapService", "RDAP redirector", "https://redirector-site.net/rdap/ip/8.8.8.8"},
	} {
		got, err := run(t, tl, c.input)
		if err != nil {
			t.Errorf("%s: %v", c.input, err)
			continue
		}
		notices, source := "", ""
		switch {
		case c.reason == "notFound":
			notices = absence[c.queryType]
		case c.queryType == "domain":
			notices, source = asked(c.input[strings.LastIndexByte(c.input, '.')+1:])
		}
		wantFields(t, got, `{"query":"`+c.input+`","queryType":"`+c.queryType+`","found":false,"registrableDomain":`+c.registrable+`,"domain":null,"network":null,
			"notices":[`+notices+`],"reason":"`+c.reason+`","sources":[{"name":"`+c.source+`","url":"`+c.url+`","cached":false}`+source+`]}`)
	}
}

func TestWhoisWhoseProviderFails(t *testing.T) {
	t.Parallel()
	tl := newRegistrations(t, registrations{"domain/slow.com": "slow", "ip/8.8.8.8": "{}", "ip/8.8.4.4": "busy"}, nil)
	for _, c := range []struct {
		input string
		kind  fault.Kind
	}{{"slow.com", fault.Timeout}, {"8.8.8.8", fault.Upstream}, {"8.8.4.4", fault.Busy}} {
		if got, err := run(t, tl, c.input); !fault.Is(err, c.kind) {
			t.Errorf("%s: %v, %v; want kind %d", c.input, got, err, c.kind)
		}
	}
}

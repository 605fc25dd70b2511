//go:build e2e

package e2e

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"diagnostics/lab"
)

// patiently asks again where the redirector's slots are taken (8 in 10 s for all of the service): that answer says
// when.
func patiently(t *testing.T, slug, input string) answer {
	t.Helper()
	for range 12 {
		a := call(t, slug, input, nil)
		note, _ := a.at("note").(string)
		if !strings.Contains(a.Error+note, "Too many registrations") {
			return a
		}
		if a.Status == 200 { // ip-geolocation, which answers without the registry
			time.Sleep(2 * time.Second)
			continue
		}
		seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
		if err != nil || seconds < 1 || seconds > 12 {
			t.Fatalf("Retry-After %q", a.Header.Get("Retry-After"))
		}
		time.Sleep(time.Duration(seconds) * time.Second)
	}
	t.Fatalf("%s %q: no slot at the redirector", slug, input)
	return answer{}
}

func runRegistrations(t *testing.T, slug string, checks []check) {
	t.Parallel()
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := patiently(t, slug, c.input)
			want := c.status
			if want == 0 {
				want = 200
			}
			if a.Status != want {
				t.Fatalf("%s %q: status %d, want %d: %.500s", slug, c.input, a.Status, want, a.Body)
			}
			c.facts.hold(t, a)
			// What the registries tell of people reaches nobody.
			if containsAny(string(a.Body), "Jane Doe", "jane.doe", "John Doe", "1600 Secret", "Far Street", "+1.5550001111") {
				t.Errorf("personal data: %s", a.Body)
			}
			if c.shown {
				show(t, slug+" "+c.input, a)
			}
		})
	}
}

func TestWhoisLookup(t *testing.T) {
	t.Parallel()
	failsWith := func(status int, sentence string) func(*testing.T, answer) {
		return func(t *testing.T, a answer) {
			t.Helper()
			if a.Status != status || !strings.Contains(a.Error, sentence) {
				t.Errorf("status %d, %q; want %d, …%s…", a.Status, a.Error, status, sentence)
			}
		}
	}
	t.Run("answers", func(t *testing.T) {
		runRegistrations(t, "whois-lookup", []check{
			{name: "a thin registry and the registrar", input: "www.example-shop.com", shown: true, facts: facts{
				"query": "www.example-shop.com", "queryType": "domain", "found": true, "registrableDomain": "example-shop.com", "network": nil, "reason": nil,
				"domain.name": "example-shop.com", "domain.handle": "2138514_DOMAIN_COM-VRSN", "domain.registrar.name": "MarkMonitor Inc.", "domain.registrar.ianaId": "292",
				"domain.events.registered": contains("1997-09-15"), "domain.events.expires": contains("2028-09-14"), "domain.status": hasAll("client transfer prohibited"),
				"domain.contacts": length(3), "domain.nameservers": hasAll("ns1.example-shop.com"), "sources": length(2), "sources.0.cached": false,
				"sources.0.url": "https://rdap-com.lab-site.com/com/v1/domain/example-shop.com", "sources.1.url": "https://rdap-registrar.lab-site.com/rdap/domain/EXAMPLE-SHOP.COM", "sources.0.fetchedAt": nonEmpty}},
			{name: "a registrar that fails", input: "lonely-shop.com", facts: facts{"found": true, "sources": length(1), "notices": has("title", "Registrar data missing")}},
			{name: "a registrar inside", input: "inside-shop.com", facts: facts{"found": true, "sources": length(1), "notices": has("title", "Registrar data missing")}},
			{name: "a fat registry", input: "charity-site.org", facts: facts{"found": true, "domain.name": "charity-site.org", "domain.dnssec.signed": true, "sources": length(1)}},
			{name: "reasons for what is held back", input: "quiet-charity.org", shown: true, facts: facts{"found": true, "domain.contacts": length(3), "domain.contacts.0.redacted": true,
				"domain.contacts.0.redactions": has("reason", "The registrant has not consented to publication."), "domain.contacts.0.redactions.0.name": "Registrant Name",
				"domain.contacts.0.redactions.0.reason": "Server policy", "domain.contacts.0.redactions.3.reason": nil, "domain.contacts.1.redactions.0.reason": contains("due to authorization"),
				"domain.contacts.2.redactions.0.name": "Administrative Contact", "domain.redactions.0.name": "Registry Domain ID", "domain.redactions.0.reason": "Server policy"}},
			{name: "an IDN", input: "www.münchen-shop.de", facts: facts{"found": true, "registrableDomain": "xn--mnchen-shop-thb.de", "domain.unicodeName": "münchen-shop.de"}},
			{name: "below a public suffix", input: "www.news-site.co.uk", facts: facts{"found": true, "registrableDomain": "news-site.co.uk"}},
			{name: "not registered", input: "nobody-there.org", facts: facts{"found": false, "domain": nil, "reason": "notFound", "registrableDomain": "nobody-there.org",
				"notices": has("description", "The registry has no such registration. Reserved and blocked names look the same.")}},
			{name: "no registry", input: "example.kiwi", facts: facts{"found": false, "domain": nil, "reason": "noRdapService"}},
			{name: "wrong types", input: "example.site", facts: facts{"found": true, "domain.name": "example.site", "domain.events.expires": contains("2027-02-03")}},
			{name: "hostile text", input: "example.top", facts: facts{"found": true, "domain.registrar.url": nil, "domain.handle": func(v any) bool { s, ok := v.(string); return ok && !containsAny(s, "\x00", "\x1b", "\u202e") }}},
			{name: "an address", input: "11.80.0.1", facts: facts{"queryType": "ip", "found": true, "domain": nil, "registrableDomain": nil, "network.name": "LAB-SITES", "network.cidrs": []string{"11.80.0.0/16"}}},
			{name: "a registry that pads octets with zeros", input: "11.98.0.7", facts: facts{"found": true, "network.startAddress": "11.98.0.0", "network.endAddress": "11.98.0.255",
				"network.cidrs": []string{"11.98.0.0/24"}, "network.redactions": []string{}}},
			{name: "an address of whose contacts some is held back", input: "11.98.1.7", facts: facts{"found": true, "network.redactions": length(2), "network.redactions.0.reason": "Personal data",
				"network.redactions.1.name": "Notify e-mail address", "network.redactions.1.reason": nil}},
			{name: "an address that the registry does not know", input: "11.91.0.1", facts: facts{"queryType": "ip", "found": false, "network": nil, "reason": "notFound", "notices": has("title", "No such registration")}},
			{name: "an address without a registry", input: "11.95.0.1", facts: facts{"found": false, "reason": "noRdapService"}},
		})
	})
	t.Run("failures", func(t *testing.T) {
		t.Parallel()
		for input, hold := range map[string]func(*testing.T, answer){
			"example.biz":    failsWith(502, "web page"),
			"example.io":     failsWith(504, "did not answer in time"),
			"example.app":    failsWith(502, "redirects more than 4 times"),
			"example.dev":    failsWith(502, "larger than 1 MiB"),
			"example.shop":   failsWith(502, "an invalid answer"),
			"example.online": failsWith(502, "status 500"),
			"example.xyz":    failsWith(502, ""),
			"example.us":     failsWith(502, "not a public URL"),
			"example.ca":     failsWith(502, "not at a public address"),
			"example.ch":     failsWith(502, "not https"),
			"localhost":      failsWith(400, ""),
			"10.0.0.1":       failsWith(400, ""),
		} {
			t.Run(input, func(t *testing.T) {
				t.Parallel()
				hold(t, patiently(t, "whois-lookup", input))
			})
		}
	})
}

// A registry that asks for a pause gets it: the second question is not sent, and says how long.
func TestWhoisPause(t *testing.T) {
	t.Parallel()
	for range 2 {
		a := patiently(t, "whois-lookup", "example.info")
		seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
		if a.Status != 503 || err != nil || seconds < 1 || seconds > 7 || !strings.Contains(a.Error, "asked too often") {
			t.Errorf("status %d, Retry-After %q, %s", a.Status, a.Header.Get("Retry-After"), a.Error)
		}
	}
}

func TestIPGeolocation(t *testing.T) {
	runRegistrations(t, "ip-geolocation", []check{
		{name: "everything", input: "11.80.0.5", shown: true, facts: facts{
			"ip": "11.80.0.5", "version": 4, "hostname": "five.lab-site.com", "network.handle": "11.80.0.0 - 11.80.255.255", "network.type": "ASSIGNED PA", "network.startAddress": "11.80.0.0",
			"country": "NL", "countryName": nonEmpty, "countrySource": "rdap", "organization": "Lab Sites B.V.", "abuseContact": "abuse@lab-site.com",
			"asn.asn": 212002, "asn.prefix": "11.80.0.0/24", "asn.country": "NL", "note": contains("registered"), "sources.0.name": "Registry RDAP", "sources.1.zone": "asn.cymru.com"}},
		{name: "IPv6", input: "2a10:80::5", facts: facts{"version": 6, "country": "NL", "network.cidrs": []string{"2a10:80::/32"}, "asn.asn": 212001}},
		{name: "a registry that tells no country", input: "11.90.0.7", facts: facts{"country": "US", "countrySource": "asn", "organization": "Far End Inc.", "asn.asn": 212003, "hostname": nil, "network.parentHandle": "NET-11-0-0-0-0",
			"note": contains("AS212003 and AS212004 announce 11.90.0.0/24 at the same time.")}},
		{name: "in the style of ARIN", input: "8.8.8.8", facts: facts{"network.name": "GOGL", "country": "US", "countrySource": "asn", "asn.name": contains("GOOGLE"), "abuseContact": "network-abuse@google.com"}},
		{name: "in the style of APNIC", input: "1.1.1.1", facts: facts{"network.name": "APNIC-LABS", "country": "AU", "countrySource": "rdap", "asn.asn": 13335}},
		{name: "in the style of RIPE", input: "193.0.6.139", facts: facts{"network.name": "RIPE-NCC", "country": "NL", "asn.asn": 3333}},
		{name: "not announced, without a country", input: "11.94.9.9", facts: facts{"country": nil, "countryName": nil, "countrySource": nil, "asn": nil, "hostname": nil}},
		{name: "the ASN service makes no sense", input: "11.94.1.1", facts: facts{"asn": nil, "network.name": "UNUSED"}},
		{name: "its name cannot be looked up", input: "11.98.1.7", facts: facts{"hostname": nil, "network.name": "LAB-QUIET", "note": contains("hostname could not be looked up")}},
		{name: "a registry that pads octets with zeros", input: "11.98.0.7", facts: facts{"network.startAddress": "11.98.0.0", "country": "BR"}},
		{name: "unknown to the registry", input: "11.91.0.5", facts: facts{"network": nil, "organization": nil, "abuseContact": nil, "country": nil, "asn.asn": 212006,
			"note": contains("The registry has no registration data for this address."), "sources.0.name": "Registry RDAP", "sources.1.zone": "asn.cymru.com"}},
		{name: "no registry", input: "11.95.0.1", facts: facts{"network": nil, "asn": nil, "note": contains("No registry that offers registration data (RDAP) is known for this address."), "sources": length(2)}},
		{name: "private", input: "192.168.1.1", status: 400},
		{name: "a name", input: "fast.lab-site.com", status: 400},
	})
}

// Seen: one client with names under top-level domains without a registry shut ip-geolocation for everybody, 18 of 18
// refused. What the ASN service and the reverse DNS know needs no registry.
func TestIPGeolocationIsNotShutByOthers(t *testing.T) {
	t.Parallel()
	gateway, err := service.StartGateway(t.Context(), "gateway-shut", unlimited...)
	if err != nil {
		t.Fatal(err)
	}
	var asking sync.WaitGroup
	for _, tld := range strings.Fields("kiwi aero asia cat coop jobs mobi museum name post pro tel") {
		asking.Go(func() {
			post(t, gateway, "whois-lookup", map[string]any{"input": "unknown-shop." + tld}, nil)
		})
	}
	asking.Wait()
	var refused, without atomic.Int32
	for i := range 18 {
		asking.Go(func() {
			a := post(t, gateway, "ip-geolocation", map[string]any{"input": fmt.Sprintf("11.80.0.%d", i+1)}, nil)
			note, _ := a.at("note").(string)
			switch {
			case a.Status != 200:
				refused.Add(1)
			case a.at("network") == nil && !strings.Contains(note, "Too many registrations"):
				t.Errorf("the note does not say what is missing: %.500s", a.Body)
			case a.at("network") == nil:
				without.Add(1)
			}
			if a.at("asn.asn") != 212002.0 || i == 4 && a.at("hostname") != "five.lab-site.com" {
				t.Errorf("status %d: %.500s", a.Status, a.Body)
			}
		})
	}
	asking.Wait()
	t.Logf("of 18 addresses %d refused, %d answered without the registry", refused.Load(), without.Load())
	if refused.Load() > 0 {
		t.Errorf("%d of 18 refused", refused.Load())
	}
}

func TestASNLookup(t *testing.T) {
	runChecks(t, "asn-lookup", []check{
		{name: "two prefixes", input: "11.80.0.1", shown: true, facts: facts{
			"query": "11.80.0.1", "queryType": "ip", "announced": true, "records": length(2), "records.0.asn": 212002, "records.0.prefix": "11.80.0.0/24",
			"records.0.name": "LAB-SITES-2 | the second - Lab Sites, NL", "records.0.country": "NL", "records.0.registry": "ripencc", "records.0.allocated": "2018-01-02",
			"records.1.asn": 212001, "records.1.prefix": "11.80.0.0/16", "peers": []string{"212000", "212001"}, "sources": has("zone", "asn.cymru.com")}},
		{name: "several origins", input: "11.90.0.1", facts: facts{"records": length(2), "records.0.asn": 212003, "records.1.asn": 212004, "records.1.name": "LAB-ANYCAST", "records.1.prefix": "11.90.0.0/24",
			"summary": contains("AS212003 and AS212004 announce 11.90.0.0/24 at the same time.")}},
		{name: "empty fields", input: "11.91.0.1", facts: facts{"records.0.asn": 212006, "records.0.country": nil, "records.0.allocated": nil, "records.0.registry": "apnic"}},
		{name: "the peers fail", input: "11.91.0.9", facts: facts{"announced": true, "peers": []string{}, "notes": length(1)}},
		{name: "IPv6", input: "2a10:80::1", facts: facts{"announced": true, "records.0.asn": 212001, "records.0.prefix": "2a10:80::/32", "peers": []string{}}},
		{name: "not announced", input: "11.93.0.1", facts: facts{"announced": false, "records": []string{}, "peers": []string{}}},
		{name: "a number", input: "as212002", facts: facts{"query": "AS212002", "queryType": "asn", "announced": true, "records": length(1), "records.0.asn": 212002, "records.0.prefix": nil,
			"summary": contains("Whether it announces anything at present was not checked.")}},
		{name: "a bare number", input: "15169", facts: facts{"queryType": "asn", "records.0.name": contains("GOOGLE"), "records.0.country": "US"}},
		{name: "an unknown number", input: "AS212999", facts: facts{"queryType": "asn", "announced": false, "records": []string{}, "summary": contains("does not know AS212999")}},
		{name: "unreadable", input: "11.94.1.1", status: 502},
		{name: "an unreadable number", input: "AS212099", status: 502},
		{name: "servfail", input: "11.94.2.1", status: 502},
		{name: "silence", input: "11.94.3.1", status: 504},
		{name: "a documentation number", input: "AS64500", status: 400},
		{name: "private", input: "10.0.0.1", status: 400},
	})
}

// What was kept and what was fetched for the same answer are two sources: no moment is true of both. Nobody else asks
// for this number and its prefix.
func TestASNLookupOfWhatIsKeptInPart(t *testing.T) {
	t.Parallel()
	number := call(t, "asn-lookup", "AS212007", nil)
	facts{"sources": length(1), "sources.0.cached": false}.hold(t, number)
	address := call(t, "asn-lookup", "11.92.0.1", nil)
	facts{"records.0.name": contains("LAB-KEPT"), "sources": length(2), "sources.0.cached": false,
		"sources.1.cached": true, "sources.1.fetchedAt": number.at("sources.0.fetchedAt")}.hold(t, address)
	show(t, "asn-lookup of what is kept in part", address)
}

// A trace tells the network of each public hop, and nothing of a private one.
func TestTraceTellsNetworks(t *testing.T) {
	t.Parallel()
	v4, v6 := lab.Clean(60)
	facts{"hops.0.asn.asn": 212000, "hops.0.asn.name": contains("LAB-TRANSIT"), "hops.0.asn.others": "(absent)",
		"hops.8.asn.asn": 212003, "hops.8.asn.others.0": 212004}.hold(t, call(t, "traceroute", v4.String(), nil))
	facts{"hops.0.asn": nil, "hops.8.asn.asn": 212003}.hold(t, call(t, "traceroute", v6.String(), nil))
	dirty, _ := lab.Wild(60)
	facts{"hops.1.hidden": true, "hops.1.asn": nil, "hops.4.asn.asn": 212005}.hold(t,
		call(t, "traceroute", dirty.String(), nil))
}

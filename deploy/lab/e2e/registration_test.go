//go:build e2e

package e2e

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

// patiently repeats a request where the redirector's slots are taken (8 in 10 s for all of the service): that answer
// says when.
func patiently(t *testing.T, slug, input string) answer {
	t.Helper()
	for range 12 {
		a := call(t, slug, input, nil)
		note, _ := a.at("note").(string)
		if !strings.Contains(a.Error+note, "Too many registrations") {
			return a
		}
		if a.Status == 200 { // ip-geolocation, which answers without the registry
			time.Sleep(2 * time.Second) // until the redirector has a slot, which only another request shows
			continue
		}
		seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
		if err != nil || seconds < 1 || seconds > 12 {
			t.Fatalf("Retry-After %q", a.Header.Get("Retry-After"))
		}
		time.Sleep(time.Duration(seconds) * time.Second) // as Retry-After has it
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
			// The registries' data about people is not passed on.
			if containsAny(string(a.Body), "Jane Doe", "jane.doe", "John Doe", "1600 Secret", "Far Street", "+1.5550001111") {
				t.Errorf("personal data: %s", a.Body)
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
			{name: "reasons for what is held back", input: "quiet-charity.org", facts: facts{"found": true, "domain.contacts": length(3), "domain.contacts.0.redacted": true,
				"domain.contacts.0.redactions": has("reason", "The registrant has not consented to publication."), "domain.contacts.0.redactions.0.name": "Registrant Name",
				"domain.contacts.0.redactions.0.reason": "Server policy", "domain.contacts.0.redactions.3.reason": nil, "domain.contacts.1.redactions.0.reason": contains("due to authorization"),
				"domain.contacts.2.redactions.0.name": "Administrative Contact", "domain.redactions.0.name": "Registry Domain ID", "domain.redactions.0.reason": "Server policy"}},
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

func TestIPGeolocation(t *testing.T) {
	runRegistrations(t, "ip-geolocation", []check{
		{name: "in the style of APNIC", input: "1.1.1.1", facts: facts{"network.name": "APNIC-LABS", "country": "AU", "countrySource": "rdap", "asn.asn": 13335}},
		{name: "its name cannot be looked up", input: "11.98.1.7", facts: facts{"hostname": nil, "network.name": "LAB-QUIET", "note": contains("hostname could not be looked up")}},
		{name: "a registry that pads octets with zeros", input: "11.98.0.7", facts: facts{"network.startAddress": "11.98.0.0", "country": "BR"}},
		{name: "no registry", input: "11.95.0.1", facts: facts{"network": nil, "asn": nil, "note": contains("No registry that offers registration data (RDAP) is known for this address."), "sources": length(2)}},
	})
}

func TestASNLookup(t *testing.T) {
	runChecks(t, "asn-lookup", []check{})
}

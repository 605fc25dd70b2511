//go:build e2e

package e2e

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"diagnostics/lab"
)

// The domain's own name servers are asked beside the resolvers, and what differs from them is told as what it is.
func TestOwnNameServers(t *testing.T) {
	text := map[string]any{"recordType": "TXT"}
	same := []bool{true, true, true, true}
	runChecks(t, "dns-resolver-check", []check{
		{name: "as the servers", input: "served.lab-resolve.com", facts: facts{"status": "agree", "authoritative.zone": lab.ResolveZone, "authoritative.agreed": true,
			"authoritative.values": []string{"11.80.0.1"}, "authoritative.ttl": 300, "authoritative.servers": length(3), "authoritative.servers.0.name": "ns1.lab-resolve.com",
			"authoritative.servers.0.address": "11.94.0.11", "authoritative.servers.0.outcome": "answer", "failure": nil, "changing": nil,
			"resolvers": compared(same), "summary": contains("The domain's own servers say the same.")}},
		{name: "an expired signature", input: "expired.lab-resolve.com", facts: facts{"status": "unavailable", "failure": "dnssec", "authoritative.values": []string{"11.80.0.1"},
			"summary": "expired.lab-resolve.com fails DNSSEC validation: signature expired (EDE 7). None of the four resolvers returns its records. " +
				"The domain's own servers do answer: what needs repair is its signatures, or its DS record at the registry."}},
		{name: "which one resolver does not mind", input: "unsigned.lab-resolve.com", facts: facts{"status": "inconclusive", "failure": "dnssec",
			"summary": "unsigned.lab-resolve.com fails DNSSEC validation at Cloudflare, Google and Quad9: signature expired (EDE 7); OpenDNS answered without validation. " +
				"Only OpenDNS answered. The domain's own servers say the same."}},
		{name: "out of reach", input: "unreachable.lab-resolve.com", facts: facts{"status": "unavailable", "failure": "unreachable", "authoritative.agreed": false,
			"authoritative.servers.2.errorCode": "ETIMEOUT", "summary": "No resolver can reach the name servers of unreachable.lab-resolve.com: none of them answers (EDE 22), " +
				"network error (EDE 23). The domain's own servers gave this service no usable answer either."}},
		{name: "an older address", input: "older.lab-resolve.com", facts: facts{"status": "variation", "changing.resolvers": []string{"quad9"}, "changing.seconds": between(30, 41),
			"resolvers": compared([]bool{true, true, false, true}),
			"summary":   matchesText("^The resolvers give different A records for older.lab-resolve.com: a change seems to be in progress. Cloudflare, Google and OpenDNS answer as the domain's own servers do; Quad9 may still hold the older answer, for at most [34][0-9] s.$")}},
		{name: "an older text", input: "older-text.lab-resolve.com", options: text, facts: facts{"status": "conflict", "changing.resolvers": []string{"google", "opendns"}, "changing.seconds": between(100, 120)}},
		{name: "an alias by place", input: "places.lab-resolve.com", options: map[string]any{"recordType": "CNAME"}, facts: facts{"status": "variation", "changing": nil, "summary": contains("as is usual for names that are served from several places")}},
		{name: "addresses by place", input: "varies.lab-resolve.com", facts: facts{"status": "variation", "changing": nil, "resolvers": compared([]bool{true, false, false, true})}},
		{name: "servers that differ", input: "lagging.lab-resolve.com", options: text, facts: facts{"status": "conflict", "authoritative.agreed": false, "changing": nil, "resolvers": compared(same),
			"summary": contains("The domain's own servers do not have the same TXT records: ns2.lab-resolve.com differs from ns1.lab-resolve.com.")}},
		{name: "servers that fail", input: "faulty.lab-resolve.com", facts: facts{"status": "agree", "authoritative.agreed": false, "authoritative.values": []string{},
			"authoritative.servers.0.errorCode": "ELAME", "authoritative.servers.1.address": nil, "authoritative.servers.1.reason": contains("not public"),
			"authoritative.servers.2.errorCode": "ETIMEOUT", "summary": "All four resolvers give the same A records for faulty.lab-resolve.com."}},
		{name: "nobody's", input: "unregistered.com", facts: facts{"status": "agreeAbsent", "authoritative": nil}},
	})
}

// matchesText wants a text that an expression matches.
func matchesText(expression string) func(any) bool {
	return func(v any) bool {
		text, _ := v.(string)
		return regexp.MustCompile(expression).MatchString(text)
	}
}

// compared holds what each resolver's comparison says.
func compared(want []bool) func(any) bool {
	return func(v any) bool {
		list, _ := v.([]any)
		var got []bool
		for _, r := range list {
			row, _ := r.(map[string]any)
			same, ok := row["matchesAuthoritative"].(bool)
			if !ok {
				return false
			}
			got = append(got, same)
		}
		return slices.Equal(got, want)
	}
}

// A server that is silent costs the answer no more than its three seconds.
func TestASilentNameServerIsWaitedForBriefly(t *testing.T) {
	a := call(t, "dns-resolver-check", "faulty.lab-resolve.com", map[string]any{"recordType": "MX"})
	if a.Status != 200 || a.Took > 4*time.Second {
		t.Errorf("%d after %v", a.Status, a.Took)
	}
}

// What is said of each name server is what dig says of it.
func TestOwnNameServersAsDigSeesThem(t *testing.T) {
	for _, q := range [][2]string{
		{"served", "A"}, {"served", "MX"}, {"long", "TXT"}, {"older-text", "TXT"}, {"alias", "CNAME"},
		{"absent", "A"}, {"empty", "A"}, {"lagging", "TXT"}, {"older", "A"}, {"expired", "A"},
	} {
		name := q[0] + "." + lab.ResolveZone
		a := call(t, "dns-resolver-check", name, map[string]any{"recordType": q[1]})
		servers, _ := a.at("authoritative.servers").([]any)
		if len(servers) != 3 {
			t.Fatalf("%s: %s", name, a.Body)
		}
		for _, s := range servers {
			server, _ := s.(map[string]any)
			address, _ := server["address"].(string)
			out, err := internet.Exec(t.Context(), lab.ServiceHost, "dig", "+norecurse", "@"+address, name, q[1])
			if err != nil {
				t.Fatal(err)
			}
			said := string(out)
			values, _ := server["values"].([]any)
			holdDig(t, said, server["outcome"], len(values))
			for _, value := range values {
				text, _ := value.(string)
				if !strings.Contains(strings.ReplaceAll(said, `" "`, ""), text) {
					t.Errorf("%s %s: %s does not say %q:\n%s", name, q[1], address, text, said)
				}
			}
		}
	}
}

// holdDig holds an outcome, and how many values came, against what dig printed.
func holdDig(t *testing.T, said string, outcome any, values int) {
	t.Helper()
	rcode := "NOERROR"
	if outcome == "nxdomain" {
		rcode = "NXDOMAIN"
	}
	for _, want := range []string{"status: " + rcode + ",", "flags: qr aa", fmt.Sprintf("ANSWER: %d,", values)} {
		if !strings.Contains(said, want) {
			t.Errorf("told as %v with %d values, and dig says:\n%s", outcome, values, said)
		}
	}
}

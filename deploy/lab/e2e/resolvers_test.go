//go:build e2e

package e2e

import "testing"

func TestDNSResolverCheck(t *testing.T) {
	of := func(recordType string) map[string]any { return map[string]any{"recordType": recordType} }
	four := []string{"11.80.0.1", "11.80.0.2"}
	runChecks(t, "dns-resolver-check", []check{
		{name: "agree", input: "agree.lab-resolve.com", shown: true, facts: facts{
			"domain": "agree.lab-resolve.com", "recordType": "A", "status": "agree", "resolvers": length(4), "groups": length(1), "groups.0.values": four,
			"groups.0.resolvers": []string{"cloudflare", "google", "quad9", "opendns"}, "resolvers.0.id": "cloudflare", "resolvers.0.address": "1.1.1.1",
			"resolvers.1.address": "8.8.8.8", "resolvers.2.address": "9.9.9.9", "resolvers.3.address": "208.67.222.222", "resolvers.0.outcome": "answer", "resolvers.0.errorCode": nil,
			"resolvers.0.values": four, "resolvers.0.ttl": between(1, 300), "resolvers.0.authenticated": true, "resolvers.0.filteredSuspected": false, "resolvers.0.durationMs": between(1, 2500)}},
		{name: "IPv6", input: "agree.lab-resolve.com", options: of("AAAA"), facts: facts{"status": "agree", "groups.0.values": []string{"2a10:80::1"}}},
		{name: "MX", input: "agree.lab-resolve.com", options: of("MX"), facts: facts{"status": "agree", "groups.0.values": []string{"10 mail.lab-site.com"}}},
		{name: "NS", input: "agree.lab-resolve.com", options: of("NS"), facts: facts{"status": "agree", "groups.0.values": []string{"ns1.lab-transit.net"}}},
		{name: "TXT", input: "agree.lab-resolve.com", options: of("TXT"), facts: facts{"status": "agree", "groups.0.values": []string{"one text"}}},
		{name: "CAA", input: "agree.lab-resolve.com", options: of("CAA"), facts: facts{"status": "agree", "groups.0.values": []string{`0 issue "lab-ca.com"`}}},
		{name: "CNAME", input: "alias.lab-resolve.com", options: of("CNAME"), facts: facts{"status": "agree", "groups.0.values": []string{"agree.lab-resolve.com"}}},
		{name: "through an alias", input: "alias.lab-resolve.com", facts: facts{"status": "agree", "groups.0.values": four}},
		{name: "absent", input: "absent.lab-resolve.com", facts: facts{"status": "agreeAbsent", "resolvers.0.outcome": "nxdomain", "groups.0.values": []string{}}},
		{name: "absent in two ways", input: "empty.lab-resolve.com", facts: facts{"status": "agreeAbsent", "resolvers.0.outcome": "nodata", "resolvers.1.outcome": "nxdomain"}},
		{name: "partial", input: "partial.lab-resolve.com", facts: facts{"status": "partial", "resolvers.2.outcome": "error", "resolvers.2.errorCode": "ETIMEOUT", "resolvers.2.ttl": nil, "resolvers.3.errorCode": "EREFUSED"}},
		{name: "mixed presence", input: "mixed.lab-resolve.com", facts: facts{"status": "mixedPresence", "resolvers.1.outcome": "nxdomain", "groups": length(2)}},
		{name: "variation", input: "varies.lab-resolve.com", facts: facts{"status": "variation", "groups": length(3)}},
		{name: "conflict", input: "conflict.lab-resolve.com", options: of("TXT"), facts: facts{"status": "conflict", "resolvers.0.values": []string{"old"}, "resolvers.1.values": []string{"new"}}},
		{name: "conflict of exchanges", input: "conflict.lab-resolve.com", options: of("MX"), facts: facts{"status": "conflict"}},
		{name: "a change is no conflict", input: "changing.lab-resolve.com", options: of("TXT"), facts: facts{"status": "agree", "resolvers.1.values": []string{"new"}}},
		{name: "inconclusive", input: "alone.lab-resolve.com", facts: facts{"status": "inconclusive", "resolvers.0.errorCode": "ESERVFAIL"}},
		{name: "unavailable", input: "nobody.lab-resolve.com", facts: facts{"status": "unavailable", "groups": length(0), "resolvers.2.errorCode": "EREFUSED"}},
		{name: "bad signatures", input: "unsigned.lab-resolve.com", facts: facts{"status": "inconclusive", "resolvers.0.extendedErrors.0.code": 7, "resolvers.0.extendedErrors.0.text": "signature expired", "resolvers.0.extendedErrors.0.name": nonEmpty}},
		{name: "filtered", input: "filtered.lab-resolve.com", facts: facts{"status": "mixedPresence", "resolvers.0.filteredSuspected": true, "resolvers.0.extendedErrors.0.code": 17,
			"resolvers.1.filteredSuspected": false, "resolvers.2.filteredSuspected": true, "resolvers.2.outcome": "nxdomain", "summary": contains("Cloudflare and Quad9 may be filtering")}},
		{name: "a page of the resolver", input: "blockpage.lab-resolve.com", facts: facts{"status": "variation", "resolvers.3.filteredSuspected": true}},
		{name: "over TCP", input: "long.lab-resolve.com", options: of("TXT"), facts: facts{"status": "agree", "groups.0.values": []string{"came over TCP"}}},
		{name: "more than an answer holds", input: "endless.lab-resolve.com", options: of("TXT"), facts: facts{"status": "agree", "truncated": true, "groups.0.truncated": true, "resolvers.3.truncated": true}},
		{name: "another type", input: "agree.lab-resolve.com", options: of("SOA"), status: 400},
		{name: "a private name", input: "router.local", status: 400},
	})
}

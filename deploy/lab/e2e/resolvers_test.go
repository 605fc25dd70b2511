//go:build e2e

package e2e

import "testing"

func TestDNSResolverCheck(t *testing.T) {
	of := func(recordType string) map[string]any { return map[string]any{"recordType": recordType} }
	runChecks(t, "dns-resolver-check", []check{
		{name: "a change is no conflict", input: "changing.lab-resolve.com", options: of("TXT"), facts: facts{"status": "agree", "resolvers.1.values": []string{"new"}}},
		{name: "more than an answer holds", input: "endless.lab-resolve.com", options: of("TXT"), facts: facts{"status": "agree", "truncated": true, "groups.0.truncated": true, "resolvers.3.truncated": true}},
	})
}

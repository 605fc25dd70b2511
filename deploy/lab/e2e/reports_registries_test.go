//go:build e2e

package e2e

import "testing"

// reportedRegistries are answers of registries and registrars that are no plain objects. Their gateway is new: the
// redirector takes three queries at once from it.
func reportedRegistries(t *testing.T) []reportedInput {
	own := startRegistries(t, "gateway-reported-registries")
	ask := func(id, input string, status int, f facts) reportedInput {
		return reportedInput{id: id, slug: "whois-lookup", input: input, to: own, status: status, facts: f}
	}
	notice := func(parts ...string) func(any) bool {
		return func(v any) bool { return contains(parts...)(brief(v)) }
	}
	return []reportedInput{
		ask("R1 a description", "kept.moe", 200, facts{"found": false, "reason": "reserved", "notices.0.title": "Not Found",
			"notices.0.description": contains("Registry Reserved")}),
		ask("R1 a title alone", "untitled.moe", 200, facts{"found": false, "notices.0.title": "Blocked by the registry"}),
		ask("R1 an address", "11.91.0.9", 200, facts{"found": false, "reason": "notFound",
			"notices": notice("The server has no information about this object.")}),
		ask("R1 the registrar's 404", "moved.moe", 200, facts{"found": true,
			"notices": notice("This name has left the registrar")}),
		ask("R2 max. requests", "example.hr", 503, nil),
		ask("R2 too fast", "example.si", 503, nil),
		ask("R3 a reserved name", "kept-name.it", 200, facts{"found": false, "reason": "reserved",
			"notices": notice("This is a reserved name and can not be registered")}),
		ask("R4 a registrar's quota", "quota.moe", 200, facts{"found": true, "domain.status": []string{"active"},
			"notices": notice("rdap-moe-registrar", "asked too often")}),
		ask("R5 two ends", "renewed.moe", 200, facts{"found": true, "domain.events.expires": "2027-03-01T00:00:00Z",
			"domain.events.registrarExpires": "2026-03-01T00:00:00Z"}),
	}
}

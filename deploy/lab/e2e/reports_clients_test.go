//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"diagnostics/lab"
)

// startWith runs a gateway without limits, but for the settings.
func startWith(t *testing.T, name string, env ...string) *lab.Server {
	t.Helper()
	gateway, err := service.StartGateway(t.Context(), name, append(unlimited[:len(unlimited):len(unlimited)], env...)...)
	if err != nil {
		t.Fatal(err)
	}
	return gateway
}

// reportedClients are headers that name a client with a port, or in the syntax of RFC 7239.
func reportedClients(t *testing.T) (all []reportedInput) {
	start := func(name, header string, more ...string) *lab.Server {
		return startWith(t, name, append(more, "TRUST_PROXY_HEADERS=true", "CLIENT_ADDRESS_HEADER="+header)...)
	}
	servers := map[string]*lab.Server{"X-Forwarded-For": start("gateway-of-ports", "x-forwarded-for"),
		"Forwarded": start("gateway-forwarded", "forwarded")}
	limited := start("gateway-limits-ports", "x-forwarded-for", "RATE_LIMIT_REQUESTS=2", "RATE_LIMIT_WINDOW=1h")
	const notPublic, unknown = "ADDRESS_NOT_PUBLIC", "NO_ADDRESS_IN_HEADERS"
	for _, c := range []struct {
		header, value, want string
	}{
		{"X-Forwarded-For", "203.0.113.9:51008", notPublic}, {"X-Forwarded-For", "[2001:db8::9]:4711", notPublic},
		{"X-Forwarded-For", "11.80.0.9:51008", "11.80.0.9"}, {"X-Forwarded-For", "[2a10:80::9]:4711", "2a10:80::9"},
		{"X-Forwarded-For", "fe80::1%eth0", unknown}, {"X-Forwarded-For", "host.example:80", unknown},
		{"X-Forwarded-For", "11.80.0.9:080", unknown}, {"X-Forwarded-For", "11.80.0.9:", unknown},
		{"X-Forwarded-For", "[2a10:80::9", unknown},
		{"Forwarded", `for=10.0.0.1, for="[2a10:80::9]:4711";proto=https`, "2a10:80::9"},
		{"Forwarded", `for="unbalanced, For=11.80.0.9;by=10.0.0.1`, "11.80.0.9"},
		{"Forwarded", "for=11.80.0.8, for=_hidden", unknown},
	} {
		id := map[bool]string{true: "T3", false: "T4"}[c.header == "X-Forwarded-For"]
		f := facts{"ip": c.want}
		if c.want == notPublic || c.want == unknown {
			f = facts{"ip": nil, "conclusion.code": c.want}
		}
		all = append(all, reportedInput{id: id + " " + c.header + ": " + c.value, slug: "my-ip", to: servers[c.header],
			header: http.Header{c.header: {c.value}}, facts: f})
	}
	for i, client := range []string{"203.0.113.9:51008", "203.0.113.9:51009", "203.0.113.9", "203.0.113.10:51008"} {
		a := post(t, limited, "dns-lookup", map[string]any{"input": lab.DNSZone},
			http.Header{"X-Forwarded-For": {client}})
		answers(t, "T3 two requests for a client, "+client, fmt.Sprint(a.Status))
		if want := []int{200, 200, 429, 200}[i]; a.Status != want {
			t.Errorf("%s: status %d, want %d: %s", client, a.Status, want, a.Error)
		}
	}
	return all
}

// reportedHostNames are names with underscores.
func reportedHostNames(t *testing.T) []reportedInput {
	ok := page(fine, "Content-Length: 2\r\n", "ok")
	s := play(t, "julia_b", answerWith(map[string]string{"/": ok}), "80", "443")
	site := "http://" + s.host + "/"
	all := []reportedInput{
		{id: "T2 julia_b", slug: "http-headers", input: site, facts: facts{"status": 200}},
		{id: "T2 julia_b", slug: "redirect-checker", input: lab.RedirectTo("redirects."+lab.SiteZone, site, 302),
			facts: facts{"outcome": "final", "finalUrl": site}},
		{id: "T2 a wildcard certificate", slug: "ssl-checker", input: s.host,
			facts: facts{"authorized": true, "hostnameMatches": true}},
	}
	for _, refused := range []string{"a_b", "x_y.local", "example.t_d"} {
		all = append(all, reportedInput{id: "T2 refused", slug: "http-headers", input: "http://" + refused + "/",
			status: 400})
	}
	return all
}

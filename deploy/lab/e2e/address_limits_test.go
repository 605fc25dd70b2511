//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"diagnostics/lab"
)

// askFor runs a tool on behalf of a client.
func askFor(t *testing.T, to *lab.Server, client, slug, input string) answer {
	t.Helper()
	return post(t, to, slug, map[string]any{"input": input}, http.Header{"X-Real-Ip": {client}})
}

// Many names of one address are one address, however they are reached, and a client has a tenth of it.
func TestAddressLimits(t *testing.T) {
	gateway, err := service.StartGateway(t.Context(), "gateway-addresses", "RATE_LIMIT_ADDRESS_REQUESTS=30",
		"RATE_LIMIT_WINDOW=1h", "TRUST_PROXY_HEADERS=true", "CLIENT_ADDRESS_HEADER=X-Real-IP")
	if err != nil {
		t.Fatal(err)
	}
	name := func(n int) string { return fmt.Sprintf("one-address-%d.%s", n, lab.ProbeZone) }
	for n := range 5 {
		internet.Script(name(n), lab.Step{Records: []string{"@ 0 IN A " + internet.Site("v4only").V4.String()}})
	}
	for n, want := range []int{200, 200, 200, 429, 429} {
		a := askFor(t, gateway, "11.80.0.1", "http-headers", "http://"+name(n)+"/")
		if a.Status != want || (a.Header.Get("Retry-After") != "") != (want == 429) {
			t.Errorf("name %d: status %d, want %d: %s", n, a.Status, want, a.Error)
		}
	}
	for _, ask := range [][2]string{{"port-checker", name(0) + ":80"}, {"ping", name(1)}, {"ssl-checker", name(2)},
		{"robots-sitemap", "http://" + name(3) + "/"}} {
		if a := askFor(t, gateway, "11.80.0.1", ask[0], ask[1]); a.Status != 429 {
			t.Errorf("%s: status %d: %s", ask[0], a.Status, a.Error)
		}
	}
	to := lab.RedirectTo(internet.Site("redirects").Host, "http://"+name(0)+"/", 302)
	a := askFor(t, gateway, "11.80.0.1", "redirect-checker", to)
	if text, _ := a.at("hops.1.statusText").(string); a.at("outcome") != "blocked" ||
		!strings.HasPrefix(text, "Too many of your requests went to this server's address. Try again in ") {
		t.Errorf("a redirect: %s", a.Body)
	}
	if a := askFor(t, gateway, "11.80.0.2", "http-headers", "http://"+name(4)+"/"); a.Status != 200 {
		t.Errorf("another client: status %d: %s", a.Status, a.Error)
	}
}

// A client has twenty ports of an address.
func TestPortLimit(t *testing.T) {
	gateway, err := service.StartGateway(t.Context(), "gateway-ports", "RATE_LIMIT_WINDOW=1h", "RATE_LIMIT_REQUESTS=0",
		"TRUST_PROXY_HEADERS=true", "CLIENT_ADDRESS_HEADER=X-Real-IP")
	if err != nil {
		t.Fatal(err)
	}
	host := internet.Site("v4only").V4.String()
	for port := 70; port < 100; port++ {
		want := 200
		if port >= 90 {
			want = 429
		}
		if a := askFor(t, gateway, "11.80.0.1", "port-checker", fmt.Sprintf("%s:%d", host, port)); a.Status != want {
			t.Errorf("port %d: status %d, want %d: %s", port, a.Status, want, a.Error)
		}
	}
	for _, c := range []struct {
		client, slug, input string
		want                int
	}{
		{"11.80.0.1", "http-headers", "http://" + internet.Site("v4only").Host + "/", 200}, // port 80 is one of the twenty
		{"11.80.0.1", "ssl-checker", host, 429},
		{"11.80.0.2", "port-checker", host + ":99", 200},
	} {
		if a := askFor(t, gateway, c.client, c.slug, c.input); a.Status != c.want {
			t.Errorf("%s %s of %s: status %d, want %d: %s", c.slug, c.input, c.client, a.Status, c.want, a.Error)
		}
	}
}

//go:build e2e

package e2e

import (
	"net/netip"
	"strings"
	"testing"

	"diagnostics/lab"
)

// Every address that the kernel routes to this host itself is refused at the dial, from the moment that it does.
func TestOwnAddresses(t *testing.T) {
	gateway, err := service.StartGateway(t.Context(), "gateway-own", unlimited...)
	if err != nil {
		t.Fatal(err)
	}
	svc := func(args ...string) { mustDo(t, lab.ServiceHost, "ip", args...) }
	for name, own := range map[string]struct {
		target     string
		begin, end []string
	}{
		"a route of type local": {"11.95.3.4", []string{"route", "add", "local", "11.95.0.0/16", "dev", "lo"},
			[]string{"route", "del", "local", "11.95.0.0/16", "dev", "lo"}},
		"one of IPv6": {"2a10:95::3", []string{"route", "add", "local", "2a10:95::/48", "dev", "lo"},
			[]string{"route", "del", "local", "2a10:95::/48", "dev", "lo"}},
		"in another table": {"11.90.0.7", []string{"route", "add", "local", "11.90.0.0/24", "dev", "lo", "table", "77"},
			[]string{"route", "flush", "table", "77"}},
		"an address of this moment": {"11.96.0.1", []string{"address", "add", "11.96.0.1/32", "dev", "uplink"},
			[]string{"address", "del", "11.96.0.1/32", "dev", "uplink"}},
		"a broadcast address": {"11.97.0.255", []string{"address", "add", "11.97.0.2/24", "brd", "+", "dev", "uplink"},
			[]string{"address", "del", "11.97.0.2/24", "dev", "uplink"}},
		"one of IPv6 of this moment": {"2a10:96::1", []string{"address", "add", "2a10:96::1/128", "dev", "uplink", "nodad"},
			[]string{"address", "del", "2a10:96::1/128", "dev", "uplink"}},
	} {
		svc(own.begin...)
		if name == "in another table" {
			svc("rule", "add", "to", "11.90.0.0/24", "lookup", "77")
		}
		untilOwn(t, own.target)
		for slug, input := range inputsFor(own.target) {
			a := post(t, gateway, slug, map[string]any{"input": input}, nil)
			if a.Status != 400 || !strings.Contains(a.Error, "this service's own address") {
				t.Errorf("%s: %s %s: status %d: %s", name, slug, input, a.Status, a.Error)
			}
		}
		if name == "in another table" {
			svc("rule", "del", "to", "11.90.0.0/24", "lookup", "77")
		}
		svc(own.end...)
	}
	// Once the address is another's it is a target like any other.
	if a := post(t, gateway, "ping", map[string]any{"input": "11.90.0.7"}, nil); a.Status != 200 {
		t.Errorf("status %d: %s", a.Status, a.Error)
	}
}

// untilOwn waits for the kernel to route the address to the host itself: of a new address of IPv6 it makes the route a
// moment after the command that adds it.
func untilOwn(t *testing.T, address string) {
	t.Helper()
	eventually(t, "the kernel routes "+address+" to the host itself", func() bool {
		route, err := internet.Exec(t.Context(), lab.ServiceHost, "ip", "route", "get", address)
		if err != nil {
			t.Fatal(err)
		}
		return strings.HasPrefix(string(route), "local ") || strings.HasPrefix(string(route), "broadcast ")
	})
}

// inputsFor leads every kind of tool that connects to the address.
func inputsFor(address string) map[string]string {
	a := netip.MustParseAddr(address)
	return map[string]string{
		"http-headers": "http://" + netip.AddrPortFrom(a, 80).String() + "/",
		"uptime":       "http://" + netip.AddrPortFrom(a, 80).String() + "/",
		"port-checker": netip.AddrPortFrom(a, 22).String(),
		"ssl-checker":  netip.AddrPortFrom(a, 443).String(),
		"traceroute":   address,
		"ping":         address,
	}
}

// A container cannot see its host's addresses: the operator lists them, or the name leads to them.
func TestHostAddresses(t *testing.T) {
	site := map[string]any{"input": "http://fast." + lab.SiteZone + "/"}
	addresses := "HOST_ADDRESSES=192.0.2.7, 11.80.0.0/24"
	for name, test := range map[string]struct {
		env    []string
		status int
	}{
		"gateway-host":         {[]string{addresses}, 400},
		"gateway-host-allowed": {[]string{addresses, "ALLOW_OWN_ADDRESSES=true"}, 200},
		"gateway-host-other":   {[]string{"HOST_ADDRESSES=11.81.0.0/24"}, 200},
		"gateway-name":         {[]string{"PUBLIC_DOMAIN=www." + lab.SiteZone}, 400}, // an alias of the site's name
		"gateway-name-allowed": {[]string{"PUBLIC_DOMAIN=www." + lab.SiteZone, "ALLOW_OWN_ADDRESSES=true"}, 200},
		"gateway-name-other":   {[]string{"PUBLIC_DOMAIN=clean." + lab.TransitZone}, 200},
	} {
		gateway, err := service.StartGateway(t.Context(), name, append(test.env, unlimited...)...)
		if err != nil {
			t.Fatal(err)
		}
		if a := post(t, gateway, "http-headers", site, nil); a.Status != test.status {
			t.Errorf("%v: status %d, want %d: %s", test.env, a.Status, test.status, a.Error)
		}
	}
}

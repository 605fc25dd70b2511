package daemon

import (
	"net"
	"strings"
	"testing"

	"diagnostics/daemon/settings"
)

func TestInRange(t *testing.T) {
	t.Parallel()
	var own []net.Addr
	for _, cidr := range []string{"127.0.0.1/8", "172.30.231.3/24", "172.30.232.255/24", "::1/128", "fd00:1::3/64"} {
		ip, network, err := net.ParseCIDR(cidr)
		if err != nil {
			t.Fatal(err)
		}
		own = append(own, &net.IPNet{IP: ip, Mask: network.Mask})
	}
	for _, tt := range []struct{ setting, want string }{ // no want: an error
		{"172.30.231.0/24:8081", "172.30.231.3:8081"},
		{"172.30.232.0/24:8081", "172.30.232.255:8081"},
		{"172.30.233.0/24:8081", ""},
		{"172.30.231.4/30:8081", ""},
		{"172.30.231.0/30:8081", "172.30.231.3:8081"},
		{"[fd00:1::/64]:0", "[fd00:1::3]:0"},
		{"[fd00:2::/64]:8081", ""},
		{"172.30.231.3:8081", "172.30.231.3:8081"},
		{":8081", ":8081"},
		{"localhost:8081", "localhost:8081"},
	} {
		got, err := inRange(settings.ListenAddr(tt.setting), own)
		if string(got) != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("%s: %s, %v", tt.setting, got, err)
		}
		if err != nil && !strings.Contains(err.Error(), "no address in") {
			t.Errorf("%s: %v", tt.setting, err)
		}
	}
}

package daemon

import (
	"fmt"
	"net"
	"net/netip"

	"diagnostics/daemon/settings"
)

// inRange gives an address to listen on where the setting names a range (192.0.2.0/24:8081): this host's own address in
// it. A container learns its address only when it starts, while the range of its network is written down.
func inRange(addr settings.ListenAddr, own []net.Addr) (settings.ListenAddr, error) {
	host, port, err := net.SplitHostPort(string(addr))
	if err != nil {
		return addr, nil //nolint:nilerr // the listener says it better
	}
	within, err := netip.ParsePrefix(host)
	if err != nil {
		return addr, nil //nolint:nilerr // no range
	}
	for _, a := range own {
		prefix, err := netip.ParsePrefix(a.String())
		if err == nil && within.Contains(prefix.Addr().Unmap()) {
			return settings.ListenAddr(net.JoinHostPort(prefix.Addr().Unmap().String(), port)), nil
		}
	}
	return "", fmt.Errorf("this host has no address in %s", within)
}

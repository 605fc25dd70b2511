package target

import (
	"net/netip"
	"strconv"
	"strings"

	"diagnostics/gateway/internal/fault"
)

const (
	wantHostPort = "Enter a host and a port, such as example.com:443."
	wantPort     = "Use a port from 1 to 65535."
)

// HostPort is a host and a port from 1 to 65535.
type HostPort struct {
	Host Host
	Port uint16
}

// ParseHostPort takes host:port, [v6]:port or addr:port. A defaultPort of 0 makes the port required. Where it is not, a
// bare IPv6 address is taken whole: its last group is never read as a port.
func ParseHostPort(s string, defaultPort uint16) (HostPort, error) {
	want := advice{host: wantHostname, addr: wantAddress}
	if defaultPort == 0 {
		want.host = wantHostPort
	}
	if strings.Contains(s, "://") || strings.Contains(s, "@") {
		return HostPort{}, lookAlike(s, want.host)
	}
	host, port, hasPort, err := splitHostPort(s, want.host)
	if err != nil {
		return HostPort{}, err
	}
	h, err := parseHost(host, want)
	if err != nil {
		return HostPort{}, err
	}
	if !hasPort && defaultPort == 0 {
		return HostPort{}, missingPort(h)
	}
	if !hasPort {
		return HostPort{Host: h, Port: defaultPort}, nil
	}
	n, ok := parsePort(port)
	if !ok {
		return HostPort{}, notAPort(port, wantPort)
	}
	return HostPort{Host: h, Port: n}, nil
}

func missingPort(h Host) *fault.Error {
	if h.addr.Is6() {
		return fail(fault.Invalid, "Enter the address in brackets and a port, such as [2606:4700:4700::1111]:443.",
			"The port is missing.")
	}
	return fail(fault.Invalid, wantHostPort, "The port is missing.")
}

func notAPort(port, want string) *fault.Error {
	return fail(fault.Invalid, want, "%s is not a port.", orNothing(port))
}

// LimitKey is the host without its port.
func (hp HostPort) LimitKey() string { return hp.Host.LimitKey() }

// TargetPort is Port, for the limit on ports.
func (hp HostPort) TargetPort() uint16 { return hp.Port }

// String is host:port, with brackets around IPv6.
func (hp HostPort) String() string {
	return hp.Host.Authority() + ":" + strconv.Itoa(int(hp.Port))
}

// splitHostPort takes an authority without user information apart. Brackets hold an IPv6 address and nothing else, and
// are gone from host; an IPv6 address without them has no port.
func splitHostPort(s, want string) (host, port string, hasPort bool, err error) {
	if strings.HasPrefix(s, "[") {
		return splitBracketed(s, want)
	}
	if strings.Count(s, ":") >= 2 {
		return s, "", false, nil
	}
	host, port, hasPort = strings.Cut(s, ":")
	return host, port, hasPort, nil
}

func splitBracketed(s, want string) (host, port string, hasPort bool, err error) {
	host, rest, closed := strings.Cut(s[1:], "]")
	if !closed {
		return "", "", false, fail(fault.Invalid, want, "The closing bracket is missing.")
	}
	if a, err := netip.ParseAddr(host); err != nil || !a.Is6() {
		return "", "", false, fail(fault.Invalid, want, "Only an IPv6 address goes in brackets.")
	}
	if rest == "" {
		return host, "", false, nil
	}
	if rest[0] != ':' {
		return "", "", false, fail(fault.Invalid, want, "Only a port can follow the closing bracket.")
	}
	return host, rest[1:], true, nil
}

// parsePort takes 1 to 65535 in plain decimal. Leading zeros are refused: some software reads them as octal.
func parsePort(s string) (uint16, bool) {
	n, err := strconv.ParseUint(s, 10, 16)
	return uint16(n), err == nil && s[0] != '0'
}

// orNothing is show, with a word where there is nothing to show.
func orNothing(s string) string {
	if shown := show(s); shown != "" {
		return shown
	}
	return "An empty text"
}

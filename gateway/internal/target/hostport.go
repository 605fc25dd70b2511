package target

import (
	"net/netip"
	"strconv"
	"strings"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"
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
		return fail(fault.Invalid, "ENTER_ADDRESS_AND_PORT", "PORT_MISSING", nil)
	}
	return fail(fault.Invalid, wantHostPort, "PORT_MISSING", nil)
}

func notAPort(port, want string) *fault.Error {
	return fail(fault.Invalid, want, "NOT_A_PORT", finding.Args{"input": show(port)})
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
		return "", "", false, fail(fault.Invalid, want, "BRACKET_NOT_CLOSED", nil)
	}
	if a, err := netip.ParseAddr(host); err != nil || !a.Is6() {
		return "", "", false, fail(fault.Invalid, want, "BRACKETS_WITHOUT_IPV6", nil)
	}
	if rest == "" {
		return host, "", false, nil
	}
	if rest[0] != ':' {
		return "", "", false, fail(fault.Invalid, want, "BRACKETS_WITHOUT_PORT", nil)
	}
	return host, rest[1:], true, nil
}

// parsePort takes 1 to 65535 in plain decimal. Leading zeros are refused: some software reads them as octal.
func parsePort(s string) (uint16, bool) {
	n, err := strconv.ParseUint(s, 10, 16)
	return uint16(n), err == nil && s[0] != '0'
}

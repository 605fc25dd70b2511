package target

import (
	"net/netip"
	"strconv"
	"strings"

	"diagnostics/gateway/internal/fault"
)

const (
	wantHostPort = "Enter a host and a port, such as example.com:443."
	wantPort     = "Enter a port from 1 to 65535, such as example.com:443."
)

// HostPort is a host and a port from 1 to 65535.
type HostPort struct {
	Host Host
	Port uint16
}

// ParseHostPort takes host:port, [v6]:port or addr:port. A defaultPort of 0 makes the port required. Where it is not, a bare
// IPv6 address is taken whole: its last group is never read as a port.
func ParseHostPort(s string, defaultPort uint16) (HostPort, error) {
	want := wantHostname
	if defaultPort == 0 {
		want = wantHostPort
	}
	if strings.Contains(s, "://") || strings.Contains(s, "@") {
		return HostPort{}, lookAlike(s, want)
	}
	host, port, hasPort, err := splitHostPort(s, want)
	if err != nil {
		return HostPort{}, err
	}
	h, err := parseHost(host, want)
	if err != nil {
		return HostPort{}, err
	}
	if !hasPort {
		if defaultPort == 0 {
			return HostPort{}, fault.Newf(fault.Invalid, "The port is missing. %s", wantHostPort)
		}
		return HostPort{Host: h, Port: defaultPort}, nil
	}
	n, ok := parsePort(port)
	if !ok {
		return HostPort{}, fault.Newf(fault.Invalid, "%s is not a port. %s", orNothing(port), wantPort)
	}
	return HostPort{Host: h, Port: n}, nil
}

// LimitKey is the host without its port.
func (hp HostPort) LimitKey() string { return hp.Host.LimitKey() }

// String is host:port, with brackets around IPv6.
func (hp HostPort) String() string {
	return hp.Host.authority() + ":" + strconv.Itoa(int(hp.Port))
}

// splitHostPort takes an authority without user information apart. Brackets hold an IPv6 address and nothing else, and are
// gone from host; an IPv6 address without them has no port.
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
		return "", "", false, fault.Newf(fault.Invalid, "The closing bracket is missing. %s", want)
	}
	if a, parseErr := netip.ParseAddr(host); parseErr != nil || !a.Is6() {
		return "", "", false, fault.Newf(fault.Invalid, "Only an IPv6 address stands in brackets. %s", want)
	}
	if rest == "" {
		return host, "", false, nil
	}
	if rest[0] != ':' {
		return "", "", false, fault.Newf(fault.Invalid, "After the closing bracket only a port can follow. %s", want)
	}
	return host, rest[1:], true, nil
}

// parsePort takes 1 to 65535 in plain decimal. Leading zeros are refused: some software reads them as octal.
func parsePort(s string) (uint16, bool) {
	if s == "" || s[0] < '1' || s[0] > '9' {
		return 0, false
	}
	n, err := strconv.ParseUint(s, 10, 16)
	return uint16(n), err == nil
}

// orNothing is show, with a word where there is nothing to show.
func orNothing(s string) string {
	if shown := show(s); shown != "" {
		return shown
	}
	return "Nothing"
}

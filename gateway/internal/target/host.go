package target

import (
	"net/netip"
	"strings"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/shared/netpolicy"
)

// Host is a public hostname or a public address, never both.
type Host struct {
	name string
	addr netip.Addr
}

// ParseHost takes a public hostname or a public address literal.
func ParseHost(s string) (Host, error) {
	return parseHost(s, advice{host: wantHostname, addr: wantAddress})
}

func parseHost(s string, want advice) (Host, error) {
	if a, err := netip.ParseAddr(s); err == nil {
		if err := permitAddr(a, want.addr); err != nil {
			return Host{}, err
		}
		return Host{addr: a}, nil
	}
	if err := lookAlike(s, want.host); err != nil {
		return Host{}, err
	}
	name, err := parseHostname(s, want.host)
	return Host{name: name}, err
}

// parseHostname takes the name of a public host. Its labels may hold `_`, which many real hosts have, but no registry
// sells a name that begins or ends with one.
func parseHostname(s, want string) (string, error) {
	name, err := netpolicy.ParseName(s, true)
	if err != nil {
		return "", nameFault(s, err, want)
	}
	if label := registrableLabel(name); strings.HasPrefix(label, "_") || strings.HasSuffix(label, "_") {
		return "", fail(fault.Refused, want, "NAME_UNREGISTRABLE",
			finding.Args{"name": show(s), "label": show(label)}).ByRule(fault.RuleUnderscoreName)
	}
	return name, nil
}

// lookAlike recognises what people paste where a bare host is wanted, to say so in better words than "a bad character".
func lookAlike(s, want string) error {
	switch {
	case strings.Contains(s, "://"):
		return fail(fault.Invalid, want, "NAME_IS_URL", nil)
	case strings.Contains(s, "@"):
		return fail(fault.Invalid, want, "NAME_IS_MAILBOX", nil)
	case strings.Count(s, ":") >= 2:
		return fail(fault.Invalid, want, "NOT_AN_IPV6_ADDRESS", finding.Args{"input": show(s)})
	case strings.Contains(s, ":"):
		return fail(fault.Invalid, want, "NAME_HAS_PORT", nil)
	}
	return nil
}

// IsAddr reports whether the host is an address literal.
func (h Host) IsAddr() bool { return h.addr.IsValid() }

// Addr is the address of a literal, the zero Addr for a name.
func (h Host) Addr() netip.Addr { return h.addr }

// Name is the lower-case A-label name without a trailing dot, empty for a literal.
func (h Host) Name() string { return h.name }

// String is the name or the address, without brackets.
func (h Host) String() string {
	if h.IsAddr() {
		return h.addr.String()
	}
	return h.name
}

// maxShort keeps sentences short: a name may have 253 octets.
const maxShort = 80

// Short is String for a sentence, cut to 80 characters.
func (h Host) Short() string {
	s := h.String()
	if len(s) <= maxShort {
		return s
	}
	return s[:maxShort-3] + "..."
}

// LimitKey is String.
func (h Host) LimitKey() string { return h.String() }

// Authority is String with the brackets that a port or a URL needs around IPv6.
func (h Host) Authority() string {
	if h.addr.Is6() {
		return "[" + h.addr.String() + "]"
	}
	return h.String()
}

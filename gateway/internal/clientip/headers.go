package clientip

import (
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"diagnostics/shared/ascii"
)

const (
	headerCloudflare = "Cf-Connecting-Ip"
	headerRealIP     = "X-Real-Ip"
	headerForwarded  = "X-Forwarded-For"
)

// MaxHops is the longest chain of proxies that Trust.Hops may name.
const MaxHops = 16

// ParseHeader reads a header's name (a token, RFC 9110 section 5.6.2) into the spelling that net/http has it in.
func ParseHeader(name string) (string, error) {
	if name == "" {
		return "", errors.New("a header's name is empty")
	}
	for _, c := range []byte(name) {
		if !ascii.IsAlphanumeric(c) && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return "", errors.New("a header's name is letters, digits and !#$%&'*+-.^_`|~")
		}
	}
	return http.CanonicalHeaderKey(name), nil
}

// IsList reports whether a header, as ParseHeader gives it, is read as a list whose entries are counted by Trust.Hops.
func IsList(header string) bool { return header == headerForwarded }

// forwarded reads the header that is trusted; the zero Addr where it holds no address.
func (t Trust) forwarded(h http.Header) netip.Addr {
	switch t.Header {
	case "":
		return firstOfThree(h)
	case headerForwarded:
		return fromTheRight(h[headerForwarded], t.Hops)
	}
	return single(h[t.Header])
}

// carriesForwarded reports whether somebody sent any header that might name a client.
func (t Trust) carriesForwarded(h http.Header) bool {
	return slices.ContainsFunc([]string{headerCloudflare, headerRealIP, headerForwarded, t.Header},
		func(name string) bool { return len(h[name]) > 0 })
}

// fromTheRight is the entry of a list that many places from its end. Every proxy appends the peer that it saw, so what
// stands left of our own proxies' entries is whatever the visitor sent.
func fromTheRight(lines []string, hops int) netip.Addr {
	// Repeated lines are one list (RFC 9110 section 5.3): a proxy may append to the last or add one of its own.
	list := strings.Join(lines, ",")
	for ; hops > 1; hops-- {
		comma := strings.LastIndexByte(list, ',')
		if comma < 0 {
			return netip.Addr{}
		}
		list = list[:comma]
	}
	return literal(list[strings.LastIndexByte(list, ',')+1:])
}

// single takes the one value of a header that is no list. Of several lines one is not the proxy's, and nothing says
// which.
func single(lines []string) netip.Addr {
	if len(lines) != 1 {
		return netip.Addr{}
	}
	return literal(lines[0])
}

// firstOfThree is the order of the specification, for where no header is named.
func firstOfThree(h http.Header) netip.Addr {
	for _, name := range []string{headerCloudflare, headerRealIP} {
		if a := single(h[name]); a.IsValid() {
			return a
		}
	}
	if lines := h[headerForwarded]; len(lines) > 0 {
		first, _, _ := strings.Cut(lines[0], ",")
		return literal(first)
	}
	return netip.Addr{}
}

// literal takes one bare address, without a port, brackets or a zone; anything else is the zero Addr.
func literal(s string) netip.Addr {
	a, err := netip.ParseAddr(strings.Trim(s, " \t"))
	if err != nil || a.Zone() != "" {
		return netip.Addr{}
	}
	return a.Unmap()
}

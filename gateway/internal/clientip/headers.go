package clientip

import (
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"diagnostics/shared/ascii"
)

const (
	headerCloudflare = "Cf-Connecting-Ip"
	headerRealIP     = "X-Real-Ip"
	headerForwarded  = "X-Forwarded-For"
	headerStandard   = "Forwarded" // RFC 7239
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
func IsList(header string) bool { return header == headerForwarded || header == headerStandard }

// forwarded reads the header that is trusted; the zero Addr where it holds no address.
func (t Trust) forwarded(h http.Header) netip.Addr {
	switch t.Header {
	case "":
		return firstOfThree(h)
	case headerForwarded:
		return fromTheRight(h[headerForwarded], t.Hops)
	case headerStandard:
		return standardFromTheRight(h[headerStandard], t.Hops)
	}
	return single(h[t.Header])
}

// carriesForwarded reports whether the request has any header that might name a client.
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

const blanks = " \t"

// literal takes one address, which may have a port; one of IPv6 may have brackets, and with a port must have them. A
// zone, a name and anything else is the zero Addr.
func literal(s string) netip.Addr {
	s = strings.Trim(s, blanks)
	a, err := netip.ParseAddr(s)
	if err == nil {
		return bare(a)
	}
	if inner, is := strings.CutPrefix(s, "["); is {
		inner, port, closed := strings.Cut(inner, "]")
		if a, err = netip.ParseAddr(inner); err != nil || !closed || !a.Is6() || port != "" && !isPort(port) {
			return netip.Addr{}
		}
		return bare(a)
	}
	at := strings.LastIndexByte(s, ':')
	if at < 0 || !isPort(s[at:]) {
		return netip.Addr{}
	}
	if a, err = netip.ParseAddr(s[:at]); err != nil || !a.Is4() {
		return netip.Addr{}
	}
	return a
}

func bare(a netip.Addr) netip.Addr {
	if a.Zone() != "" {
		return netip.Addr{}
	}
	return a.Unmap()
}

// isPort reports whether s is a colon and a port from 1 to 65535 without leading zeros.
func isPort(s string) bool {
	n, err := strconv.ParseUint(s[1:], 10, 16)
	return s[0] == ':' && err == nil && s[1] != '0' && n > 0
}

// standardFromTheRight is fromTheRight for a list of RFC 7239. It is split from its end, so that a quote that a client
// left open changes nothing of the elements that proxies appended.
func standardFromTheRight(lines []string, hops int) netip.Addr {
	list := strings.Join(lines, ",")
	for {
		comma := lastUnquoted(list, ',')
		hops--
		if hops == 0 {
			return forOf(list[comma+1:])
		}
		if comma < 0 {
			return netip.Addr{}
		}
		list = list[:comma]
	}
}

// lastUnquoted is the last index of a character outside of quotes, read from the end; -1 where there is none.
func lastUnquoted(s string, c byte) int {
	quoted := false
	for i := len(s) - 1; i >= 0; i-- {
		switch {
		case s[i] == '"' && !isEscaped(s, i):
			quoted = !quoted
		case s[i] == c && !quoted:
			return i
		}
	}
	return -1
}

// isEscaped reports whether an odd number of backslashes stand before the character.
func isEscaped(s string, at int) bool {
	before := strings.TrimRight(s[:at], `\`)
	return (at-len(before))%2 == 1
}

// forOf is the address of the one parameter "for" of an element; the zero Addr where there is none, or more than one,
// or another parameter is malformed.
func forOf(element string) netip.Addr {
	var value string
	found := 0
	for element != "" {
		at := lastUnquoted(element, ';')
		pair := strings.Trim(element[at+1:], blanks)
		element = element[:max(at, 0)]
		if pair == "" {
			continue
		}
		name, text, _ := strings.Cut(pair, "=")
		text, valid := unquoted(text)
		if _, err := ParseHeader(name); err != nil || !valid {
			return netip.Addr{}
		}
		if strings.EqualFold(name, "for") {
			value = text
			found++
		}
	}
	if found != 1 {
		return netip.Addr{}
	}
	return literal(value)
}

// unquoted is the text of a token or a quoted-string (RFC 9110 section 5.6.4). A token may have the characters of an
// address with a port, which some proxies do not quote.
func unquoted(s string) (text string, valid bool) {
	if !strings.HasPrefix(s, `"`) {
		return s, s != "" && !strings.ContainsAny(s, " \t\"\\")
	}
	var plain strings.Builder
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return plain.String(), i == len(s)-1
		case '\\':
			if i++; i == len(s) {
				return "", false
			}
		}
		plain.WriteByte(s[i])
	}
	return "", false
}

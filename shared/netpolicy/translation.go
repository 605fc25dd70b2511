package netpolicy

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
)

// ErrTranslationPrefix reports a prefix that RFC 6052 does not allow.
var ErrTranslationPrefix = errors.New("not an IPv6 prefix of 32, 40, 48, 56, 64 or 96 bits")

// translationLengths are the lengths that a translation prefix may have (RFC 6052 section 2.2).
var translationLengths = []int{32, 40, 48, 56, 64, 96}

// ParseTranslationPrefix reads the prefix by which a network translates IPv6 addresses to IPv4. Bits past its length
// must be zero, and so must the octet of bits 64 to 71 (RFC 6052 section 2.2). Errors are ErrTranslationPrefix.
func ParseTranslationPrefix(s string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(s)
	if err != nil || p.Addr().Is4() || p.Addr().Is4In6() || p != p.Masked() ||
		!slices.Contains(translationLengths, p.Bits()) || p.Addr().As16()[8] != 0 {
		return netip.Prefix{}, ErrTranslationPrefix
	}
	return p, nil
}

// TranslationAuto stands in a list of prefixes for those that the resolvers reveal (RFC 7050).
const TranslationAuto = "auto"

// ParseTranslationPrefixes reads a comma-separated list of prefixes, each once, and reports whether TranslationAuto is
// among them. An empty list is ErrTranslationPrefix.
func ParseTranslationPrefixes(s string) (prefixes []netip.Prefix, auto bool, err error) {
	for element := range strings.SplitSeq(s, ",") {
		element = strings.TrimSpace(element)
		if element == TranslationAuto {
			auto = true
			continue
		}
		p, err := ParseTranslationPrefix(element)
		if err != nil {
			return nil, false, err
		}
		if !slices.Contains(prefixes, p) {
			prefixes = append(prefixes, p)
		}
	}
	return prefixes, auto, nil
}

// JudgeTranslated is Judge where a network translates by the prefixes: an address is public only if every IPv4 address
// that it is translated to is public, too.
func JudgeTranslated(a netip.Addr, prefixes []netip.Prefix) Verdict {
	v := Judge(a)
	for _, p := range prefixes {
		if v4, below := Embedded(p, a); below && v.Public {
			v = Judge(v4)
		}
	}
	return v
}

// Embedded returns the IPv4 address that a prefix translates an IPv6 address to, and reports whether the address is
// below the prefix. Bits 64 to 71 and those behind the embedded address are ignored, since translators ignore them.
func Embedded(p netip.Prefix, a netip.Addr) (netip.Addr, bool) {
	if !a.Is6() || a.Is4In6() || !p.Contains(a.WithZone("")) {
		return netip.Addr{}, false
	}
	return embeddedAt(p.Bits(), a), true
}

// embeddedAt reads the four octets behind a prefix of so many bits; the octet of bits 64 to 71 is not one of them.
func embeddedAt(bits int, a netip.Addr) netip.Addr {
	octets := a.As16()
	var v4 [4]byte
	for i, at := 0, bits/8; i < len(v4); at++ {
		if at != 8 {
			v4[i] = octets[at]
			i++
		}
	}
	return netip.AddrFrom4(v4)
}

// The addresses of ipv4only.arpa (RFC 7050 section 2.2), by which a network's prefix is found.
var ipv4Only = []netip.Addr{netip.MustParseAddr("192.0.0.170"), netip.MustParseAddr("192.0.0.171")}

// IPv4Only is the name whose AAAA records a DNS64 resolver synthesises with its network's prefix (RFC 7050).
const IPv4Only = "ipv4only.arpa"

// TranslationPrefixes finds the prefixes in the AAAA records of IPv4Only (RFC 7050 section 3), sorted, each once. Where
// one of the name's addresses stands at several places of a record, each of them counts: a prefix only adds refusals.
func TranslationPrefixes(records []netip.Addr) []netip.Prefix {
	var found []netip.Prefix
	for _, a := range records {
		if !a.Is6() || a.Is4In6() {
			continue
		}
		for _, bits := range translationLengths {
			p := netip.PrefixFrom(a.WithZone(""), bits).Masked()
			if p.Addr().As16()[8] == 0 && slices.Contains(ipv4Only, embeddedAt(bits, a)) {
				found = append(found, p)
			}
		}
	}
	slices.SortFunc(found, netip.Prefix.Compare)
	return slices.Compact(found)
}

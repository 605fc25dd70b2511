package target

import (
	"net/netip"
	"strconv"
	"strings"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/shared/netpolicy"
)

// Reverse names have the parts of an address as labels, the last first, below these (RFC 1035 section 3.5, RFC 3596
// section 2.5). A name with fewer parts is the zone of a range; labels below the parts, as in RFC 2317, change nothing.
const (
	reverse4 = ".in-addr.arpa"
	reverse6 = ".ip6.arpa"
)

// permitReverse refuses a canonical name that stands for an address which is not public, or for a range without any
// public one: a resolver's answers for such names describe the operator's own network.
func permitReverse(typed, name string) error {
	first, last, ok := reversed(name)
	if !ok {
		return nil
	}
	lowest, highest := netpolicy.Judge(first), netpolicy.Judge(last)
	if lowest.Public || highest.Public {
		return nil
	}
	return fail(fault.Refused, wantDomain, "REVERSE_NAME_NOT_PUBLIC",
		finding.Args{"name": show(typed), "problem": lowest.Reason, "source": lowest.Source}).ByRule(fault.RuleReverseName)
}

// reversed returns the first and the last address that a reverse name stands for.
func reversed(name string) (first, last netip.Addr, ok bool) {
	if labels, is := strings.CutSuffix(name, reverse4); is {
		return span(labels, 4, 1, octet)
	}
	if labels, is := strings.CutSuffix(name, reverse6); is {
		return span(labels, 16, 2, nibble)
	}
	return netip.Addr{}, netip.Addr{}, false
}

// span reads parts of an address, each the same share of an octet, from the label nearest the root on; what they leave
// open is zeroes in the first address and ones in the last.
func span(labels string, octets, perOctet int, part func(string) (byte, bool)) (first, last netip.Addr, ok bool) {
	low, high := make([]byte, octets), make([]byte, octets)
	for i := range high {
		high[i] = 0xFF
	}
	rest, bits, read := labels, 8/perOctet, 0
	for rest != "" && read < octets*perOctet {
		label := rest[strings.LastIndexByte(rest, '.')+1:]
		value, is := part(label)
		if !is {
			break
		}
		rest = strings.TrimSuffix(strings.TrimSuffix(rest, label), ".")
		shift := bits * (perOctet - 1 - read%perOctet)
		low[read/perOctet] |= value << shift
		high[read/perOctet] &^= byte(1<<bits-1) << shift
		high[read/perOctet] |= value << shift
		read++
	}
	first, _ = netip.AddrFromSlice(low)
	last, _ = netip.AddrFromSlice(high)
	return first, last, read > 0
}

func octet(label string) (byte, bool) {
	value, err := strconv.ParseUint(label, 10, 8)
	return byte(value), err == nil && strconv.FormatUint(value, 10) == label
}

func nibble(label string) (byte, bool) {
	value, err := strconv.ParseUint(label, 16, 4)
	return byte(value), err == nil && len(label) == 1
}

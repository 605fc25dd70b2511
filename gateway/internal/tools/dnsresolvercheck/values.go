package dnsresolvercheck

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"diagnostics/gateway/internal/egress/dnsclient"

	"github.com/miekg/dns"
)

// normalValue is one record as text, with what it is ordered by before that text.
type normalValue struct {
	addr       netip.Addr
	preference uint16
	text       string
}

// normalValues gives the records as a set in one order, so that equal answers are equal lists: names in lower case and
// without the root's dot, addresses in their one spelling, TTLs left out.
func normalValues(records []dns.RR) []string {
	values := make([]normalValue, 0, len(records))
	for _, rr := range records {
		if value, ok := normalRecord(rr); ok {
			values = append(values, value)
		}
	}
	slices.SortFunc(values, func(a, b normalValue) int {
		return cmp.Or(a.addr.Compare(b.addr), cmp.Compare(a.preference, b.preference), strings.Compare(a.text, b.text))
	})
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = value.text
	}
	return slices.Compact(texts)
}

func normalRecord(record dns.RR) (normalValue, bool) {
	switch rr := record.(type) {
	case *dns.A:
		addr, ok := netip.AddrFromSlice(rr.A.To4())
		return normalValue{addr: addr, text: addr.String()}, ok
	case *dns.AAAA:
		addr, ok := netip.AddrFromSlice(rr.AAAA.To16())
		return normalValue{addr: addr, text: addr.String()}, ok
	case *dns.MX:
		return normalValue{preference: rr.Preference, text: fmt.Sprintf("%d %s", rr.Preference, normalName(rr.Mx))}, true
	case *dns.CNAME:
		return normalValue{text: normalName(rr.Target)}, true
	case *dns.NS:
		return normalValue{text: normalName(rr.Ns)}, true
	case *dns.TXT:
		return normalValue{text: dnsclient.JoinTXT(rr.Txt)}, true
	case *dns.CAA:
		return normalValue{text: normalCAA(rr)}, true
	}
	return normalValue{}, false
}

// normalName leaves the root a name: "0 ." is a null MX (RFC 7505).
func normalName(name string) string {
	return cmp.Or(dnsclient.TrimRoot(dns.CanonicalName(name)), ".")
}

// normalCAA writes a property as zone files do, its tag in lower case since case does not matter in it (RFC 8659
// section 4.1).
func normalCAA(rr *dns.CAA) string {
	property := *rr
	property.Tag = strings.ToLower(rr.Tag)
	return strings.TrimPrefix(property.String(), property.Hdr.String())
}

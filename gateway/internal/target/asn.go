package target

import (
	"net/netip"
	"strconv"
	"strings"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/shared/ascii"
	"diagnostics/shared/netpolicy"
)

// firstAmbiguous is the smallest bare number that is refused because it may be the decimal spelling of an IPv4 address
// (1.0.0.0). All AS numbers in use are far below.
const firstAmbiguous = 1 << 24

// ASN is an assignable autonomous system number.
type ASN uint32

// ParseASN takes AS15169, as15169 or 15169.
func ParseASN(s string) (ASN, error) {
	digits, prefixed := cutAS(s)
	n, err := strconv.ParseUint(digits, 10, 32)
	if err != nil || strconv.FormatUint(n, 10) != digits {
		return 0, fail(fault.Invalid, wantASN, "NOT_AN_ASN", finding.Args{"input": show(s)})
	}
	if !prefixed && n >= firstAmbiguous {
		return 0, fault.New(fault.Invalid, "ASN_AMBIGUOUS", finding.Args{"asn": n})
	}
	if v := netpolicy.JudgeASN(uint32(n)); !v.Public {
		return 0, fail(fault.Refused, wantASN, "ASN_NOT_PUBLIC",
			finding.Args{"asn": n, "problem": v.Reason, "source": v.Source}).ByRule(fault.RuleSpecialASN)
	}
	return ASN(n), nil
}

// cutAS splits off the letters AS in any case.
func cutAS(s string) (digits string, prefixed bool) {
	if len(s) >= 2 && strings.EqualFold(s[:2], "AS") {
		return s[2:], true
	}
	return s, false
}

// String is "AS<n>".
func (a ASN) String() string { return "AS" + strconv.FormatUint(uint64(a), 10) }

// LimitKey is "AS<n>".
func (a ASN) LimitKey() string { return a.String() }

// NetworkQuery is an AS number or a public address, never both.
type NetworkQuery struct {
	asn  ASN
	addr netip.Addr
}

// ParseNetworkQuery takes an AS number as ParseASN does, or a public address literal. The error for
// any other text describes both forms.
func ParseNetworkQuery(s string) (NetworkQuery, error) {
	if _, err := netip.ParseAddr(s); err == nil {
		a, err := ParseAddress(s)
		return NetworkQuery{addr: a.addr}, err
	}
	digits, prefixed := cutAS(s)
	if strings.ContainsAny(s, ".:") || !prefixed && !ascii.AllDigits(digits) {
		return NetworkQuery{}, fail(fault.Invalid, wantQuery, "NOT_AN_ASN_OR_ADDRESS",
			finding.Args{"input": show(s)})
	}
	n, err := ParseASN(s)
	return NetworkQuery{asn: n}, err
}

// IsAddr reports whether the query is about an address.
func (q NetworkQuery) IsAddr() bool { return q.addr.IsValid() }

// Addr is the address, the zero Addr where the query is about an AS number.
func (q NetworkQuery) Addr() netip.Addr { return q.addr }

// ASN is the AS number, 0 where the query is about an address.
func (q NetworkQuery) ASN() ASN { return q.asn }

// String is the address or "AS<n>".
func (q NetworkQuery) String() string {
	if q.IsAddr() {
		return q.addr.String()
	}
	return q.asn.String()
}

// LimitKey is String.
func (q NetworkQuery) LimitKey() string { return q.String() }

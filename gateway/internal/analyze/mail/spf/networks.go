package spf

import (
	"math"
	mathbits "math/bits"
	"net/netip"
	"slices"

	"diagnostics/shared/netpolicy"
)

// networks is a set of addresses of both families: spans in order, of which none touches the next.
type networks []span

// span is all addresses from first to last, of one family.
type span struct{ first, last netip.Addr }

// spanOf is a network as a span.
func spanOf(p netip.Prefix) span {
	return span{p.Masked().Addr(), netpolicy.LastOf(p)}
}

// setOf is the set of everything in the spans.
func setOf(spans ...span) networks {
	spans = slices.Clone(spans)
	slices.SortFunc(spans, func(a, b span) int { return a.first.Compare(b.first) })
	var set networks
	for _, s := range spans {
		if n := len(set); n > 0 && meets(set[n-1], s) {
			if set[n-1].last.Less(s.last) {
				set[n-1].last = s.last
			}
			continue
		}
		set = append(set, s)
	}
	return set
}

// meets reports whether b, which does not begin before a, overlaps it or goes on where it ends.
func meets(a, b span) bool {
	return !a.last.Less(b.first) || a.last.Next() == b.first
}

func (n networks) with(other networks) networks { return setOf(append(slices.Clone(n), other...)...) }

// without is what is not in the other set.
func (n networks) without(other networks) networks {
	var rest networks
	for _, s := range n {
		for _, o := range other {
			if o.last.Less(s.first) || s.last.Less(o.first) {
				continue
			}
			if s.first.Less(o.first) {
				rest = append(rest, span{s.first, o.first.Prev()})
			}
			s.first = o.last.Next() // not valid past the last address of the family
			if !s.first.IsValid() || s.last.Less(s.first) {
				s.first = netip.Addr{}
				break
			}
		}
		if s.first.IsValid() {
			rest = append(rest, s)
		}
	}
	return rest
}

// in reports whether all of the set is in the other.
func (n networks) in(other networks) bool { return len(n.without(other)) == 0 }

// prefixes is the shortest list of networks that make the set up.
func (n networks) prefixes() []netip.Prefix {
	list, _ := n.prefixesUpTo(math.MaxInt)
	return list
}

// prefixesUpTo is prefixes where there are no more than so many; whole reports whether that is so.
func (n networks) prefixesUpTo(most int) (list []netip.Prefix, whole bool) {
	for _, s := range n {
		for at := s.first; at.IsValid() && !s.last.Less(at); {
			if len(list) == most {
				return nil, false
			}
			p := largestAt(at, s.last)
			list = append(list, p)
			at = spanOf(p).last.Next()
		}
	}
	return list, true
}

// largestAt is the largest network that begins with an address and does not go past last.
func largestAt(at, last netip.Addr) netip.Prefix {
	bits := at.BitLen() - zeros(at.AsSlice())
	for bits < at.BitLen() && last.Less(spanOf(netip.PrefixFrom(at, bits)).last) {
		bits++
	}
	return netip.PrefixFrom(at, bits)
}

// zeros counts the bits that an address ends in.
func zeros(address []byte) int {
	count := 0
	for _, b := range slices.Backward(address) {
		if b != 0 {
			return count + mathbits.TrailingZeros8(b)
		}
		count += 8
	}
	return count
}

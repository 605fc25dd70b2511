package netpolicy

import (
	"net/netip"
	"slices"
)

// span is a run of addresses that one row judges: from first up to the next span's first. A nil row is none.
type span struct {
	first netip.Addr
	row   *Row
}

// spansOf cuts one family's address space at every edge of its rows: they overlap, spans do not, and a binary search
// finds the row of an address. It is computed from the rows, never written down.
func spansOf(rows []Row) []span {
	firsts := make([]netip.Addr, 0, 2*len(rows)+1)
	firsts = append(firsts, netip.PrefixFrom(rows[0].Prefix.Addr(), 0).Masked().Addr())
	for _, r := range rows {
		firsts = append(firsts, r.Prefix.Addr())
		if after := LastOf(r.Prefix).Next(); after.IsValid() {
			firsts = append(firsts, after)
		}
	}
	slices.SortFunc(firsts, netip.Addr.Compare)
	spans := make([]span, 0, len(firsts))
	for _, first := range slices.Compact(firsts) {
		spans = append(spans, span{first: first, row: firstRow(rows, first)})
	}
	return spans
}

// firstRow gives the first row that holds the address: the rows are in order of falling length.
func firstRow(rows []Row, a netip.Addr) *Row {
	for i := range rows {
		if rows[i].Prefix.Contains(a) {
			return &rows[i]
		}
	}
	return nil
}

// find gives the row that judges the address, of the spans' own family; nil where none does.
func find(spans []span, a netip.Addr) *Row {
	low, high := 0, len(spans)
	for low+1 < high {
		if middle := int(uint(low+high) / 2); a.Less(spans[middle].first) {
			high = middle
		} else {
			low = middle
		}
	}
	return spans[low].row
}

// LastOf is the last address of a prefix.
func LastOf(p netip.Prefix) netip.Addr {
	b := p.Addr().AsSlice()
	for bit := p.Bits(); bit < len(b)*8; bit++ {
		b[bit/8] |= 0x80 >> (bit % 8)
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}

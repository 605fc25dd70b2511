package rdap

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"diagnostics/shared/netpolicy"
)

// block is a range of addresses of one family, both ends included.
type block struct{ start, end netip.Addr }

func (b block) valid() bool {
	return b.start.IsValid() && b.end.IsValid() && b.start.Is4() == b.end.Is4() && !b.end.Less(b.start)
}

func (b block) holds(a netip.Addr) bool {
	return b.valid() && a.Is4() == b.start.Is4() && !a.Less(b.start) && !b.end.Less(a)
}

// readNetwork reads a registry's answer about the network of an address.
func readNetwork(body []byte, addr netip.Addr) (networkRecord, error) {
	o, err := decode(body)
	if err != nil {
		return networkRecord{}, err
	}
	if o.notFound() {
		e := o.explain()
		return networkRecord{Reason: e.absence(kindIP), Notices: e.notices, MoreNotices: e.more}, nil
	}
	if err := o.of("ip network"); err != nil {
		return networkRecord{}, err
	}
	listed := o.prefixes()
	b := o.block(listed)
	switch {
	case !b.valid():
		return networkRecord{}, errNoRange
	case !b.holds(addr):
		return networkRecord{}, errOtherRange
	}
	record := networkRecord{Network: o.network(b, listed)}
	record.Notices = notices(o.Notices, &record.MoreNotices)
	return record, nil
}

func (o object) network(b block, listed []netip.Prefix) *Network {
	n := &Network{
		Allocation: Allocation{
			Handle:       string(o.Handle),
			Name:         string(o.Name),
			Type:         string(o.Type),
			CIDRs:        cidrs(b, listed),
			StartAddress: b.start.String(),
			EndAddress:   b.end.String(),
			ParentHandle: o.ParentHandle.pointer(),
		},
		Country: pointer(networkCountry(string(o.Country))),
	}
	n.Status = o.status(&n.Truncated)
	n.Redactions = o.redactions(&n.Truncated)
	n.Organization = networkOrganization(o.Entities)
	// The address for complaints is published for that. ARIN has it inside of the registrant.
	abuse, _ := find(o.Entities, func(e entity) bool { return e.has(roleAbuse) && e.Card.email != "" })
	n.AbuseContact = pointer(abuse.Card.email)
	return n
}

// block reads the ends of the range, or takes those of the prefixes where they are missing. Some servers write a prefix
// in the place of an address.
func (o object) block(listed []netip.Prefix) block {
	b := block{start: readAddr(string(o.Start), false), end: readAddr(string(o.End), true)}
	if b.valid() || len(listed) == 0 {
		return b
	}
	b = block{start: listed[0].Addr(), end: netpolicy.LastOf(listed[0])}
	for _, p := range listed[1:] {
		if p.Addr().Is4() != b.start.Is4() {
			return block{}
		}
		if end := netpolicy.LastOf(p); b.end.Less(end) { // in order, they still may lie within each other
			b.end = end
		}
	}
	return b
}

func readAddr(s string, last bool) netip.Addr {
	if p, err := netip.ParsePrefix(unpadded(s)); err == nil {
		if last {
			return netpolicy.LastOf(p.Masked())
		}
		return p.Masked().Addr()
	}
	a, err := netip.ParseAddr(unpadded(s))
	if err != nil || a.Zone() != "" || a.Is4In6() {
		return netip.Addr{}
	}
	return a
}

// prefixes reads the cidr0 extension, and gives none where an element of it cannot be read.
func (o object) prefixes() []netip.Prefix {
	var out []netip.Prefix
	for _, written := range o.CIDRs {
		a, err := netip.ParseAddr(unpadded(string(written.V4 + written.V6)))
		bits, lengthErr := strconv.Atoi(string(written.Length))
		if err != nil || lengthErr != nil || a.Zone() != "" {
			return nil
		}
		p := netip.PrefixFrom(a, bits)
		if !p.IsValid() || p.Masked() != p {
			return nil
		}
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b netip.Prefix) int { return a.Compare(b) })
	return out
}

// cidrs gives the prefixes that cover the range exactly: those listed where they do, else those computed.
func cidrs(b block, listed []netip.Prefix) []string {
	all := listed
	if !coverExactly(b, listed) {
		all = b.prefixes()
	}
	out := make([]string, len(all))
	for i, p := range all {
		out[i] = p.String()
	}
	return out
}

// coverExactly reports whether the prefixes are the range. It expects them in order.
func coverExactly(b block, sorted []netip.Prefix) bool {
	next := b.start
	for _, p := range sorted {
		if p.Addr() != next {
			return false
		}
		end := netpolicy.LastOf(p)
		if end == b.end {
			return p == sorted[len(sorted)-1]
		}
		next = end.Next()
	}
	return false
}

// prefixes are the fewest that cover the range: from its start the largest that begins there and ends within, and so
// on.
func (b block) prefixes() []netip.Prefix {
	var out []netip.Prefix
	for at := b.start; ; {
		p := netip.PrefixFrom(at, at.BitLen())
		for p.Bits() > 0 {
			wider := netip.PrefixFrom(at, p.Bits()-1)
			if wider.Masked().Addr() != at || b.end.Less(netpolicy.LastOf(wider)) {
				break
			}
			p = wider
		}
		out = append(out, p)
		end := netpolicy.LastOf(p)
		if end == b.end {
			return out
		}
		at = end.Next()
	}
}

// networkCountry takes any code of two letters (RIPE has EU for several countries), but not the one for unknown.
func networkCountry(s string) string {
	s = strings.ToUpper(s)
	if len(s) != 2 || strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" || s == "ZZ" {
		return ""
	}
	return s
}

// networkOrganization is the first registrant that is an organization. RIPE names maintainers as registrants too, whose
// cards are of kind individual.
func networkOrganization(entities []entity) *string {
	for _, e := range entities {
		if name := e.organization(); name != nil && e.has(roleRegistrant) {
			return name
		}
	}
	return nil
}

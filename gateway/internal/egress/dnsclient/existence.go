package dnsclient

import (
	"context"
	"slices"

	"github.com/miekg/dns"
)

// Existence is what the answers for several types prove about a name. Neither Exists nor Absent is set where they prove
// nothing.
type Existence struct {
	Exists, Absent bool
	// Denied are the types that were answered with NXDOMAIN.
	Denied []uint16
}

// Contradicts reports whether a name exists for some types and is denied for others.
func (e Existence) Contradicts() bool { return e.Exists && len(e.Denied) > 0 }

// ExistenceOf returns what the answers for the types prove. A name exists where any type has records or is NODATA (RFC
// 2308 section 2.2). Some servers answer NXDOMAIN for every type that they do not support (RFC 4074 section 4.2), so
// only NXDOMAIN for A and for AAAA proves that a name does not exist. Of an alias the answers are about its target,
// except that for CNAME.
func ExistenceOf(types []uint16, answers []Answer) Existence {
	var e Existence
	alias := false
	for i, qtype := range types {
		switch code := answers[i].Code; {
		case code == "" && qtype == dns.TypeCNAME:
			alias = true
		case code == "", code == CodeNoData:
			e.Exists = true
		case code == CodeNotFound:
			e.Denied = append(e.Denied, qtype)
		}
	}
	e.Exists = e.Exists || alias && len(e.Denied) == 0
	e.Absent = !e.Exists && slices.Contains(e.Denied, dns.TypeA) && slices.Contains(e.Denied, dns.TypeAAAA)
	return e
}

// Existence is ExistenceOf, with queries for A and AAAA where the answers deny the name and lack them.
func (c *Client) Existence(ctx context.Context, name string, types []uint16, answers []Answer) Existence {
	types, answers = slices.Clip(types), slices.Clip(answers) // what is appended is not the caller's
	for _, qtype := range []uint16{dns.TypeA, dns.TypeAAAA} {
		e := ExistenceOf(types, answers)
		if e.Exists || len(e.Denied) == 0 {
			return e
		}
		if !slices.Contains(types, qtype) {
			types, answers = append(types, qtype), append(answers, c.Query(ctx, name, qtype))
		}
	}
	return ExistenceOf(types, answers)
}

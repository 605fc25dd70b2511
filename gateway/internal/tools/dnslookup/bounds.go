package dnslookup

import (
	"diagnostics/gateway/internal/bound"

	"github.com/miekg/dns"
)

// The shares of an answer, in bytes of JSON. An answer of the DNS is at most 64 KiB, and compression and escapes make
// megabytes of it.
const (
	allRecords = 640 << 10 // of all types that were asked for
	maxText    = 16 << 10  // one TXT record
	maxChain   = 4 << 10
	maxTold    = 4 << 10 // the extended errors
)

// bound cuts what is too long for an answer, type by type.
func (r *Result) bound() {
	const share = allRecords / len(recordTypes)
	for _, qtype := range recordTypes {
		detail := r.Details.of(qtype)
		cut := &detail.Truncated
		detail.CNAMEChain = bound.List(detail.CNAMEChain, maxChain, cut)
		detail.ExtendedErrors = bound.List(detail.ExtendedErrors, maxTold, cut)
		switch records := &r.Records; qtype {
		case dns.TypeA:
			records.A = bound.List(records.A, share, cut)
		case dns.TypeAAAA:
			records.AAAA = bound.List(records.AAAA, share, cut)
		case dns.TypeMX:
			records.MX = bound.List(records.MX, share, cut)
		case dns.TypeTXT:
			records.TXT = bound.Texts(records.TXT, maxText, share, cut)
		case dns.TypeCNAME:
			records.CNAME = bound.List(records.CNAME, share, cut)
		case dns.TypeNS:
			records.NS = bound.List(records.NS, share, cut)
		case dns.TypeSOA:
			records.SOA = bound.List(records.SOA, share, cut)
		}
		r.Truncated = r.Truncated || detail.Truncated
	}
}

package dnslookup

import "diagnostics/gateway/internal/bound"

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
	for kind, detail := range r.Details {
		cut := &detail.Truncated
		detail.CNAMEChain = bound.List(detail.CNAMEChain, maxChain, cut)
		detail.ExtendedErrors = bound.List(detail.ExtendedErrors, maxTold, cut)
		switch records := &r.Records; kind {
		case "A":
			records.A = bound.List(records.A, share, cut)
		case "AAAA":
			records.AAAA = bound.List(records.AAAA, share, cut)
		case "MX":
			records.MX = bound.List(records.MX, share, cut)
		case "TXT":
			records.TXT = bound.Texts(records.TXT, maxText, share, cut)
		case "CNAME":
			records.CNAME = bound.List(records.CNAME, share, cut)
		case "NS":
			records.NS = bound.List(records.NS, share, cut)
		case "SOA":
			records.SOA = bound.List(records.SOA, share, cut)
		}
		r.Truncated = r.Truncated || detail.Truncated
	}
}

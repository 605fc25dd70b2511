package dnslookup

import (
	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/text/bound"
)

// The shares of an answer, in bytes of JSON. An answer of the DNS is at most 64 KiB, and compression and escapes make
// megabytes of it.
const (
	allRecords = 640 << 10 // of all types that were requested
	maxText    = 16 << 10  // one TXT record
	maxChain   = 4 << 10
	maxTold    = 4 << 10 // the extended errors
)

// bound cuts what is too long for an answer, type by type.
func (r *Result) bound(types []uint16, answers []dnsclient.Answer) {
	share := allRecords / max(len(types), len(usualTypes))
	for i, qtype := range types {
		detail := *r.Details.of(qtype)
		cut := &detail.Truncated
		detail.CNAMEChain = bound.List(detail.CNAMEChain, maxChain, cut)
		detail.ExtendedErrors = bound.List(detail.ExtendedErrors, maxTold, cut)
		r.Records.of(qtype).bound(share, &answers[i], cut)
		r.Truncated = r.Truncated || detail.Truncated
	}
}

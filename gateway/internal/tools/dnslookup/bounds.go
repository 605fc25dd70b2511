package dnslookup

import "diagnostics/gateway/internal/egress/dnsclient"

// The shares of an answer, in bytes of JSON. An answer of the DNS is at most 64 KiB, and compression and escapes make
// megabytes of it.
const (
	allRecords = 640 << 10 // of all types that were requested
	maxText    = 16 << 10  // one TXT record
)

// bound cuts the records, type by type.
func (r *Result) bound(types []uint16, answers []dnsclient.Answer) {
	share := allRecords / max(len(types), len(usualTypes))
	for i, qtype := range types {
		r.Records.of(qtype).bound(share, &answers[i], &(*r.Details.of(qtype)).Truncated)
	}
}

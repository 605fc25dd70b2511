package dnslookup

import (
	"diagnostics/gateway/internal/bound"
	"diagnostics/gateway/internal/dnsclient"

	"github.com/miekg/dns"
)

// The shares of an answer, in bytes of JSON. An answer of the DNS is at most 64 KiB, and compression and escapes make
// megabytes of it.
const (
	allRecords  = 640 << 10 // of all types that were asked for
	recordShare = allRecords / len(recordTypes)
	maxText     = 16 << 10 // one TXT record
	maxChain    = 4 << 10
	maxTold     = 4 << 10 // the extended errors
)

// bound cuts what is too long for an answer, type by type.
func (r *Result) bound(answers []dnsclient.Answer) {
	for i, qtype := range recordTypes {
		detail := r.Details.of(qtype)
		cut := &detail.Truncated
		detail.CNAMEChain = bound.List(detail.CNAMEChain, maxChain, cut)
		detail.ExtendedErrors = bound.List(detail.ExtendedErrors, maxTold, cut)
		if !fit(&answers[i]) {
			r.Records.bound(qtype, cut)
		}
		r.Truncated = r.Truncated || detail.Truncated
	}
}

// fit tells without a look at its texts that the records of an answer are not too long: they weigh more in memory than
// their bytes, of which none takes more than six as JSON.
func fit(a *dnsclient.Answer) bool { return 6*a.Weight() <= min(recordShare, maxText) }

func (r *recordSet) bound(qtype uint16, cut *bool) {
	switch qtype {
	case dns.TypeA:
		r.A = bound.List(r.A, recordShare, cut)
	case dns.TypeAAAA:
		r.AAAA = bound.List(r.AAAA, recordShare, cut)
	case dns.TypeMX:
		r.MX = bound.List(r.MX, recordShare, cut)
	case dns.TypeTXT:
		r.TXT = bound.Texts(r.TXT, maxText, recordShare, cut)
	case dns.TypeCNAME:
		r.CNAME = bound.List(r.CNAME, recordShare, cut)
	case dns.TypeNS:
		r.NS = bound.List(r.NS, recordShare, cut)
	case dns.TypeSOA:
		r.SOA = bound.List(r.SOA, recordShare, cut)
	}
}

package dnssec

import (
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// Rollover compares the DS records that a zone requests by CDS and CDNSKEY records (RFC 7344, RFC 8078) with those that
// its parent has.
type Rollover string

// The states of a rollover.
const (
	// RolloverNone: there are neither CDS nor CDNSKEY records.
	RolloverNone Rollover = "none"
	// RolloverDone: the DS records are those requested.
	RolloverDone Rollover = "done"
	// RolloverPending: they differ.
	RolloverPending Rollover = "pending"
	// RolloverDelete: the removal of all DS records is requested (RFC 8078 section 4).
	RolloverDelete Rollover = "delete"
	// RolloverInconsistent: CDS and CDNSKEY records name different keys (RFC 7344 section 4), or too many.
	RolloverInconsistent Rollover = "inconsistent"
	// RolloverUnsafe: the records name no key of the zone, so that it would be bogus (RFC 7344 section 4.1).
	RolloverUnsafe Rollover = "unsafe"
)

// maxAsked bounds the records that are compared.
const maxAsked = 16

// Rollover compares the CDS and CDNSKEY records of a zone, which the caller has judged by Answer, with its keys and DS
// records. Records of other types are ignored.
func (z Zone) Rollover(records []dns.RR) Rollover {
	var cds []*dns.DS
	var keys []*dns.DNSKEY
	removals := 0 // records of algorithm 0
	for _, rr := range records {
		switch rr := rr.(type) {
		case *dns.CDS:
			cds = append(cds, &rr.DS)
			if rr.Algorithm == 0 {
				removals++
			}
		case *dns.CDNSKEY:
			keys = append(keys, &rr.DNSKEY)
			if rr.Algorithm == 0 {
				removals++
			}
		}
	}
	switch asked := len(cds) + len(keys); {
	case asked == 0:
		return RolloverNone
	case removals == asked:
		return RolloverDelete
	case removals > 0 || asked > maxAsked || len(cds) > 0 && len(keys) > 0 && !agree(cds, keys, names):
		return RolloverInconsistent
	case !z.publishes(cds, keys):
		return RolloverUnsafe
	case len(cds) > 0 && agree(cds, z.DS, func(c *dns.DS, ds DS) bool { return sameDS(c, ds.Record) }),
		len(cds) == 0 && agree(keys, z.DS, func(k *dns.DNSKEY, ds DS) bool { return names(ds.Record, k) }):
		return RolloverDone
	}
	return RolloverPending
}

// publishes reports whether the zone has one of the keys that the records name.
func (z Zone) publishes(cds []*dns.DS, keys []*dns.DNSKEY) bool {
	return slices.ContainsFunc(z.keys, func(k *key) bool {
		return k.flaw == "" && (slices.ContainsFunc(cds, func(c *dns.DS) bool { return names(c, k.Record) }) ||
			slices.ContainsFunc(keys, func(r *dns.DNSKEY) bool {
				return r.PublicKey == k.Record.PublicKey && r.Algorithm == k.Record.Algorithm && r.Flags == k.Record.Flags
			}))
	})
}

func sameDS(a, b *dns.DS) bool {
	return a.KeyTag == b.KeyTag && a.Algorithm == b.Algorithm && a.DigestType == b.DigestType &&
		strings.EqualFold(a.Digest, b.Digest)
}

// agree reports whether each element of one list fits one of the other.
func agree[A, B any](as []A, bs []B, fit func(A, B) bool) bool {
	for _, a := range as {
		if !slices.ContainsFunc(bs, func(b B) bool { return fit(a, b) }) {
			return false
		}
	}
	for _, b := range bs {
		if !slices.ContainsFunc(as, func(a A) bool { return fit(a, b) }) {
			return false
		}
	}
	return true
}

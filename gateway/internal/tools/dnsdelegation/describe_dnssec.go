package dnsdelegation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"diagnostics/gateway/internal/analyze/dnssec"
	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/tools/internal/format"

	"github.com/miekg/dns"
)

// Bounds on what is shown of one zone.
const (
	maxDS         = 16
	maxKeys       = 32
	maxSignatures = 32
)

// describeDNSSEC adds what the replies hold of DNSSEC, and what the validator makes of it; c is nil where that has not
// judged it yet.
func (z *zoneResult) describeDNSSEC(from *zone, c *chain) {
	judged := c.orKeys(from)
	if v := c.zone(from.name); v.Reason != nil {
		z.Reason = reasonSentence(*v.Reason)
	}
	z.DS = describeDS(from, judged)
	z.Keys = []keyResult{}
	for _, key := range judged.Keys {
		z.Keys = append(z.Keys, describeKey(key))
	}
	z.Signatures = c.signatures(from)
	z.Truncated = len(z.DS) > maxDS || len(z.Keys) > maxKeys || len(z.Signatures) > maxSignatures
	z.DS, z.Keys = z.DS[:min(len(z.DS), maxDS)], z.Keys[:min(len(z.Keys), maxKeys)]
	z.Signatures = z.Signatures[:min(len(z.Signatures), maxSignatures)]
	z.Denial = denialOf(from.ds, from.random)
	z.Rollover = from.rollover(c)
}

// orKeys is the zone as it was judged, or with its keys alone.
func (c *chain) orKeys(z *zone) dnssec.Zone {
	if c != nil {
		return c.zones[z.name]
	}
	unjudged := dnssec.Delegation{Verdict: dnssec.Verdict{Status: dnssec.Indeterminate}, Zone: z.name}
	return dnssec.New(time.Time{}, nil).Keys(unjudged, message(z.keys))
}

// describeDS lists the DS records of the parent, also where nothing vouches for them.
func describeDS(z *zone, judged dnssec.Zone) []dsResult {
	list := []dsResult{}
	for _, rr := range z.dsRecords() {
		matches := slices.ContainsFunc(judged.DS, func(ds dnssec.DS) bool { return ds.Record == rr && ds.Matches })
		if judged.Status == dnssec.Indeterminate || len(judged.DS) == 0 {
			matches = slices.ContainsFunc(judged.Keys, func(key dnssec.Key) bool {
				made := key.Record.ToDS(rr.DigestType)
				return made != nil && key.Tag == rr.KeyTag && strings.EqualFold(made.Digest, rr.Digest)
			})
		}
		list = append(list, dsResult{
			KeyTag: rr.KeyTag, Algorithm: algorithm(rr.Algorithm), DigestType: digestType(rr.DigestType),
			Digest: strings.ToLower(rr.Digest), Matches: matches,
		})
	}
	return list
}

func describeKey(key dnssec.Key) keyResult {
	k := keyResult{KeyTag: key.Tag, Algorithm: algorithm(key.Record.Algorithm), Role: string(key.Role),
		Flags: key.Record.Flags}
	if key.Bits > 0 {
		k.Bits = &key.Bits
	}
	return k
}

// signatures are those of the zone over its DS and DNSKEY records, and over what the run queried of it, as judged; or
// as they came where nothing vouches for the zone.
func (c *chain) signatures(z *zone) []signatureResult {
	list := []signatureResult{}
	if c == nil || c.zones[z.name].Status == dnssec.Insecure || c.zones[z.name].Status == dnssec.Indeterminate {
		for _, s := range z.signatures() {
			list = append(list, signatureResult{
				Covers: typeName(s.TypeCovered), KeyTag: s.KeyTag, Algorithm: algorithm(s.Algorithm),
				Inception: moment(s.Inception), Expiration: moment(s.Expiration), Reason: new(rows.Sentence(reasonNotJudged, nil)),
			})
		}
		return list
	}
	all := slices.Concat(c.cuts[z.name].Signatures, c.zones[z.name].Signatures)
	for _, one := range z.checks {
		all = append(all, c.soas[one].Signatures...)
	}
	for a, judged := range c.answers {
		if a.zone == z.name {
			all = append(all, judged.Signatures...)
		}
	}
	for _, s := range all {
		list = append(list, describeSignature(s))
	}
	slices.SortFunc(list, func(a, b signatureResult) int {
		return cmp.Or(cmp.Compare(a.Covers, b.Covers), cmp.Compare(a.KeyTag, b.KeyTag),
			cmp.Compare(a.Expiration, b.Expiration))
	})
	return slices.CompactFunc(list, func(a, b signatureResult) bool {
		return a.Covers == b.Covers && a.KeyTag == b.KeyTag && a.Expiration == b.Expiration && a.Valid == b.Valid
	})
}

func describeSignature(s dnssec.Signature) signatureResult {
	one := signatureResult{
		Covers: s.Covers, KeyTag: s.KeyTag, Algorithm: algorithm(s.Algorithm),
		Inception: format.RFC3339(s.Inception), Expiration: format.RFC3339(s.Expiration), Valid: s.Valid,
	}
	if s.Reason != nil {
		one.Reason = reasonSentence(*s.Reason)
	}
	return one
}

// aliasStatus is the verdict on the alias that answers hold.
func (c *chain) aliasStatus(answers []*answer) dnssec.Status {
	for _, a := range answers {
		if c != nil && c.answers[a].Kind == dnssec.KindAlias {
			return c.answers[a].Status
		}
	}
	return dnssec.Indeterminate
}

// dsRecords are the DS records that the parent has for the zone.
func (z *zone) dsRecords() []*dns.DS {
	var list []*dns.DS
	if z.ds != nil {
		for _, rr := range recordsOf(z.ds.Answer, z.name, dns.TypeDS) {
			list = append(list, rr.(*dns.DS))
		}
	}
	return list
}

// signatures are those of the zone over its keys, its SOA and NS records, and the names of the run.
func (z *zone) signatures() []*dns.RRSIG {
	var list []*dns.RRSIG
	seen := make(map[string]bool)
	soa := z.best(func(c *check) *reply { return c.soa })
	ns := z.best(func(c *check) *reply { return c.ns })
	for _, p := range []*reply{z.keys, soa, ns, z.ns, z.cds, z.cdnskey} {
		if p == nil {
			continue
		}
		for _, rr := range p.Answer {
			s, is := rr.(*dns.RRSIG)
			if is && dns.CanonicalName(s.Hdr.Name) == z.name && !seen[s.String()] {
				seen[s.String()] = true
				list = append(list, s)
			}
		}
	}
	return list
}

func algorithm(number uint8) numbered { return named(number, dns.AlgorithmToString[number]) }

func digestType(number uint8) numbered { return named(number, dns.HashToString[number]) }

func named(number uint8, name string) numbered {
	if name == "" {
		name = fmt.Sprintf("unassigned (%d)", number)
	}
	return numbered{Number: int(number), Name: name}
}

// moment writes a time of a signature, which counts seconds modulo 2^32 (RFC 4034 section 3.1.5).
func moment(seconds uint32) string {
	at, _ := time.Parse("20060102150405", dns.TimeToString(seconds)) // of the library's own form
	return format.RFC3339(at)
}

// denialOf is how the first reply with such records proves an absence.
func denialOf(replies ...*reply) *denialResult {
	for _, p := range replies {
		if p == nil {
			continue
		}
		for _, rr := range p.Ns {
			switch rr := rr.(type) {
			case *dns.NSEC:
				return &denialResult{Kind: "nsec"}
			case *dns.NSEC3:
				return &denialResult{Kind: "nsec3", Iterations: new(int(rr.Iterations)), OptOut: new(rr.Flags&1 == 1)}
			}
		}
	}
	return nil
}

// rollover is what the zone requests of its parent (RFC 7344), nil where it requests nothing or the request is not
// authentic.
func (z *zone) rollover(c *chain) *rollover {
	if c == nil {
		return nil
	}
	judged := c.zones[z.name]
	r := rollover{CDS: []string{}, CDNSKEY: []string{}}
	var all []dns.RR
	for qtype, p := range map[uint16]*reply{dns.TypeCDS: z.cds, dns.TypeCDNSKEY: z.cdnskey} {
		if p == nil || c.Answer(judged, z.name, qtype, message(p)).Status != dnssec.Secure {
			continue
		}
		for _, rr := range recordsOf(p.Answer, z.name, qtype) {
			all = append(all, rr)
			if qtype == dns.TypeCDS {
				r.CDS = append(r.CDS, dnsclient.Presentation(rr))
			} else {
				r.CDNSKEY = append(r.CDNSKEY, dnsclient.Presentation(rr))
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	r.State = string(judged.Rollover(all))
	return &r
}

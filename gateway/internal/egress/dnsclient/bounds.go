package dnsclient

import (
	"crypto/sha256"
	"maps"
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// Bounds on what an answer keeps in memory, where 64 KiB of compressed names are megabytes: a client chooses how many
// answers a run holds at once, and how long the slowest of them takes.
const (
	// maxRecordBytes bounds the records by their weight. Addresses are not cut: 64 KiB hold no more than some 400 KiB of
	// them, and who is refused depends on each.
	maxRecordBytes = 128 << 10
	// maxAuthority bounds the records of the authority section.
	maxAuthority = 8
)

// bound cuts what no zone that means well comes near to. What is kept are the first of the records in an order of their
// own, so that equal sets stay equal however a resolver rotates them; Digest stands for all.
func (a *Answer) bound() {
	a.Authority = slices.Clone(a.Authority[:min(len(a.Authority), maxAuthority)])
	if fitting(a.Records) == len(a.Records) {
		return
	}
	a.Cut = true
	a.Records = inOrder(a.Records, &a.Digest)
	a.Records = slices.Clone(a.Records[:fitting(a.Records)])
}

// fitting is how many of the records, which are of one type, are kept.
func fitting(records []dns.RR) int {
	left := maxRecordBytes
	for i, rr := range records {
		if t := rr.Header().Rrtype; t == dns.TypeA || t == dns.TypeAAAA {
			return len(records)
		}
		if left -= recordWeight(rr); left < 0 {
			return i
		}
	}
	return len(records)
}

// inOrder gives the records as a set, by their presentation form without owner and TTL, and the digest of that.
func inOrder(records []dns.RR, digest *[sha256.Size]byte) []dns.RR {
	texts := make(map[string]dns.RR, len(records))
	for _, rr := range records {
		text := strings.TrimPrefix(written(rr), rr.Header().String())
		if slices.Contains(typesOfNames, rr.Header().Rrtype) {
			text = strings.ToLower(text) // names have no case
		}
		texts[text] = rr
	}
	all := sha256.New()
	ordered := make([]dns.RR, 0, len(texts))
	for _, text := range slices.Sorted(maps.Keys(texts)) {
		all.Write([]byte(text + "\n"))
		ordered = append(ordered, texts[text])
	}
	all.Sum(digest[:0])
	return ordered
}

// typesOfNames are those whose records hold nothing but numbers and names.
var typesOfNames = []uint16{dns.TypeNS, dns.TypeCNAME, dns.TypePTR, dns.TypeMX, dns.TypeSRV, dns.TypeSOA}

// Weight is about what the answer takes in memory, and rather more than less. The wire does not show that: a name
// that two octets point to is whole in every record, an octet may be four characters of the presentation format, and an
// empty text of one octet is a string.
func (a Answer) Weight() int {
	if a.weight > 0 {
		return a.weight
	}
	size := 512
	for _, section := range [][]dns.RR{a.Records, a.Authority} {
		for _, rr := range section {
			size += recordWeight(rr)
		}
	}
	for _, alias := range a.CNAMEChain {
		size += len(alias) + 32
	}
	for _, e := range a.Extended {
		size += len(e.Text) + 64
	}
	return size
}

func recordWeight(rr dns.RR) int { return 192 + len(written(rr))*5/4 + 48*textsIn(rr) }

// written is the record in a line. The library takes time in the square of the parameters of a service.
func written(record dns.RR) string {
	switch rr := record.(type) {
	case *dns.SVCB:
		return rr.Hdr.String() + presentService(rr)
	case *dns.HTTPS:
		return rr.Hdr.String() + presentService(&rr.SVCB)
	}
	return record.String()
}

// textsIn counts the strings of a record that is a list of them.
func textsIn(record dns.RR) int {
	switch rr := record.(type) {
	case *dns.TXT:
		return len(rr.Txt)
	case *dns.SPF:
		return len(rr.Txt)
	case *dns.AVC:
		return len(rr.Txt)
	case *dns.NINFO:
		return len(rr.ZSData)
	case *dns.SVCB:
		return paramsIn(rr)
	case *dns.HTTPS:
		return paramsIn(&rr.SVCB)
	}
	return 0
}

// paramsIn counts the parameters of a service, and the items of those that are lists; each is two things in memory.
func paramsIn(rr *dns.SVCB) int {
	count := 2 * len(rr.Value)
	for _, pair := range rr.Value {
		switch p := pair.(type) {
		case *dns.SVCBAlpn:
			count += len(p.Alpn)
		case *dns.SVCBIPv4Hint:
			count += len(p.Hint)
		case *dns.SVCBIPv6Hint:
			count += len(p.Hint)
		}
	}
	return count
}

package dnsresolvercheck

import (
	"bytes"
	"context"
	"net/netip"
	"slices"
	"strings"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/text"

	"github.com/miekg/dns"
)

// cause is why resolvers differ, where that is known.
type cause struct {
	Code   string `json:"code"`
	Record string `json:"record"`
}

// causeDenial is a zone whose own NSEC or NSEC3 record denies what the zone has. Resolvers that answer from such
// records (RFC 8198) do not find it.
const causeDenial = "denialContradicts"

// maxRecord is how many characters of a record are shown.
const maxRecord = 500

// findDenial is the cause of an absence at some resolvers that others, or the domain's own servers, contradict. The
// record is one that came with the absence, or else that of the apex at the domain's own servers.
func (c query) findDenial(ctx context.Context, client *egress.Client, answers []resolverAnswer, own *authority) *cause {
	present := slices.ContainsFunc(answers, resolverAnswer.has) ||
		slices.ContainsFunc(own.answered(), func(s serverAnswer) bool { return s.Outcome == outcomeAnswer })
	lacking := which(answers, func(a resolverAnswer) bool { return a.lacks() && len(a.chain) == 0 })
	if !present || len(lacking) == 0 {
		return nil
	}
	for _, a := range lacking {
		if record := c.denying(a.denials); record != nil {
			return describeCause(record)
		}
	}
	if own == nil || !slices.ContainsFunc(lacking, func(a resolverAnswer) bool { return a.Outcome == outcomeNXDomain }) {
		return nil
	}
	return c.denialOfApex(ctx, client, own)
}

// denialOfApex queries one of the domain's own servers for the NSEC record of the apex.
func (c query) denialOfApex(ctx context.Context, client *egress.Client, own *authority) *cause {
	for _, server := range own.answered() {
		address, err := netip.ParseAddr(*server.Address)
		if err != nil {
			continue
		}
		answer, err := client.AskAuthority(ctx, netip.AddrPortFrom(address, dnsPort), own.Zone, dns.TypeNSEC)
		if err != nil || !answer.Authoritative {
			return nil
		}
		if record := c.denying(answer.Records); record != nil {
			return describeCause(record)
		}
		return nil
	}
	return nil
}

func describeCause(record dns.RR) *cause {
	return &cause{Code: causeDenial, Record: text.Show(strings.Join(strings.Fields(record.String()), " "), maxRecord)}
}

// denying is the first record that denies the name, or the type at the name; nil where there is none.
func (c query) denying(records []dns.RR) dns.RR {
	name, qtype := dns.CanonicalName(c.domain.String()), dns.StringToType[c.recordType]
	for _, rr := range records {
		switch r := rr.(type) {
		case *dns.NSEC:
			owner := dns.CanonicalName(r.Hdr.Name)
			if owner == name && lacksType(r.TypeBitMap, qtype) ||
				covers(owner, dns.CanonicalName(r.NextDomain), name) && !leadsOn(owner, name, r.TypeBitMap) {
				return rr
			}
		case *dns.NSEC3:
			if r.Iterations <= maxIterations && deniesHashed(r, name, qtype) {
				return rr
			}
		}
	}
	return nil
}

// maxIterations bounds the work of an NSEC3 hash; resolvers take more for insecure (RFC 9276 section 3.2).
const maxIterations = 150

// leadsOn reports whether a name is below an owner that is a delegation or a DNAME, whose record does not deny it (RFC
// 4035 section 5.4, RFC 6672 section 5.3.4).
func leadsOn(owner, name string, types []uint16) bool {
	delegates := slices.Contains(types, dns.TypeNS) && !slices.Contains(types, dns.TypeSOA)
	return dns.IsSubDomain(owner, name) && (delegates || slices.Contains(types, dns.TypeDNAME))
}

// deniesHashed reports whether a record denies the name, or the type at it. One that opts out leaves room for
// delegations that are not signed, and denies no name.
func deniesHashed(r *dns.NSEC3, name string, qtype uint16) bool {
	if r.Match(name) {
		return lacksType(r.TypeBitMap, qtype)
	}
	return r.Flags&1 == 0 && r.Cover(name)
}

func lacksType(types []uint16, qtype uint16) bool {
	return !slices.Contains(types, qtype) && !slices.Contains(types, dns.TypeCNAME)
}

// covers reports whether a name lies between two names of a zone in the canonical order (RFC 4034 section 6.1), where
// the last record of a zone leads back to its apex.
func covers(owner, next, name string) bool {
	after := compareNames(owner, name) < 0
	if compareNames(owner, next) < 0 {
		return after && compareNames(name, next) < 0
	}
	return after && dns.IsSubDomain(next, name) // the last record of the zone
}

// compareNames compares in the canonical order.
func compareNames(a, b string) int {
	one, other := labelsOf(a), labelsOf(b)
	for i := range min(len(one), len(other)) {
		if order := bytes.Compare(one[i], other[i]); order != 0 {
			return order
		}
	}
	return len(one) - len(other)
}

// labelsOf are the labels of a canonical name in wire form, the last first.
func labelsOf(name string) [][]byte {
	buffer := make([]byte, 256)
	end, err := dns.PackDomainName(name, buffer, 0, nil, false)
	if err != nil {
		return nil
	}
	var labels [][]byte
	for at := 0; at < end && buffer[at] > 0; at += int(buffer[at]) + 1 {
		labels = append(labels, buffer[at+1:at+1+int(buffer[at])])
	}
	slices.Reverse(labels)
	return labels
}

package egresstest

import (
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

// ZoneServer is an authoritative name server on loopback: it serves zones from zone text, refers to the zones that they
// delegate, and answers REFUSED for others.
type ZoneServer struct {
	*Resolver

	zones map[string][]dns.RR
}

// ZoneServer adds an authoritative server at public addresses, without port, that serves the zones. A zone is the text
// of a zone file whose first record is the SOA record. Aliases are chased within the zone.
// There are no wildcards and no signing: answers are the records of the text, and an RRSIG record goes with those that
// it covers where the query has the DO bit.
func (n *Network) ZoneServer(addresses []string, zones ...string) *ZoneServer {
	n.t.Helper()
	s := &ZoneServer{zones: make(map[string][]dns.RR)}
	for _, text := range zones {
		records := parseZone(n.t, text)
		s.zones[dns.CanonicalName(records[0].Header().Name)] = records
	}
	for _, a := range addresses {
		if strings.Contains(a, ":") {
			a = "[" + a + "]"
		}
		at := n.address(a + ":53")
		if s.Resolver == nil {
			s.Resolver = n.NameServer(at.String())
			s.HandleAll(s.reply)
			continue
		}
		n.mu.Lock()
		n.resolvers[at] = s.Resolver
		n.mu.Unlock()
	}
	return s
}

func parseZone(t testing.TB, text string) (records []dns.RR) {
	t.Helper()
	parser := dns.NewZoneParser(strings.NewReader(text), ".", "")
	parser.SetDefaultTTL(3600)
	for rr, ok := parser.Next(); ok; rr, ok = parser.Next() {
		records = append(records, rr)
	}
	if err := parser.Err(); err != nil || len(records) == 0 {
		t.Fatalf("%q is no zone: %v", text, err)
	}
	return records
}

func (s *ZoneServer) reply(w dns.ResponseWriter, q *dns.Msg) {
	m := s.Answer(q)
	if w.LocalAddr().Network() == "udp" {
		m.Truncate(udpSize(q))
	}
	_ = w.WriteMsg(m)
}

// Answer is the answer of the zones, for a script that changes part of it.
func (s *ZoneServer) Answer(q *dns.Msg) *dns.Msg {
	m := new(dns.Msg).SetReply(q)
	signed := false
	if opt := q.IsEdns0(); opt != nil {
		signed = opt.Do()
		m.SetEdns0(1232, signed)
	}
	name, qtype := dns.CanonicalName(q.Question[0].Name), q.Question[0].Qtype
	apex := s.zoneOf(name, qtype)
	if apex == "" {
		m.Rcode = dns.RcodeRefused
		return m
	}
	zone := s.zones[apex]
	if cut := delegationOf(zone, apex, name, qtype); cut != "" {
		refer(m, zone, cut)
		return m
	}
	m.Authoritative = true
	for range maxChase {
		found := owned(zone, name, qtype, signed)
		aliases := owned(zone, name, dns.TypeCNAME, signed)
		if len(found) > 0 || len(aliases) == 0 {
			if m.Answer = append(m.Answer, found...); len(found) == 0 {
				denyIn(m, zone, name, signed)
			}
			break
		}
		m.Answer = append(m.Answer, aliases...)
		name = dns.CanonicalName(aliases[0].(*dns.CNAME).Target)
		if !dns.IsSubDomain(apex, name) || delegationOf(zone, apex, name, qtype) != "" {
			break
		}
	}
	for _, rr := range m.Answer {
		if ns, is := rr.(*dns.NS); is {
			m.Extra = append(m.Extra, addressesOf(zone, ns.Ns)...)
		}
	}
	return m
}

// zoneOf is the zone whose records answer: for DS the one above where that is served, too.
func (s *ZoneServer) zoneOf(name string, qtype uint16) (found string) {
	for apex := range s.zones {
		if qtype == dns.TypeDS && apex == name && name != "." {
			continue
		}
		if dns.IsSubDomain(apex, name) && len(apex) > len(found) {
			found = apex
		}
	}
	return found
}

// delegationOf is the zone cut at or above a name inside a zone, or empty.
func delegationOf(zone []dns.RR, apex, name string, qtype uint16) (found string) {
	for _, rr := range zone {
		owner := dns.CanonicalName(rr.Header().Name)
		below := owner != apex && dns.IsSubDomain(owner, name) && !(owner == name && qtype == dns.TypeDS)
		if rr.Header().Rrtype == dns.TypeNS && below && (found == "" || len(owner) < len(found)) {
			found = owner
		}
	}
	return found
}

func refer(m *dns.Msg, zone []dns.RR, cut string) {
	m.Ns = owned(zone, cut, dns.TypeNS, false)
	for _, rr := range m.Ns {
		m.Extra = append(m.Extra, addressesOf(zone, rr.(*dns.NS).Ns)...)
	}
}

func owned(zone []dns.RR, name string, qtype uint16, signed bool) (found []dns.RR) {
	for _, rr := range zone {
		h := rr.Header()
		s, is := rr.(*dns.RRSIG)
		if dns.CanonicalName(h.Name) == name && (h.Rrtype == qtype || signed && is && s.TypeCovered == qtype) {
			found = append(found, dns.Copy(rr))
		}
	}
	return found
}

func addressesOf(zone []dns.RR, name string) []dns.RR {
	name = dns.CanonicalName(name)
	return slices.Concat(owned(zone, name, dns.TypeA, false), owned(zone, name, dns.TypeAAAA, false))
}

// denyIn makes a NODATA or NXDOMAIN answer, with all NSEC and NSEC3 records of the zone where it is to be proved.
func denyIn(m *dns.Msg, zone []dns.RR, name string, signed bool) {
	m.Rcode = dns.RcodeNameError
	m.Ns = append(m.Ns, owned(zone, dns.CanonicalName(zone[0].Header().Name), dns.TypeSOA, signed)...)
	for _, rr := range zone {
		t := rr.Header().Rrtype
		covered := t
		if s, is := rr.(*dns.RRSIG); is {
			covered = s.TypeCovered
		}
		if signed && (covered == dns.TypeNSEC || covered == dns.TypeNSEC3) {
			m.Ns = append(m.Ns, dns.Copy(rr))
		}
		if dns.IsSubDomain(name, dns.CanonicalName(rr.Header().Name)) && t != dns.TypeNSEC3 {
			m.Rcode = dns.RcodeSuccess
		}
	}
}

// Package rootzone holds where a walk through the DNS begins: the root's name servers (root hints, RFC 9609) and its
// trust anchors (RFC 4033 section 2). Both are built in; the text of a zone file may replace them. It does no I/O.
package rootzone

import (
	_ "embed" // the built-in data
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/miekg/dns"
)

//go:embed hints.zone
var hintsText string

//go:embed anchors.zone
var anchorsText string

// BuiltIn is the Source of the built-in data.
const BuiltIn = "IANA, built in"

// The dates of the latest change of the built-in data: B-root has its present addresses, and KSK-2024 is published,
// since then.
const (
	hintsDate   = "2023-11-27"
	anchorsDate = "2024-07-18"
)

// Server is a name server of the root. Its name is in canonical form with the trailing dot.
type Server struct {
	Name      string
	Addresses []netip.Addr // IPv4 before IPv6
}

// Hints are the root's name servers.
type Hints struct {
	Servers []Server
	Source  string
	Date    string // RFC 3339 full-date; empty where it is not known
}

// Addresses lists the addresses of all servers.
func (h Hints) Addresses() []netip.Addr {
	var all []netip.Addr
	for _, s := range h.Servers {
		all = append(all, s.Addresses...)
	}
	return all
}

// Anchors are the trust anchors of the root, as DS records.
type Anchors struct {
	DS     []*dns.DS
	Source string
	Date   string // RFC 3339 full-date; empty where it is not known
}

// DefaultHints are the built-in root hints.
func DefaultHints() Hints {
	h, err := ParseHints(hintsText)
	if err != nil {
		panic(err) // a test parses it
	}
	h.Source, h.Date = BuiltIn, hintsDate
	return h
}

// DefaultAnchors are the built-in trust anchors.
func DefaultAnchors() Anchors {
	a, err := ParseAnchors(anchorsText)
	if err != nil {
		panic(err) // a test parses it
	}
	a.Source, a.Date = BuiltIn, anchorsDate
	return a
}

// Bounds on a file.
const (
	MaxText    = 64 << 10 // octets
	maxRecords = 512
	maxServers = 26
)

// The reasons to reject a file.
var (
	errTooLong     = fmt.Errorf("it has more than %d octets or %d records", MaxText, maxRecords)
	errNoServers   = errors.New("it has no NS record of the root")
	errManyServers = fmt.Errorf("it has more than %d name servers", maxServers)
	errNoAnchors   = errors.New("it has no DS or DNSKEY record of the root")
)

// ParseHints reads NS records of the root and the A and AAAA records of their names, in zone-file format. Each server
// must have an address; records of other types are rejected.
func ParseHints(text string) (Hints, error) {
	records, err := parse(text)
	if err != nil {
		return Hints{}, err
	}
	var h Hints
	addresses := map[string][]netip.Addr{}
	for _, record := range records {
		owner := dns.CanonicalName(record.Header().Name)
		switch rr := record.(type) {
		case *dns.NS:
			if owner != "." {
				return Hints{}, fmt.Errorf("the NS record of %s is not the root's", owner)
			}
			h.Servers = append(h.Servers, Server{Name: dns.CanonicalName(rr.Ns)})
		case *dns.A, *dns.AAAA:
			address, ok := addressOf(rr)
			if !ok {
				return Hints{}, fmt.Errorf("%s has a malformed address", owner)
			}
			addresses[owner] = append(addresses[owner], address)
		default:
			return Hints{}, fmt.Errorf("the record of %s is none of NS, A, AAAA", owner)
		}
	}
	h.Servers = slices.CompactFunc(h.Servers, func(a, b Server) bool { return a.Name == b.Name })
	return h.withAddresses(addresses)
}

func addressOf(record dns.RR) (a netip.Addr, ok bool) {
	switch rr := record.(type) {
	case *dns.A:
		a, ok = netip.AddrFromSlice(rr.A.To4())
	case *dns.AAAA:
		a, ok = netip.AddrFromSlice(rr.AAAA.To16())
	}
	return a, ok && !a.Is4In6()
}

func (h Hints) withAddresses(addresses map[string][]netip.Addr) (Hints, error) {
	switch {
	case len(h.Servers) == 0:
		return Hints{}, errNoServers
	case len(h.Servers) > maxServers:
		return Hints{}, errManyServers
	}
	for i := range h.Servers {
		s := &h.Servers[i]
		s.Addresses = slices.Clone(addresses[s.Name])
		if len(s.Addresses) == 0 {
			return Hints{}, fmt.Errorf("%s has no address", s.Name)
		}
		slices.SortFunc(s.Addresses, netip.Addr.Compare)
		s.Addresses = slices.Compact(s.Addresses)
	}
	return h, nil
}

// ParseAnchors reads DS and DNSKEY records of the root in zone-file format. A key becomes its SHA-256 DS; records of
// other types and of other names are rejected.
func ParseAnchors(text string) (Anchors, error) {
	records, err := parse(text)
	if err != nil {
		return Anchors{}, err
	}
	var a Anchors
	for _, record := range records {
		var ds *dns.DS
		switch rr := record.(type) {
		case *dns.DS:
			ds = rr
		case *dns.DNSKEY:
			ds = rr.ToDS(dns.SHA256)
		}
		if owner := dns.CanonicalName(record.Header().Name); ds == nil || owner != "." {
			return Anchors{}, fmt.Errorf("the record of %s is no DS or DNSKEY record of the root", owner)
		}
		a.DS = append(a.DS, ds)
	}
	if len(a.DS) == 0 {
		return Anchors{}, errNoAnchors
	}
	return a, nil
}

// parse reads the records of a zone file. A file may not include others, nor generate records.
func parse(text string) ([]dns.RR, error) {
	if len(text) > MaxText {
		return nil, errTooLong
	}
	if strings.Contains(strings.ToUpper(text), "$GENERATE") {
		return nil, errors.New("$GENERATE is not allowed")
	}
	var records []dns.RR
	zone := dns.NewZoneParser(strings.NewReader(text), ".", "")
	zone.SetDefaultTTL(3600000)
	for rr, ok := zone.Next(); ok; rr, ok = zone.Next() {
		if len(records) == maxRecords {
			return nil, errTooLong
		}
		if rr.Header().Class != dns.ClassINET {
			return nil, fmt.Errorf("the record of %s is not of class IN", rr.Header().Name)
		}
		records = append(records, rr)
	}
	return records, zone.Err()
}

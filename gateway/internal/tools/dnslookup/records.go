package dnslookup

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"diagnostics/gateway/internal/dnsclient"
	"diagnostics/gateway/internal/text"

	"github.com/miekg/dns"
)

// recordSet is the values by type; no list is null.
type recordSet struct {
	A     []string    `json:"A"`
	AAAA  []string    `json:"AAAA"`
	MX    []mxRecord  `json:"MX"`
	TXT   []string    `json:"TXT"`
	CNAME []string    `json:"CNAME"`
	NS    []string    `json:"NS"`
	SOA   []soaRecord `json:"SOA"`
}

// mxRecord is a mail exchange; Exchange is empty in a null MX (RFC 7505).
type mxRecord struct {
	Exchange string `json:"exchange"`
	Priority uint16 `json:"priority"`
}

// soaRecord is a start of authority (RFC 1035 section 3.3.13), with the names of Node's dns module. Times are seconds.
type soaRecord struct {
	NSName     string `json:"nsname"`
	Hostmaster string `json:"hostmaster"`
	Serial     uint32 `json:"serial"`
	Refresh    uint32 `json:"refresh"`
	Retry      uint32 `json:"retry"`
	Expire     uint32 `json:"expire"`
	MinTTL     uint32 `json:"minttl"`
}

func newRecordSet() recordSet {
	return recordSet{
		A: []string{}, AAAA: []string{}, MX: []mxRecord{}, TXT: []string{}, CNAME: []string{}, NS: []string{},
		SOA: []soaRecord{},
	}
}

// add files records under their types.
func (r *recordSet) add(records []dns.RR) {
	for _, record := range records {
		switch rr := record.(type) {
		case *dns.A:
			if addr, ok := netip.AddrFromSlice(rr.A); ok {
				r.A = append(r.A, addr.Unmap().String())
			}
		case *dns.AAAA:
			// An IPv4-mapped value stays IPv6: that is what the record holds.
			if addr, ok := netip.AddrFromSlice(rr.AAAA.To16()); ok {
				r.AAAA = append(r.AAAA, addr.String())
			}
		case *dns.MX:
			r.MX = append(r.MX, mxRecord{Exchange: dnsclient.TrimRoot(rr.Mx), Priority: rr.Preference})
		case *dns.TXT:
			r.TXT = append(r.TXT, dnsclient.JoinTXT(rr.Txt))
		case *dns.CNAME:
			r.CNAME = append(r.CNAME, dnsclient.TrimRoot(rr.Target))
		case *dns.NS:
			r.NS = append(r.NS, dnsclient.TrimRoot(rr.Ns))
		case *dns.SOA:
			if len(r.SOA) > 0 {
				continue // a zone has one (RFC 1035 section 5.2); what else comes is a broken server's
			}
			r.SOA = append(r.SOA, soaRecord{
				NSName: dnsclient.TrimRoot(rr.Ns), Hostmaster: text.Decode(dnsclient.Unescape(dnsclient.TrimRoot(rr.Mbox))),
				Serial:  rr.Serial,
				Refresh: rr.Refresh, Retry: rr.Retry, Expire: rr.Expire, MinTTL: rr.Minttl,
			})
		}
	}
}

// sort puts every list in one order, since resolvers rotate theirs and two runs should look alike.
func (r *recordSet) sort() {
	byAddr := func(a, b string) int { return netip.MustParseAddr(a).Compare(netip.MustParseAddr(b)) }
	slices.SortFunc(r.A, byAddr)
	slices.SortFunc(r.AAAA, byAddr)
	slices.SortFunc(r.MX, func(a, b mxRecord) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), strings.Compare(a.Exchange, b.Exchange))
	})
	slices.Sort(r.TXT)
	slices.Sort(r.CNAME)
	slices.Sort(r.NS)
}

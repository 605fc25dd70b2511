package tools

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/miekg/dns"
)

// dnsRecords are the values by type; no list is null.
type dnsRecords struct {
	A     []string `json:"A"`
	AAAA  []string `json:"AAAA"`
	MX    []dnsMX  `json:"MX"`
	TXT   []string `json:"TXT"`
	CNAME []string `json:"CNAME"`
	NS    []string `json:"NS"`
	SOA   []dnsSOA `json:"SOA"`
}

// dnsMX is a mail exchange; Exchange is empty in a null MX (RFC 7505).
type dnsMX struct {
	Exchange string `json:"exchange"`
	Priority uint16 `json:"priority"`
}

// dnsSOA is a start of authority (RFC 1035 section 3.3.13), with the names of Node's dns module. Times are seconds.
type dnsSOA struct {
	NSName     string `json:"nsname"`
	Hostmaster string `json:"hostmaster"`
	Serial     uint32 `json:"serial"`
	Refresh    uint32 `json:"refresh"`
	Retry      uint32 `json:"retry"`
	Expire     uint32 `json:"expire"`
	MinTTL     uint32 `json:"minttl"`
}

func newDNSRecords() dnsRecords {
	return dnsRecords{
		A: []string{}, AAAA: []string{}, MX: []dnsMX{}, TXT: []string{}, CNAME: []string{}, NS: []string{}, SOA: []dnsSOA{},
	}
}

// add files records under their types.
func (r *dnsRecords) add(records []dns.RR) {
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
			r.MX = append(r.MX, dnsMX{Exchange: trimRoot(rr.Mx), Priority: rr.Preference})
		case *dns.TXT:
			r.TXT = append(r.TXT, joinTXT(rr.Txt))
		case *dns.CNAME:
			r.CNAME = append(r.CNAME, trimRoot(rr.Target))
		case *dns.NS:
			r.NS = append(r.NS, trimRoot(rr.Ns))
		case *dns.SOA:
			if len(r.SOA) > 0 {
				continue // a zone has one (RFC 1035 section 5.2); what else comes is a broken server's
			}
			r.SOA = append(r.SOA, dnsSOA{
				NSName: trimRoot(rr.Ns), Hostmaster: decodeText(unescapeDNS(trimRoot(rr.Mbox))), Serial: rr.Serial,
				Refresh: rr.Refresh, Retry: rr.Retry, Expire: rr.Expire, MinTTL: rr.Minttl,
			})
		}
	}
}

// sort puts every list in one order, since resolvers rotate theirs and two runs should look alike.
func (r *dnsRecords) sort() {
	byAddr := func(a, b string) int { return netip.MustParseAddr(a).Compare(netip.MustParseAddr(b)) }
	slices.SortFunc(r.A, byAddr)
	slices.SortFunc(r.AAAA, byAddr)
	slices.SortFunc(r.MX, func(a, b dnsMX) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), strings.Compare(a.Exchange, b.Exchange))
	})
	slices.Sort(r.TXT)
	slices.Sort(r.CNAME)
	slices.Sort(r.NS)
}

// trimRoot drops the dot of the root from a name in presentation form; the root itself is "". An escaped dot at the end
// is part of the last label.
func trimRoot(name string) string {
	trimmed, ok := strings.CutSuffix(name, ".")
	if !ok {
		return name
	}
	backslashes := len(trimmed) - len(strings.TrimRight(trimmed, `\`))
	if backslashes%2 == 1 {
		return name
	}
	return trimmed
}

// joinTXT joins the character-strings of one TXT record as they were before presentation. A character of UTF-8 may lie
// across two of them, so that the whole is judged and not each.
func joinTXT(chunks []string) string {
	var whole []byte
	for _, chunk := range chunks {
		whole = append(whole, unescapeDNS(chunk)...)
	}
	return decodeText(whole)
}

// unescapeDNS undoes \DDD and \X of the presentation format (RFC 1035 section 5.1). A backslash at the end, and digits
// that are no byte, stand for themselves.
func unescapeDNS(s string) []byte {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out = append(out, s[i])
			continue
		}
		if value, ok := decimalByte(s[i+1:]); ok {
			out = append(out, value)
			i += 3
			continue
		}
		i++
		out = append(out, s[i])
	}
	return out
}

// decimalByte reads three digits that make a byte.
func decimalByte(s string) (byte, bool) {
	if len(s) < 3 {
		return 0, false
	}
	value := 0
	for _, c := range []byte(s[:3]) {
		if c < '0' || c > '9' {
			return 0, false
		}
		value = value*10 + int(c-'0')
	}
	return byte(value), value <= 255
}

// decodeText reads bytes as UTF-8, or as Latin-1 where they are not valid UTF-8 as a whole.
func decodeText(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	runes := make([]rune, len(b))
	for i, c := range b {
		runes[i] = rune(c)
	}
	return string(runes)
}

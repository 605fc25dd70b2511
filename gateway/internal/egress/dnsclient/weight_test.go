package dnsclient

import (
	"fmt"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

// What an answer is said to weigh is what it takes in memory, or more: the cache is bounded by that. Escaped bytes take
// four in the library's strings, and names that one octet pair points to take their whole length in each record.
func TestWeightIsWhatAnAnswerTakes(t *testing.T) {
	ugly := strings.Repeat(strings.Repeat(`\001`, 59)+".", 4)
	for name, record := range map[string]func(dns.RR_Header, int) dns.RR{
		"addresses": func(h dns.RR_Header, i int) dns.RR {
			return &dns.A{Hdr: h, A: net.IPv4(93, 184, byte(i>>8), byte(i))}
		},
		"names": func(h dns.RR_Header, _ int) dns.RR { return &dns.NS{Hdr: h, Ns: ugly} },
		"owners": func(h dns.RR_Header, i int) dns.RR {
			h.Name = ugly
			return &dns.A{Hdr: h, A: net.IPv4(93, 184, byte(i>>8), byte(i))}
		},
		"text": func(h dns.RR_Header, _ int) dns.RR {
			return &dns.TXT{Hdr: h, Txt: []string{strings.Repeat(`\001`, 250), strings.Repeat("x", 250)}}
		},
		"short texts": func(h dns.RR_Header, _ int) dns.RR {
			return &dns.TXT{Hdr: h, Txt: strings.Split(strings.Repeat("x", 250), "")}
		},
		"no text": func(h dns.RR_Header, _ int) dns.RR { return &dns.TXT{Hdr: h, Txt: make([]string, 250)} },
		"SOA":     func(h dns.RR_Header, _ int) dns.RR { return &dns.SOA{Hdr: h, Ns: ugly, Mbox: ugly} },
		"unknown": func(h dns.RR_Header, _ int) dns.RR { return &dns.RFC3597{Hdr: h, Rdata: strings.Repeat("01", 250)} },
		"CAA": func(h dns.RR_Header, _ int) dns.RR {
			return &dns.CAA{Hdr: h, Tag: "issue", Value: strings.Repeat(`\001`, 250)}
		},
		"protocols": func(h dns.RR_Header, _ int) dns.RR {
			return service(h, &dns.SVCBAlpn{Alpn: strings.Split(strings.Repeat("h", 500), "")})
		},
		"hints": func(h dns.RR_Header, _ int) dns.RR {
			return service(h, &dns.SVCBIPv4Hint{Hint: slices.Repeat([]net.IP{{93, 184, 216, 34}}, 250)})
		},
		"hints of IPv6": func(h dns.RR_Header, _ int) dns.RR {
			return service(h, &dns.SVCBIPv6Hint{Hint: slices.Repeat([]net.IP{net.ParseIP("2606:4700::1")}, 60)})
		},
		"mandatory keys": func(h dns.RR_Header, _ int) dns.RR {
			return service(h, &dns.SVCBMandatory{Code: slices.Repeat([]dns.SVCBKey{1}, 500)})
		},
		"parameters": func(h dns.RR_Header, _ int) dns.RR { return service(h, manyParams(250)...) },
		"a key": func(h dns.RR_Header, _ int) dns.RR {
			return &dns.DNSKEY{Hdr: h, PublicKey: strings.Repeat("AAAA", 200)}
		},
		"a digest": func(h dns.RR_Header, _ int) dns.RR { return &dns.TLSA{Hdr: h, Certificate: strings.Repeat("01", 500)} },
		"rules": func(h dns.RR_Header, _ int) dns.RR {
			text := strings.Repeat(`\001`, 250)
			return &dns.NAPTR{Hdr: h, Flags: text, Service: text, Regexp: text, Replacement: ugly}
		},
		"URIs":   func(h dns.RR_Header, _ int) dns.RR { return &dns.URI{Hdr: h, Target: strings.Repeat("x", 500)} },
		"places": func(h dns.RR_Header, _ int) dns.RR { return &dns.LOC{Hdr: h, Size: 0x12} },
	} {
		t.Run(name, func(t *testing.T) {
			packet := fill(t, record)
			const copies = 10
			kept := make([]Answer, copies)
			before := heap()
			for i := range kept {
				var got dns.Msg
				if err := got.Unpack(packet); err != nil {
					t.Fatal(err)
				}
				kept[i] = Answer{Records: got.Answer}
			}
			if took, said := (heap()-before)/copies, kept[0].Weight(); took > int64(said) {
				t.Errorf("%d records take %d bytes, and are said to take %d", len(kept[0].Records), took, said)
			}
			runtime.KeepAlive(kept)
		})
	}
}

func service(h dns.RR_Header, params ...dns.SVCBKeyValue) *dns.SVCB {
	return &dns.SVCB{Hdr: h, Priority: 1, Target: ".", Value: params}
}

// manyParams are parameters without a value.
func manyParams(count int) []dns.SVCBKeyValue {
	params := make([]dns.SVCBKeyValue, count)
	for i := range params {
		params[i] = &dns.SVCBLocal{KeyCode: dns.SVCBKey(1000 + i)}
	}
	return params
}

// fill makes a message of tens of kilobytes.
func fill(t *testing.T, record func(dns.RR_Header, int) dns.RR) []byte {
	t.Helper()
	m := new(dns.Msg).SetQuestion("example.com.", dns.TypeA)
	m.Compress = true
	for i := range 1000 {
		rr := record(dns.RR_Header{Name: "example.com.", Class: dns.ClassINET, Ttl: 300}, i)
		rr.Header().Rrtype = typeOf(rr)
		m.Answer = append(m.Answer, rr)
		if i%100 == 0 && m.Len() > 30_000 {
			break
		}
	}
	packet, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return packet
}

// typeOf gives the type of a record, and for one that has none a number for private use.
func typeOf(rr dns.RR) uint16 {
	for code, name := range dns.TypeToString {
		if "*dns."+name == fmt.Sprintf("%T", rr) {
			return code
		}
	}
	return 65280
}

func heap() int64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}

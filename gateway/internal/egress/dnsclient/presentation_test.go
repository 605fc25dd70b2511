package dnsclient

import (
	"encoding/hex"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

// presentations are records as zone files have them and what dig 9.18 prints of each, but for the dot of the root at
// the end of names and the case of hexadecimal. The lab queries dig itself.
var presentations = map[string]string{
	`CAA 0 issue "ca.example.net; account=1"`: `0 issue "ca.example.net; account=1"`,
	`CAA 128 iodef "a\"b\\c\001"`:             `128 iodef "a\"b\\c\001"`,
	`CAA 0 issue ""`:                          `0 issue ""`,
	`SRV 10 60 5060 sip.example.com.`:         `10 60 5060 sip.example.com`,
	`SRV 0 0 0 .`:                             `0 0 0 .`,
	`HTTPS 0 pool.example.com.`:               `0 pool.example.com`,
	`HTTPS 1 . port=8443 ipv4hint=1.2.3.4,5.6.7.8 alpn="h3,h2" ipv6hint=2001:db8::1 mandatory=alpn,port`:       `1 . mandatory=alpn,port alpn="h3,h2" port=8443 ipv4hint=1.2.3.4,5.6.7.8 ipv6hint=2001:db8::1`,
	`HTTPS 1 . alpn=h2 no-default-alpn ech=AEX+DQ==`:                                                           `1 . alpn="h2" no-default-alpn ech=AEX+DQ==`,
	`SVCB 1 dns.example.com. alpn=dot dohpath="/q{?dns}"`:                                                      `1 dns.example.com alpn="dot" dohpath="/q{?dns}"`,
	`SVCB 1 a.example.com. key65280="a b\"c;\\\001" key777="" ohttp`:                                           `1 a.example.com ohttp key777 key65280="a b\"c;\\\001"`,
	`SVCB 16 foo.example.org. alpn="f\\\\oo\\,bar,h2"`:                                                         `16 foo.example.org alpn="f\\\\oo\\,bar,h2"`,
	`DS 60485 5 1 2BB183AF5F22588179A53B0A98631FAD1A292118`:                                                    `60485 5 1 2bb183af5f22588179a53b0a98631fad1a292118`,
	`DNSKEY 257 3 13 oJMRESz5E4gYzS/q6XDrvU1qMPYIjCWzJaOau8XNEZeqCYKD5ar0IRd8KqXXFJkqmVfRvMGPmM1x8fGAa2XhSA==`: `257 3 13 oJMRESz5E4gYzS/q6XDrvU1qMPYIjCWzJaOau8XNEZeqCYKD5ar0IRd8KqXXFJkqmVfRvMGPmM1x8fGAa2XhSA==`,
	`TLSA 3 1 1 0C72AC`: `3 1 1 0c72ac`,
	`NAPTR 100 50 "s" "z3950+I2L+I2C" "" _z3950._tcp.gatech.edu.`: `100 50 "s" "z3950+I2L+I2C" "" _z3950._tcp.gatech.edu`,
	`NAPTR 100 10 "u" "E2U+sip" "!^\\+(.*)$!sip:\\1@x\"y.com!" .`: `100 10 "u" "E2U+sip" "!^\\+(.*)$!sip:\\1@x\"y.com!" .`,
	`SSHFP 4 2 A87F1B68`:                        `4 2 a87f1b68`,
	`URI 10 1 "ftp://ftp1.example.com/\"x"`:     `10 1 "ftp://ftp1.example.com/\"x"`,
	`LOC 42 21 54 N 71 06 18 W -24m 30m`:        `42 21 54.000 N 71 6 18.000 W -24.00m 30m 10000m 10m`,
	`LOC 0 0 0 N 0 0 0 E 0.5m 0.05m 1m 900000m`: `0 0 0.000 N 0 0 0.000 E 0.50m 0.05m 1m 900000m`,
	`LOC 90 N 180 E 0m 0m`:                      `90 0 0.000 N 180 0 0.000 E 0.00m 0.00m 10000m 10m`,
	// Another version, lengths that are none, a latitude past the pole and a longitude past its end.
	`LOC \# 16 01121613800000008000000000989680`: `\# 16 01121613800000008000000000989680`,
	`LOC \# 16 00a21613800000008000000000989680`: `\# 16 00a21613800000008000000000989680`,
	`LOC \# 16 0012160a800000008000000000989680`: `\# 16 0012160a800000008000000000989680`,
	`LOC \# 16 0012161393502a018000000000989680`: `\# 16 0012161393502a018000000000989680`,
	`LOC \# 16 0012161380000000ffffffff00989680`: `\# 16 0012161380000000ffffffff00989680`,
	`HINFO "PC" "Red\"hat; \\ \200"`:             `"PC" "Red\"hat; \\ \200"`,
	`A 192.0.2.1`:                                `192.0.2.1`,
	`TYPE65280 \# 2 0aff`:                        `\# 2 0aff`,
}

func TestPresentation(t *testing.T) {
	t.Parallel()
	for line, want := range presentations {
		if got := Presentation(received(t, line)); got != want {
			t.Errorf("%s\n is %s\nwant %s", line, got, want)
		}
	}
}

// received gives a record as it is once it came in a message: what the library reads of zone files is kept otherwise.
func received(t *testing.T, line string) dns.RR {
	t.Helper()
	rr, err := dns.NewRR("example.com. 300 IN " + line)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	m := new(dns.Msg).SetQuestion("example.com.", rr.Header().Rrtype)
	m.Answer = append(m.Answer, rr)
	packet, err := m.Pack()
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	var got dns.Msg
	if err := got.Unpack(packet); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return got.Answer[0]
}

// TestKeyTag has the keys of the root and what dig says of them, and one that the library's own method takes none of.
func TestKeyTag(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]uint16{
		"DNSKEY 257 3 8 AwEAAaz/tAm8yTn4Mfeh5eyI96WSVexTBAvkMgJzkKTOiW1vkIbzxeF3+/4RgWOq7HrxRixHlFlExOLAJr5emLvN7SWXgnLh4+B5xQlNVz8Og8kvArMtNROxVQuCaSnIDdD5LKyWbRd2n9WGe2R8PzgCmr3EgVLrjyBxWezF0jLHwVN8efS3rCj/EWgvIWgb9tarpVUDK/b58Da+sqqls3eNbuv7pr+eoZG+SrDK6nWeL3c6H5Apxz7LjVc1uTIdsIXxuOLYA4/ilBmSVIzuDWfdRUfhHdY6+cn8HFRm+2hM8AnXGXws9555KrUB5qihylGa8subX2Nn6UwNR1AkUTV74bU=": 20326,
		"DNSKEY 256 3 1 AwEAAaz/tAm8yTn4":              24270,
		"DNSKEY 0 0 0 AA==":                            0,
		"DNSKEY 257 3 13 " + strings.Repeat("/", 8000): 1037,
	} {
		key := received(t, line).(*dns.DNSKEY)
		if got := key.KeyTag(); got != want && len(key.PublicKey) < 5000 {
			t.Errorf("the library says %d of %.40s, want %d", got, line, want)
		}
		if got := KeyTag(key); got != want {
			t.Errorf("%d of %.40s, want %d", got, line, want)
		}
	}
}

func TestServiceParams(t *testing.T) {
	t.Parallel()
	rr := received(t, `SVCB 1 . alpn="h2,h3" no-default-alpn port=53 key65280="a\"b"`).(*dns.SVCB)
	want := []ServiceParam{{"alpn", "h2,h3"}, {"no-default-alpn", ""}, {"port", "53"}, {"key65280", `a\"b`}}
	if got := ServiceParams(rr); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestManyParamsAreSoonRead: the library's String would copy gigabytes for as many as an answer holds. It is not
// parallel: what other tests allocate would count.
func TestManyParamsAreSoonRead(t *testing.T) {
	rr := service(dns.RR_Header{Name: "example.com.", Rrtype: dns.TypeSVCB, Class: dns.ClassINET, Ttl: 300, Rdlength: 1},
		manyParams(16_000)...)
	a := Answer{Records: []dns.RR{rr}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	a.bound()
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 32<<20 || !a.Cut {
		t.Errorf("%d bytes were allocated, cut %t", took, a.Cut)
	}
}

// presented are the types that Presentation has a form of its own for.
var presented = []uint16{
	dns.TypeCAA, dns.TypeSRV, dns.TypeHTTPS, dns.TypeSVCB, dns.TypeDS, dns.TypeDNSKEY, dns.TypeTLSA, dns.TypeNAPTR,
	dns.TypeSSHFP, dns.TypeURI, dns.TypeLOC, dns.TypeHINFO,
}

// FuzzPresentation feeds the readers of records arbitrary data of every type: what they write is plain ASCII in one
// line, and not many times as long.
func FuzzPresentation(f *testing.F) {
	for line := range presentations {
		rr, err := dns.NewRR("example.com. 300 IN " + line)
		if err != nil {
			f.Fatal(err)
		}
		packet := make([]byte, dns.Len(rr)+64)
		end, err := dns.PackRR(rr, packet, 0, nil, false)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(rr.Header().Rrtype, packet[len("\x07example\x03com\x00")+10:end])
	}
	f.Fuzz(func(t *testing.T, qtype uint16, data []byte) {
		if !slices.Contains(presented, qtype) || len(data) == 0 || len(data) > 60_000 {
			return
		}
		h := dns.RR_Header{Name: ".", Rrtype: qtype, Class: dns.ClassINET, Rdlength: uint16(len(data))}
		rr, _, err := dns.UnpackRRWithHeader(h, data, 0)
		if err != nil {
			return
		}
		text := Presentation(rr)
		if len(text) > 8*len(data)+200 {
			t.Fatalf("%d bytes of %d", len(text), len(data))
		}
		for _, c := range []byte(text) {
			if c < ' ' || c > '~' {
				t.Fatalf("%q of %s", text, hex.EncodeToString(data))
			}
		}
		switch own := rr.(type) {
		case *dns.SVCB:
			ServiceParams(own)
		case *dns.HTTPS:
			ServiceParams(&own.SVCB)
		case *dns.DNSKEY:
			KeyTag(own)
		}
	})
}

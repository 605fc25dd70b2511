package target

import (
	"net/netip"
	"strings"
	"testing"

	"diagnostics/gateway/internal/fault"
	"diagnostics/shared/netpolicy"

	"github.com/miekg/dns"
	"pgregory.net/rapid"
)

func TestReverseNames(t *testing.T) {
	t.Parallel()
	accepted := []string{
		"8.8.8.8.in-addr.arpa", "8.8.8.8.IN-ADDR.ARPA.", "34.216.184.93.in-addr.arpa", "in-addr.arpa", "ip6.arpa",
		strings.Repeat("1.", 12) + strings.Repeat("0.", 16) + "0.0.6.2.ip6.arpa",
		// Zones of ranges with public addresses, and names below them.
		"8.8.in-addr.arpa", "11.in-addr.arpa", "192.in-addr.arpa", "0.192.in-addr.arpa", "88.192.in-addr.arpa",
		"198.in-addr.arpa", "1.0.0.2.ip6.arpa", "2.ip6.arpa", "3.ip6.arpa", "f.f.f.3.ip6.arpa",
		"0-25.8.8.8.in-addr.arpa", "_tcp.8.8.8.8.in-addr.arpa", "1.8.8.8.8.in-addr.arpa",
		// Neighbours of ranges that are not public.
		"17.198.in-addr.arpa", "20.198.in-addr.arpa", "223.in-addr.arpa", "1.0.192.in-addr.arpa", "128.100.in-addr.arpa",
		// No part of an address.
		"010.in-addr.arpa", "256.in-addr.arpa", "a.in-addr.arpa", "1f.ip6.arpa", "xin-addr.arpa", "10.in-addr.arpa.example.com",
	}
	refused := []string{
		"1.0.0.10.in-addr.arpa", "10.in-addr.arpa", "1.1.1.127.in-addr.arpa", "168.192.in-addr.arpa",
		// Ranges that are not public and are no zones of RFC 6303.
		"1.2.18.198.in-addr.arpa", "18.198.in-addr.arpa", "19.198.in-addr.arpa", "1.0.0.224.in-addr.arpa",
		"224.in-addr.arpa", "240.in-addr.arpa", "255.in-addr.arpa", "172.0.0.192.in-addr.arpa", "0.0.192.in-addr.arpa",
		"16.129.63.168.in-addr.arpa", "1.99.88.192.in-addr.arpa", "_tcp.1.0.0.10.in-addr.arpa", "0-25.2.18.198.in-addr.arpa",
		"0.ip6.arpa", "4.ip6.arpa", "f.ip6.arpa", "c.f.ip6.arpa", "2.0.0.2.ip6.arpa", "b.9.f.f.4.6.0.0.ip6.arpa",
		"0.0.1.0.0.2.ip6.arpa", "8.b.d.0.1.0.0.2.ip6.arpa",
	}
	for _, name := range accepted {
		if d, err := ParseDomain(name, true); err != nil || d.String() != strings.ToLower(strings.TrimSuffix(name, ".")) {
			t.Errorf("%s: %q, %v", name, d, err)
		}
	}
	for _, name := range refused {
		if d, err := ParseDomain(name, true); !fault.Is(err, fault.Refused) {
			t.Errorf("%s: %q, %v", name, d, err)
		}
	}
	_, err := ParseDomain("1.2.18.198.in-addr.arpa", true)
	code, args := fault.Reason(err)
	if code != "REVERSE_NAME_NOT_PUBLIC" || args["problem"] != "a benchmarking address" || args["source"] != "RFC 2544" {
		t.Errorf("%v", err)
	}
}

// TestReverseNamesOfAddressesAtRandom: the reverse name of an address is allowed exactly where the address is public.
func TestReverseNamesOfAddressesAtRandom(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		octets := rapid.SampledFrom([]int{4, 16}).Draw(t, "octets")
		address, _ := netip.AddrFromSlice(rapid.SliceOfN(rapid.Byte(), octets, octets).Draw(t, "address"))
		address = address.Unmap() // an IPv4 address has one spelling here
		name, err := dns.ReverseAddr(address.String())
		if err != nil {
			t.Fatal(err)
		}
		first, last, ok := reversed(strings.TrimSuffix(name, "."))
		if !ok || first != address || last != address {
			t.Fatalf("%s is read as %v to %v, %t", name, first, last, ok)
		}
		if _, err := ParseDomain(name, true); (err == nil) != netpolicy.Judge(address).Public {
			t.Fatalf("%s: %v", name, err)
		}
	})
}

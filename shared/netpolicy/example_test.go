package netpolicy_test

import (
	"fmt"
	"net/netip"

	"diagnostics/shared/netpolicy"
)

// A verdict says why an address is refused, by the row of the registry that holds it.
func ExampleJudge() {
	for _, address := range []string{"1.1.1.1", "10.0.0.1", "192.0.2.1", "::ffff:8.8.8.8", "2606:4700:4700::1111"} {
		if v := netpolicy.Judge(netip.MustParseAddr(address)); v.Public {
			fmt.Println(address, "is public")
		} else {
			fmt.Printf("%s is %s (%s, %s)\n", address, v.Reason, v.Prefix, v.Source)
		}
	}
	// Output:
	// 1.1.1.1 is public
	// 10.0.0.1 is a private address (10.0.0.0/8, RFC 1918)
	// 192.0.2.1 is a documentation address (192.0.2.0/24, RFC 5737)
	// ::ffff:8.8.8.8 is an IPv4-mapped address (::ffff:0.0.0.0/96, RFC 4291)
	// 2606:4700:4700::1111 is public
}

// Names are mapped first and judged after, so that no spelling leads past the rules.
func ExampleParseName() {
	for _, typed := range []string{"Bücher.example.com.", "localhost", "printer.ＬＡＮ"} {
		name, err := netpolicy.ParseName(typed, false)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(name)
	}
	// Output:
	// xn--bcher-kva.example.com
	// the name is a name of the local machine (RFC 6761)
	// the name is a name for private networks (RFC 6762)
}

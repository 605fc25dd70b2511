package lab

import (
	"fmt"
	"net/netip"

	"diagnostics/lab/internal/zone"

	"github.com/miekg/dns"
)

// reverseNames are what the reverse DNS says of addresses that are looked up by themselves; routers and paths have
// names of their own.
var reverseNames = []string{
	"5.0.80.11.in-addr.arpa. 300 IN PTR Five." + SiteZone + ".",
	// The holder of an address may write anything there.
	`9.9.94.11.in-addr.arpa. 300 IN PTR <b>bold</b>.` + SiteZone + ".",
	"7.0.90.11.in-addr.arpa. 300 IN PTR db.corp.internal.",
	// Nothing is at 11.80.0.43 by that name.
	"43.0.80.11.in-addr.arpa. 300 IN PTR fast." + SiteZone + ".",
}

// mailHosts are the hosts behind the exchanges of the mail domains, whose names lead there and back.
func mailHosts() (lines []string) {
	v6 := netip.MustParseAddr("2a10:80::40")
	lines = append(lines, named("mx1."+TransitZone, netip.MustParseAddr("11.80.0.40"), v6)...)
	return append(lines, named("mx2."+TransitZone, netip.MustParseAddr("11.80.0.41"), netip.Addr{})...)
}

// nameAddresses fills the reverse DNS. The servers of one zone fail.
func nameAddresses(t *zone.Table) error {
	if err := t.Add(append(mailHosts(), reverseNames...)...); err != nil {
		return fmt.Errorf("lab: reverse names: %w", err)
	}
	t.Script("7.1.98.11.in-addr.arpa", zone.Step{RCode: dns.RcodeServerFailure})
	return nil
}

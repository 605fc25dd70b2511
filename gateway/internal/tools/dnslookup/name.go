package dnslookup

import (
	"net/netip"
	"strings"

	"diagnostics/gateway/internal/dnsclient"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
	"diagnostics/shared/netpolicy"

	"github.com/miekg/dns"
)

// parseName takes a public domain name. Who types an address is told the name that its records stand at.
func parseName(typed string) (target.Domain, error) {
	name, err := target.ParseDomain(typed, true)
	address, failed := netip.ParseAddr(typed)
	if err == nil || failed != nil || !netpolicy.Judge(address).Public {
		return name, err
	}
	reverse, failed := dns.ReverseAddr(address.String())
	if failed != nil {
		return name, err
	}
	return name, fault.Newf(fault.Invalid, "%s is an IP address. Enter a public domain name, such as example.com; the "+
		"records of this address are under %s.", address, strings.ToLower(dnsclient.TrimRoot(reverse)))
}

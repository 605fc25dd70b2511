package rdap

import (
	"context"
	"strings"

	"diagnostics/gateway/internal/dnsclient"

	"github.com/miekg/dns"
	"golang.org/x/net/publicsuffix"
)

// mayBeDelegated reports whether a name's last label is a top-level domain. Those of the public suffix list's ICANN
// part are; of others the root is asked, by way of the resolvers, whose answers are kept. One that cannot be asked
// leaves it open, and that is no word against the name.
func (c *Client) mayBeDelegated(ctx context.Context, name string) bool {
	tld := name[strings.LastIndexByte(name, '.')+1:]
	if suffix, icann := publicsuffix.PublicSuffix(tld); icann && suffix == tld {
		return true
	}
	answer := c.egress.DNS().Query(ctx, tld, dns.TypeNS)
	return answer.Code != dnsclient.CodeNotFound && answer.Code != dnsclient.CodeNoData
}

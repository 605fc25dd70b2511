package toolstest

import (
	"fmt"
	"testing"

	"diagnostics/gateway/internal/cache"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/providers/asn"

	"github.com/miekg/dns"
)

// ASNLine is a zone-file line below the ASN service's zone.
func ASNLine(name, text string) string {
	return fmt.Sprintf("%s.asn.cymru.com. 300 IN TXT %q", name, text)
}

// ASNClient queries the ASN service of a network, with a cache of its own.
func ASNClient(t *testing.T, out *egress.Client) *asn.Client {
	t.Helper()
	store := cache.NewMemory(1 << 20)
	t.Cleanup(store.Close)
	return asn.New(out, "", store)
}

// Failing answers every question with the code.
func Failing(rcode int) func(q *dns.Msg) *dns.Msg {
	return func(q *dns.Msg) *dns.Msg { return new(dns.Msg).SetRcode(q, rcode) }
}

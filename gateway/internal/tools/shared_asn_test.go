package tools

import (
	"fmt"
	"testing"

	"diagnostics/gateway/internal/cache"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/providers/asn"

	"github.com/miekg/dns"
)

// asnTXT is a zone-file line below the ASN service's zone.
func asnTXT(name, text string) string {
	return fmt.Sprintf("%s.asn.cymru.com. 300 IN TXT %q", name, text)
}

func asnClient(t *testing.T, out *egress.Client) *asn.Client {
	t.Helper()
	store := cache.NewMemory(1 << 20)
	t.Cleanup(store.Close)
	return asn.New(out, "", store)
}

func failing(rcode int) func(q *dns.Msg) *dns.Msg {
	return func(q *dns.Msg) *dns.Msg { return new(dns.Msg).SetRcode(q, rcode) }
}

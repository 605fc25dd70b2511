package webview

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/target"

	"github.com/miekg/dns"
)

// binding is what the HTTPS records of an origin offer (RFC 9460).
type binding struct {
	known   bool // the name servers have answered
	present bool // there is a record that a client may use
	// offersHTTP3 reports whether such a record has h3 in its ALPN. The rest is of the first of these, by priority.
	offersHTTP3 bool
	host        string
	port        uint16
	hints       []netip.Addr
}

// maxRecordAliases is how many records of the alias form are followed; CNAMEs are the resolver's.
const maxRecordAliases = 2

// lookupBinding looks the records up. An address has none.
func lookupBinding(ctx context.Context, client *egress.Client, u target.URL) binding {
	if u.Host().IsAddr() {
		return binding{known: true}
	}
	name := u.Host().Name()
	if u.Port() != httpsPort { // RFC 9460 section 9.1
		name = fmt.Sprintf("_%d._https.%s", u.Port(), name)
	}
	for range maxRecordAliases + 1 {
		answer := client.DNS().Query(ctx, name, dns.TypeHTTPS)
		if !answer.Conclusive() || slices.ContainsFunc(answer.CNAMEChain, func(alias string) bool {
			return client.PermitAlias(alias) != nil
		}) {
			return binding{}
		}
		records := services(answer.Records)
		if len(records) == 0 {
			return binding{known: true}
		}
		if records[0].Priority > 0 {
			return bindingOf(records, u.Port())
		}
		name = strings.TrimSuffix(records[0].Target, ".")
		if name == "" { // RFC 9460 section 2.5.1: there is no such service
			return binding{known: true}
		}
		if client.PermitAlias(name) != nil {
			return binding{}
		}
	}
	return binding{}
}

// services are the records in the order of their priority. One of the alias form, which has none, comes first and makes
// clients ignore the others.
func services(records []dns.RR) []*dns.SVCB {
	var list []*dns.SVCB
	for _, rr := range records {
		if https, is := rr.(*dns.HTTPS); is {
			list = append(list, &https.SVCB)
		}
	}
	slices.SortStableFunc(list, func(a, b *dns.SVCB) int { return cmp.Compare(a.Priority, b.Priority) })
	return list
}

// bindingOf reads the records of the service form.
func bindingOf(records []*dns.SVCB, port uint16) binding {
	b := binding{known: true, port: port}
	for _, rr := range records {
		one, usable := bindingIn(rr, port)
		b.present = b.present || usable
		if usable && one.offersHTTP3 {
			one.present = true
			return one
		}
	}
	return b
}

// bindingIn reads one record. It is not usable where it makes a key mandatory that clients do not have (RFC 9460
// section 8).
func bindingIn(rr *dns.SVCB, port uint16) (b binding, usable bool) {
	host := rr.Target
	if host == "." {
		host = rr.Hdr.Name
	}
	b = binding{known: true, host: strings.TrimSuffix(host, "."), port: port}
	for _, pair := range rr.Value {
		switch p := pair.(type) {
		case *dns.SVCBMandatory:
			if slices.ContainsFunc(p.Code, func(k dns.SVCBKey) bool { return k > dns.SVCB_IPV6HINT }) {
				return binding{}, false
			}
		case *dns.SVCBAlpn:
			b.offersHTTP3 = slices.Contains(p.Alpn, "h3")
		case *dns.SVCBPort:
			b.port = p.Port
		case *dns.SVCBIPv4Hint:
			b.hint(p.Hint)
		case *dns.SVCBIPv6Hint:
			b.hint(p.Hint)
		}
	}
	return b, b.port != 0
}

// maxHints is how many addresses of a record are compared.
const maxHints = 16

func (b *binding) hint(list []net.IP) {
	for _, ip := range list {
		if a, ok := netip.AddrFromSlice(ip); ok && len(b.hints) < maxHints {
			b.hints = append(b.hints, a.Unmap())
		}
	}
}

// strangeHints returns the hints that are not among the addresses of the host, of the families that could be looked up.
// One that is not public is not named: it may be of a network inside.
func (b binding) strangeHints(client *egress.Client, r egress.Resolution) (strange []string, private bool) {
	for _, hint := range b.hints {
		known, unanswered := r.V6, r.Unanswered.V6
		if hint.Is4() {
			known, unanswered = r.V4, r.Unanswered.V4
		}
		switch {
		case unanswered || slices.Contains(known, hint):
		case client.Permit(hint) != nil:
			private = true
		default:
			strange = append(strange, hint.String())
		}
	}
	return slices.Compact(strange), private
}

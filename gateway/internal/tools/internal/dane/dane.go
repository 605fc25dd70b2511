// Package dane looks up the TLSA records of a server.
package dane

import (
	"context"
	"fmt"

	"diagnostics/gateway/internal/analyze/tlsa"
	"diagnostics/shared/netpolicy"

	"github.com/miekg/dns"
)

// Answer is an answer of a resolver.
type Answer struct {
	Records []dns.RR
	// Expanded is the end of the name's aliases, empty where it is none.
	Expanded string
	// Authenticated means that the resolver vouches for the answer by DNSSEC.
	Authenticated bool
	// Err is nil where the answer is conclusive: also where there is nothing.
	Err error
}

// Ask queries a resolver.
type Ask func(ctx context.Context, name string, qtype uint16) Answer

// Found are the TLSA records of a server. Records is never nil; Name is the TLSA base domain that they are of (RFC 7671
// section 7). Clients use them where they are authenticated.
type Found struct {
	Name          string
	Records       []tlsa.Record
	Authenticated bool
	Err           error
}

// usable reports whether clients use what was found.
func (f Found) usable() bool { return len(f.Records) > 0 && f.Authenticated }

// Lookup looks the records up where clients do (RFC 7671 section 7, RFC 7672 section 2.2.2): at the end of the host's
// aliases, where DNSSEC vouches for all of them, and where there are none that it vouches for, at the host itself. It
// queries by addresses for the host's own addresses, and by keys for the records.
func Lookup(ctx context.Context, addresses, keys Ask, host string, port uint16) Found {
	at := func(name string) Found {
		answer := keys(ctx, fmt.Sprintf("_%d._tcp.%s", port, name), dns.TypeTLSA)
		return Found{name, tlsa.Read(answer.Records), answer.Authenticated, answer.Err}
	}
	expanded := expandedName(ctx, addresses, host)
	if expanded == "" {
		return at(host)
	}
	first := at(expanded)
	if first.Err != nil || first.usable() {
		return first
	}
	if second := at(host); len(first.Records) == 0 || second.usable() {
		return second
	}
	return first
}

// expandedName is the end of the host's aliases, empty where it is none or DNSSEC does not vouch for the whole chain.
func expandedName(ctx context.Context, addresses Ask, host string) string {
	for _, qtype := range []uint16{dns.TypeA, dns.TypeAAAA} {
		if answer := addresses(ctx, host, qtype); answer.Expanded != "" && answer.Authenticated {
			if _, err := netpolicy.ParseName(answer.Expanded, true); err == nil {
				return answer.Expanded
			}
		}
	}
	return ""
}

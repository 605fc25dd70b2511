// Package reverse finds the names of addresses in the reverse DNS.
package reverse

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/target"

	"github.com/miekg/dns"
)

// ErrUnanswered means that no answer came, which does not prove that there is no name.
var ErrUnanswered = errors.New("reverse: no answer")

// Name gives the name of an address, as First has it. The only error is ErrUnanswered.
func Name(ctx context.Context, client *egress.Client, address netip.Addr) (*string, error) {
	owner, err := dns.ReverseAddr(address.String())
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // what is no address has no name
	}
	answer := client.DNS().Query(ctx, strings.TrimSuffix(owner, "."), dns.TypePTR)
	if !answer.Conclusive() {
		return nil, fmt.Errorf("%w: %s", ErrUnanswered, answer.Code)
	}
	return First(answer.Records), nil
}

// First returns the first name of PTR records that is also a valid target, nil where there is none. The owner of an
// address may write anything into its reverse zone: markup, control characters, an internal name.
func First(records []dns.RR) *string {
	for _, rr := range records {
		if ptr, is := rr.(*dns.PTR); is {
			if domain, err := target.ParseDomain(ptr.Ptr, true); err == nil {
				return new(domain.String())
			}
		}
	}
	return nil
}

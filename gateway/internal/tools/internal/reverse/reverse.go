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

// ErrUnanswered is the failure to learn of a name: nobody said that there is none.
var ErrUnanswered = errors.New("reverse: no answer")

// Name gives the first PTR name of an address that a visitor could have typed as a target, nil where there is none.
// Whoever owns an address may write anything into its reverse zone: markup, control characters, the name of an inside.
// The only error is ErrUnanswered.
func Name(ctx context.Context, client *egress.Client, address netip.Addr) (*string, error) {
	owner, err := dns.ReverseAddr(address.String())
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // what is no address has no name
	}
	answer := client.DNS().Query(ctx, strings.TrimSuffix(owner, "."), dns.TypePTR)
	if !answer.Conclusive() {
		return nil, fmt.Errorf("%w: %s", ErrUnanswered, answer.Code)
	}
	for _, rr := range answer.Records {
		ptr, is := rr.(*dns.PTR)
		if !is {
			continue
		}
		if domain, err := target.ParseDomain(ptr.Ptr, true); err == nil {
			name := domain.String()
			return &name, nil
		}
	}
	return nil, nil //nolint:nilnil // that there is no name is an answer
}

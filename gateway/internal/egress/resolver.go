package egress

import (
	"context"
	"net/netip"
	"strings"
	"sync"

	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
)

// systemResolver is what is shown of a resolver whose address is not to be shown.
const systemResolver = "system"

// resolverNames are what is shown of the resolvers that answered, each judged every few seconds and not for every
// answer: the kernel is asked each time.
type resolverNames struct {
	mu    sync.Mutex
	facts map[netip.AddrPort]*hostFact[string]
}

// ResolverName is what is shown of a resolver that answered: its address where it is public and not this host's own,
// else only that it is the system's.
func (c *Client) ResolverName(resolver netip.AddrPort) string {
	name, _ := c.resolverFact(resolver).get() // reading it cannot fail
	return name
}

func (c *Client) resolverFact(resolver netip.AddrPort) *hostFact[string] {
	c.resolvers.mu.Lock()
	defer c.resolvers.mu.Unlock()
	fact, ok := c.resolvers.facts[resolver]
	if !ok {
		fact = newHostFact(func() (string, error) {
			name := resolver.String()
			if c.Permit(resolver.Addr()) != nil {
				name = systemResolver
			}
			return name, nil
		})
		if c.resolvers.facts == nil {
			c.resolvers.facts = make(map[netip.AddrPort]*hostFact[string])
		}
		c.resolvers.facts[resolver] = fact
	}
	return fact
}

// ResolverFault is the *fault.Error (Upstream or Timeout, Own) to tell where a lookup of the name failed because the
// operator's resolver fails: one that cannot say either who serves the name's last label. It is nil where that resolver
// works, so that the name's own servers are at fault. A resolver that is down must not make a site down. shown stands
// for the name in the sentence.
func (c *Client) ResolverFault(ctx context.Context, name, shown string, failed dnsclient.Answer) error {
	if failed.Conclusive() || failed.Busy != nil || c.dns.ResolverAnswers(ctx, name, failed) || ctx.Err() != nil {
		return nil //nolint:nilerr // what this host lacks, and that nobody waits any more, is told by others
	}
	kind, outcome, resolver := fault.Upstream, "failed", "answered "+strings.TrimPrefix(failed.Code, "E")
	switch failed.Code {
	case dnsclient.CodeTimeout:
		kind, outcome, resolver = fault.Timeout, "got no answer", "did not respond"
	case dnsclient.CodeConnRefused:
		resolver = "cannot be reached"
	case dnsclient.CodeBadResp:
		resolver = "gives invalid answers"
	}
	own := fault.Newf(kind, "The lookup of %s %s: this service's own resolver %s.", shown, outcome, resolver)
	own.Own = true
	return own
}

// ResolveNameServer is Resolve for the name server of a zone, which has an address also where DNSSEC fails for its
// name: who asks it wants to see what is wrong with the zone.
func (c *Client) ResolveNameServer(ctx context.Context, h target.Host) (Resolution, error) {
	return c.resolve(ctx, h, c.bothUnchecked)
}

// bothUnchecked is bothFamilies without the resolver's validation.
func (c *Client) bothUnchecked(ctx context.Context, name string) (a, aaaa dnsclient.Answer) {
	return both(ctx, name, c.dns.QueryUnchecked)
}

// AskAuthority asks a name server of a zone itself. The visitor's input led to it, so that its address is judged and
// charged as any other; the error is that of Admit.
func (c *Client) AskAuthority(
	ctx context.Context, server netip.AddrPort, name string, qtype uint16,
) (dnsclient.Answer, error) {
	if err := c.Admit(ctx, server); err != nil {
		return dnsclient.Answer{}, err
	}
	return c.dns.AskAuthority(ctx, server, name, qtype), nil
}

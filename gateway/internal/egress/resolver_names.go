package egress

import (
	"net/netip"
	"sync"
)

// systemResolver is what is shown of a resolver whose address is nobody's business.
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
			return c.judgedName(resolver), nil
		})
		if c.resolvers.facts == nil {
			c.resolvers.facts = make(map[netip.AddrPort]*hostFact[string])
		}
		c.resolvers.facts[resolver] = fact
	}
	return fact
}

func (c *Client) judgedName(resolver netip.AddrPort) string {
	if c.Permit(resolver.Addr()) != nil {
		return systemResolver
	}
	return resolver.String()
}

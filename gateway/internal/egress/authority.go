package egress

import (
	"context"
	"net/netip"

	"diagnostics/gateway/internal/dnsclient"
	"diagnostics/gateway/internal/target"
	"diagnostics/shared/parallel"
)

// ResolveNameServer is Resolve for the name server of a zone, which has an address also where DNSSEC fails for its
// name: who asks it wants to see what is wrong with the zone.
func (c *Client) ResolveNameServer(ctx context.Context, h target.Host) (Resolution, error) {
	return c.resolve(ctx, h, c.bothUnchecked)
}

// bothUnchecked is bothFamilies without the resolver's validation.
func (c *Client) bothUnchecked(ctx context.Context, name string) (a, aaaa dnsclient.Answer) {
	var answers [len(bothTypes)]dnsclient.Answer
	var queries parallel.Group
	for i, qtype := range bothTypes {
		queries.Go(func() { answers[i] = c.dns.QueryUnchecked(ctx, name, qtype) })
	}
	queries.Wait()
	return answers[0], answers[1]
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

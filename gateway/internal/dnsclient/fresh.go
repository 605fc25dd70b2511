package dnsclient

import (
	"context"
	"net/netip"
	"time"
)

// QueryFresh is Query past the cache and past lookups under way, for callers that keep answers themselves. The name is
// the operator's own, so nothing is held back. Public addresses are kept for the others; whether a visitor may be told
// anything else would have to be asked first.
func (c *Client) QueryFresh(ctx context.Context, name string, qtype uint16) Answer {
	began := time.Now()
	key := cacheKey{name: name, qtype: qtype}
	answer := c.lookup(ctx, key)
	if c.settings.Public == nil || c.leadsOutside(answer) {
		c.answers.put(key, answer, c.now(time.Now()))
	}
	return own(ctx, answer, began)
}

// QueryServerFresh is QueryServer past the cache and past lookups under way, for a second look.
func (c *Client) QueryServerFresh(ctx context.Context, server netip.AddrPort, name string, qtype uint16) Answer {
	began := time.Now()
	key := cacheKey{server: server, name: name, qtype: qtype}
	answer := c.hide(ctx, key, c.lookup(ctx, key))
	c.answers.put(key, answer, c.now(time.Now()))
	return own(ctx, answer, began)
}

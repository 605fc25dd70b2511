package dnsclient

import (
	"context"
	"net/netip"
	"time"
)

// QueryFresh is Query past the cache and past lookups under way, for callers that keep answers themselves. What comes
// is kept for the others. The name is the operator's own, so nothing is held back.
func (c *Client) QueryFresh(ctx context.Context, name string, qtype uint16) Answer {
	return c.askFresh(ctx, cacheKey{name: name, qtype: qtype})
}

// QueryServerFresh is QueryServer past the cache and past lookups under way, for a second look.
func (c *Client) QueryServerFresh(ctx context.Context, server netip.AddrPort, name string, qtype uint16) Answer {
	key := cacheKey{server: server, name: name, qtype: qtype}
	return c.hide(ctx, key, c.askFresh(ctx, key))
}

func (c *Client) askFresh(ctx context.Context, key cacheKey) Answer {
	began := time.Now()
	answer := c.lookup(ctx, key)
	c.answers.put(key, answer, c.settings.Now())
	// The cache keeps the records, so the caller takes some of its own.
	answer = answer.aged(0)
	answer.Duration = time.Since(began)
	return answer
}
